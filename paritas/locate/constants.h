// Constants that the device's storage type cannot hold. They are charged to the nodes that read them.
#pragma once

#include <string>
#include <unordered_map>

#include "paritas/locate/prepare.h"
#include "paritas/metrics/pair_metrics.h"

namespace paritas {

// Float initialisers of the folded model with a loss of range (overflow, energy lost, or values flushed to zero), by
// name.
Result<std::unordered_map<std::string, StorageBaseline>> constants_out_of_range(const Prepared& prepared, DType storage,
                                                                                int threads);

}  // namespace paritas
