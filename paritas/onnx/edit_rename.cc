// rename_tensors: other names for tensors between nodes.
#include <unordered_set>

#include <fmt/format.h>

#include "paritas/onnx/edit_common.h"
#include "paritas/onnx/walk.h"

namespace paritas::onnx_model {
namespace {

// Names of the graph and of every body in it: a new name must hide none of them, and none may hide it.
void collect_names(const ::onnx::GraphProto& graph, std::unordered_set<std::string>& names) {
  const auto own = defined_names(graph);
  names.insert(own.begin(), own.end());
  for (const auto& node : graph.node())
    for (const ::onnx::GraphProto* body : bodies_of(node)) collect_names(*body, names);
}

Status check_renames(const Model& model, const GraphIndex& index, const std::map<std::string, std::string>& renames) {
  std::unordered_set<std::string> taken;
  collect_names(model.graph(), taken);
  for (const auto& [from, to] : renames) {
    if (!is_known(index, from)) return unknown_tensor(model, from);
    if (index.is_input(from) || index.is_output(from))
      return usage_error(model.subject(),
                         fmt::format("\"{}\" is a graph {}: its name is part of what the model promises", from,
                                     index.is_input(from) ? "input" : "output"),
                         "leave its name as it is");
    if (to.empty() || !taken.insert(to).second)
      return usage_error(model.subject(), fmt::format("the name \"{}\" for \"{}\" is taken", to, from),
                         "choose another");
  }
  return {};
}

}  // namespace

Result<Model> rename_tensors(const Model& model, const std::map<std::string, std::string>& renames) {
  PARITAS_ASSIGN(const GraphIndex index, GraphIndex::build(model));
  PARITAS_TRY(check_renames(model, index, renames));
  const Renames table(renames.begin(), renames.end());
  auto rename = [&](std::string* name) {
    if (const auto it = table.find(*name); it != table.end()) *name = it->second;
  };
  Model result = model.clone();
  ::onnx::GraphProto& graph = result.graph();
  for (auto& node : *graph.mutable_node()) {
    rename_reads(node, table);
    for (auto& output : *node.mutable_output()) rename(&output);
  }
  for (auto& initializer : *graph.mutable_initializer()) rename(initializer.mutable_name());
  for (auto& sparse : *graph.mutable_sparse_initializer()) rename(sparse.mutable_values()->mutable_name());
  for (auto& declared : *graph.mutable_value_info()) rename(declared.mutable_name());
  for (auto& quantised : *graph.mutable_quantization_annotation()) rename(quantised.mutable_tensor_name());
  return result;
}

}  // namespace paritas::onnx_model
