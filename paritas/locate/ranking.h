// From figures to an order of suspicion.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "paritas/locate/sensitivity.h"
#include "paritas/locate/types.h"
#include "paritas/onnx/graph_index.h"

namespace paritas {

// An energy loss through underflow above this share counts as a range violation by itself.
inline constexpr double kLostEnergy = 1e-3;

// Fills NodeRow::range, range_factor and range_of_constant:
//   overflow:  the reference is finite and beyond the format; a constant that the node reads is; or the device's local
//              result alone is NaN or infinite (an inner value did not fit)
//   underflow: energy of the result lost to subnormals and zero is above kLostEnergy, or anything is lost there and
//              injecting just that moves the outputs materially; the same for a constant that the node reads
void classify_range(NodeRow& row, const Sensitivities::Effect* effect);

struct Ranking {
  std::vector<std::string> nodes;  // names, worst first, each once
  std::string first_divergence;    // node
  std::string first_divergence_tensor;
};

// Order: consequential range violations in graph order; then other consequential nodes in graph order; then the rest by
// local NMSE. Consequential means: injected alone it moves an output materially; where that was not measured, a path of
// deviating tensors leads from it to an output that deviates. When no output deviates nothing is consequential.
Ranking rank(std::vector<NodeRow>& rows, const onnx_model::GraphIndex& index,
             const std::unordered_set<std::string>& reaching, const Sensitivities& sensitivities, bool outputs_deviate);

}  // namespace paritas
