// Which nodes are worth an injection of their own. Everything else is tested in groups.
#pragma once

#include <string>
#include <vector>

#include "paritas/locate/types.h"
#include "paritas/onnx/graph_index.h"

namespace paritas {

// Something of the tensor does not fit the format: it overflows, the device alone makes NaN or infinities, energy is
// lost, or nonzero values become zero. A suspicion, not a finding.
bool range_suspect(const NodeRow& row);

// Operators that only move or retype data add no error.
bool moves_data(const std::string& op);

struct Candidates {
  std::vector<std::string> first;     // alone: range suspects, large local errors, jumps of the accumulated error, and
                                      // what stands up to two nodes before one of the latter two; graph order
  std::vector<std::string> all;       // every tensor with a local error, graph order
  std::vector<std::string> suspects;  // range suspects among them
  std::vector<std::string> overflowing;  // of those, results that are beyond the format themselves
};
// Tensors with the largest local errors (NMSE), largest first, at most `count`.
std::vector<std::string> largest_local_errors(const std::vector<NodeRow>& rows, size_t count);

Candidates choose_candidates(const std::vector<NodeRow>& rows, const onnx_model::GraphIndex& index);

}  // namespace paritas
