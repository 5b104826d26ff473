// Which unpaired tensors may belong together, judged by their content. Proposals for a person; nothing is decided by
// them.
#pragma once

#include <string>
#include <vector>

#include "paritas/compare/types.h"
#include "paritas/recording/sample_stream.h"

namespace paritas {

// For each named reference tensor the device tensor of the same shape with the smallest NMSE, beside that of the
// runner-up. Only tensors of at least 8 elements whose NMSE is below 0.1; at most `limit` comparisons.
Result<std::vector<PairProposal>> propose_pairs(const Sample& reference,
                                                const std::vector<std::string>& unmatched_reference,
                                                const Sample& device, const std::vector<std::string>& unmatched_device,
                                                int threads, size_t limit = 2000);

}  // namespace paritas
