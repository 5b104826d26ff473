#include "paritas/project/model_facts.h"

#include "paritas/onnx/edit.h"
#include "paritas/onnx/graph_index.h"
#include "paritas/runtime/inputs.h"
#include "paritas/runtime/record_tflite.h"

namespace paritas {
namespace {

Result<ModelNames> names_of_tflite(const Path& path) {
  PARITAS_ASSIGN(const tflite::Model model, tflite::Model::load(path));
  const tflite::Graph& graph = model.main();
  ModelNames names;
  names.tflite = true;
  const auto port = [&](int tensor) {
    const auto& t = graph.tensors[static_cast<size_t>(tensor)];
    return NamedPort{t.id, t.dtype};
  };
  for (const int input : graph.inputs) names.inputs.push_back(port(input));
  for (const int output : graph.outputs) names.outputs.push_back(port(output));
  for (const tflite::Op& op : graph.ops) {
    names.nodes.push_back(op.label());
    for (const int output : op.outputs) names.tensors.push_back(graph.tensors[static_cast<size_t>(output)].id);
  }
  return names;
}

}  // namespace

Result<ModelNames> names_of_model(const Path& path) {
  if (tflite::is_tflite(path)) return names_of_tflite(path);
  PARITAS_ASSIGN(const auto model, onnx_model::Model::load(path));
  PARITAS_ASSIGN(const auto index, onnx_model::GraphIndex::build(model));
  ModelNames names;
  for (const auto& input : onnx_model::describe_inputs(model)) names.inputs.push_back({input.name, input.dtype});
  for (const auto& output : onnx_model::describe_outputs(model)) names.outputs.push_back({output.name, output.dtype});
  for (const auto& node : index.nodes()) {
    if (!node.name.empty()) names.nodes.push_back(node.name);
    names.tensors.insert(names.tensors.end(), node.outputs.begin(), node.outputs.end());
  }
  return names;
}

Status check_fed_inputs(const Path& path, const NamedTensors& inputs) {
  if (tflite::is_tflite(path)) {
    PARITAS_ASSIGN(const tflite::Model model, tflite::Model::load(path));
    return check_inputs(model, inputs);
  }
  PARITAS_ASSIGN(const auto model, onnx_model::Model::load(path));
  return check_inputs(model, inputs);
}

}  // namespace paritas
