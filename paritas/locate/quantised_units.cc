#include "paritas/locate/quantised_units.h"

#include <algorithm>

namespace paritas {
namespace {

const onnx_model::GraphIndex::Node* producer(const onnx_model::GraphIndex& index, const std::string& tensor) {
  const int node = index.producer(tensor);
  return node < 0 ? nullptr : &index.nodes()[static_cast<size_t>(node)];
}

bool clips(const std::string& op) { return op == "Relu" || op == "Clip"; }

bool ends_quantised(const onnx_model::GraphIndex& index, const std::string& tensor) {
  if (index.is_output(tensor)) return false;
  const auto& consumers = index.consumers(tensor);
  return !consumers.empty() && std::all_of(consumers.begin(), consumers.end(), [&](int consumer) {
    const auto& node = index.nodes()[static_cast<size_t>(consumer)];
    if (node.op == "QuantizeLinear") return node.inputs.front() == tensor;
    return clips(node.op) && ends_quantised(index, node.outputs.front());
  });
}

bool begins_quantised(const onnx_model::GraphIndex& index, const onnx_model::GraphIndex::Node& node) {
  return std::any_of(node.inputs.begin(), node.inputs.end(), [&](const std::string& input) {
    const auto* before = producer(index, input);
    if (before == nullptr) return false;
    return before->op == "DequantizeLinear" || (clips(node.op) && begins_quantised(index, *before));
  });
}

}  // namespace

bool inside_quantised_unit(const onnx_model::GraphIndex& index, const std::string& tensor) {
  const auto* node = producer(index, tensor);
  if (node == nullptr || node->op == "DequantizeLinear" || node->op == "QuantizeLinear") return false;
  return ends_quantised(index, tensor) && begins_quantised(index, *node);
}

}  // namespace paritas
