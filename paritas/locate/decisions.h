// Decisions: integers and booleans made from floats (TopK's indices, ArgMax, NonZero, comparisons). They jump, so
// they are compared by equality, and what is measured behind them is taken with the reference's decisions fed in.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "paritas/locate/prepare.h"
#include "paritas/locate/types.h"

namespace paritas {

struct DecisionPoint {
  int node = 0;  // index into GraphIndex::nodes()
  std::string tensor;
};

// In graph order. Casts and quantising operators are not decisions: their integers are numbers.
std::vector<DecisionPoint> find_decisions(const Prepared& prepared,
                                          const std::unordered_map<std::string, Tensor>& reference);

// How two decision tensors of equal shape differ. `picks` counts per row of the last axis the reference's values that
// the device did not choose at all; for booleans it equals `moved`.
Result<DecisionReport> compare_decision(const onnx_model::GraphIndex::Node& node, const std::string& tensor,
                                        const Tensor& reference, const Tensor& device);

// `model` with these tensors as graph inputs (unchanged without any); their reference values are added to `inputs`.
Result<onnx_model::Model> feed_from_reference(const onnx_model::Model& model, const std::vector<std::string>& tensors,
                                              const std::unordered_map<std::string, Tensor>& reference,
                                              NamedTensors& inputs);

// Nodes that can be reached from any of the given tensors.
std::vector<bool> nodes_behind(const onnx_model::GraphIndex& index, const std::vector<std::string>& tensors);

}  // namespace paritas
