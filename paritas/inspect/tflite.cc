#include "paritas/inspect/tflite.h"

#include <algorithm>

#include "paritas/tflite/model.h"

namespace paritas {
namespace {

using tflite::Graph;
using tflite::GraphTensor;

bool holds(const std::vector<int>& list, int value) { return std::find(list.begin(), list.end(), value) != list.end(); }

std::string kind_of(const Graph& graph, const GraphTensor& tensor) {
  if (holds(graph.inputs, tensor.index)) return "input";
  if (holds(graph.outputs, tensor.index)) return "output";
  if (tensor.constant || tensor.elsewhere) return "constant";
  return tensor.variable ? "variable" : "intermediate";
}

TfliteTensor describe(const Graph& graph, const GraphTensor& from, const std::vector<int>& producers) {
  TfliteTensor tensor;
  tensor.id = from.id;
  if (from.name != from.id) tensor.name = from.name;
  tensor.type = from.type_name;
  tensor.shape = to_string(from.shape_signature.empty() ? from.shape : Shape(from.shape_signature));
  tensor.kind = kind_of(graph, from);
  if (const int producer = producers[static_cast<size_t>(from.index)]; producer >= 0)
    tensor.op = graph.ops[static_cast<size_t>(producer)].label();
  if (from.quantisation)
    tensor.quantisation = Quantisation{{from.quantisation->scale.begin(), from.quantisation->scale.end()},
                                       from.quantisation->zero_point,
                                       from.quantisation->axis};
  return tensor;
}

TfliteSignature describe(const tflite::Model& model, const tflite::Signature& from) {
  const auto& tensors = model.graphs()[static_cast<size_t>(from.graph)].tensors;
  TfliteSignature signature{from.key, from.graph, {}, {}};
  for (const auto& [name, tensor] : from.inputs)
    signature.inputs.emplace_back(name, tensors[static_cast<size_t>(tensor)].id);
  for (const auto& [name, tensor] : from.outputs)
    signature.outputs.emplace_back(name, tensors[static_cast<size_t>(tensor)].id);
  return signature;
}

}  // namespace

Result<TfliteInspection> inspect_tflite(const Path& path) {
  PARITAS_ASSIGN(const tflite::Model model, tflite::Model::load(path));
  TfliteInspection result;
  result.path = path.string();
  result.version = model.version();
  result.description = model.description();
  result.file_bytes = model.file_bytes();
  result.constant_bytes = model.constant_bytes();
  result.outside_buffers = model.outside_buffers();
  result.stateful = model.stateful();
  result.random = model.random();
  result.metadata = model.metadata();
  for (const Graph& graph : model.graphs())
    result.graphs.push_back({graph.name, graph.ops.size(), graph.tensors.size()});
  for (const tflite::Signature& signature : model.signatures()) result.signatures.push_back(describe(model, signature));
  const Graph& main = model.main();
  std::vector<int> producers(main.tensors.size(), -1);
  for (const tflite::Op& op : main.ops) {
    ++result.ops[op.name];
    result.plan.push_back(op.label());
    for (const int output : op.outputs) producers[static_cast<size_t>(output)] = op.index;
  }
  for (const GraphTensor& tensor : main.tensors) result.tensors.push_back(describe(main, tensor, producers));
  return result;
}

}  // namespace paritas
