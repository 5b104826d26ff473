#include "paritas/explain/network.h"

#include <unordered_map>

#include <fmt/format.h>

#include "paritas/explain/network_onnx.h"
#include "paritas/tflite/model.h"

namespace paritas {
namespace {

std::optional<Bounds> bounds_of(const std::string& activation) {
  const std::string text = activation + " of the operator";
  if (activation == "RELU") return Bounds{0, std::nullopt, text};
  if (activation == "RELU6") return Bounds{0, 6, text};
  if (activation == "RELU_N1_TO_1") return Bounds{-1, 1, text};
  return std::nullopt;
}

// Where the channels of the output lie in the weights, by the operators' definitions.
std::optional<int> weight_axis(const std::string& op) {
  if (op == "CONV_2D" || op == "FULLY_CONNECTED" || op == "TRANSPOSE_CONV") return 0;
  if (op == "DEPTHWISE_CONV_2D") return 3;
  return std::nullopt;
}

Result<Network> network_of_tflite(const Path& path) {
  PARITAS_ASSIGN(const tflite::Model model, tflite::Model::load(path));
  Network network;
  network.subject = model.subject();
  std::unordered_map<int, size_t> values;
  const auto value_of = [&](int tensor) {
    const auto [found, added] = values.emplace(tensor, network.values.size());
    if (!added) return found->second;
    const tflite::GraphTensor& t = model.main().tensors[static_cast<size_t>(tensor)];
    NetworkValue value;
    value.name = t.id;
    if (t.quantisation && t.dtype && is_integer(*t.dtype)) {
      value.codes = t.id;
      value.code_type = t.dtype;
      const auto& q = *t.quantisation;
      value.quantisation = Quantisation{{q.scale.begin(), q.scale.end()}, q.zero_point, q.axis};
    }
    network.values.push_back(std::move(value));
    return network.values.size() - 1;
  };
  for (const int input : model.main().inputs)
    network.layers.push_back(
        {model.main().tensors[static_cast<size_t>(input)].id, "input", {}, value_of(input), 1, {}, {}});
  for (const tflite::Op& op : model.main().ops) {
    if (op.outputs.empty() || op.outputs[0] < 0) continue;
    NetworkLayer layer;
    layer.name = op.label();
    layer.op = op.name;
    for (const int input : op.inputs) {
      if (input < 0) continue;
      const tflite::GraphTensor& t = model.main().tensors[static_cast<size_t>(input)];
      if (!t.constant && !t.elsewhere) layer.inputs.push_back(value_of(input));
    }
    layer.output = value_of(op.outputs[0]);
    layer.outputs = op.outputs.size();
    layer.weight_axis = weight_axis(op.name);
    layer.bounds =
        bounds_of(op.name == "RELU" || op.name == "RELU6" || op.name == "RELU_N1_TO_1" ? op.name : op.activation);
    layer.concat = op.name == "CONCATENATION";
    layer.add = op.name == "ADD" && layer.inputs.size() == 2;
    network.layers.push_back(std::move(layer));
  }
  return network;
}

}  // namespace

Result<Network> read_network(const Path& model) {
  return tflite::is_tflite(model) ? network_of_tflite(model) : network_of_onnx(model);
}

}  // namespace paritas
