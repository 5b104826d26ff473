// replace_by_constants, constant_frontier, feed_tensors: edits that cut a tensor off from what computes it.
#include <unordered_set>

#include <fmt/format.h>

#include "paritas/onnx/edit_common.h"
#include "paritas/onnx/element_types.h"
#include "paritas/onnx/walk.h"

namespace paritas::onnx_model {
namespace {

// Renames tensors where nodes make them, so that their old names are free for something else.
void rename_computed(::onnx::GraphProto& graph, const std::unordered_set<std::string>& tensors, UniqueNames& names) {
  for (auto& node : *graph.mutable_node())
    for (auto& output : *node.mutable_output())
      if (tensors.count(output) != 0) output = names.make(output + "__paritas_computed");
}

void rename_all_reads(::onnx::GraphProto& graph, const Renames& renames) {
  if (renames.empty()) return;
  for (auto& node : *graph.mutable_node()) rename_reads(node, renames);
}

void forget_declarations(::onnx::GraphProto& graph, const std::unordered_set<std::string>& tensors) {
  erase_if(*graph.mutable_value_info(), [&](const auto& info) { return tensors.count(info.name()) != 0; });
}

::onnx::NodeProto identity(const std::string& from, const std::string& to, UniqueNames& names) {
  ::onnx::NodeProto node;
  node.set_op_type("Identity");
  node.set_name(names.make(to + "__paritas_identity"));
  node.add_input(from);
  node.add_output(to);
  return node;
}

}  // namespace

Result<Model> replace_by_constants(const Model& model, const std::map<std::string, Tensor>& constants) {
  PARITAS_ASSIGN(const GraphIndex index, GraphIndex::build(model));
  Model result = model.clone();
  auto& graph = result.graph();
  UniqueNames names(graph);
  std::unordered_set<std::string> replaced;
  Renames renames;  // graph outputs: consumers read the constant, not the Identity that writes the output's name
  std::vector<::onnx::NodeProto> identities;
  for (const auto& [tensor, value] : constants) {
    if (!is_known(index, tensor)) return unknown_tensor(model, tensor);
    replaced.insert(tensor);
    remove_constant(graph, tensor);
    if (!index.is_output(tensor)) {
      result.add_initializer(tensor, value);
      continue;
    }
    const std::string constant = names.make(tensor + "__paritas_constant");
    result.add_initializer(constant, value);
    identities.push_back(identity(constant, tensor, names));
    renames.emplace(tensor, constant);
  }
  rename_computed(graph, replaced, names);
  rename_all_reads(graph, renames);
  prepend_nodes(graph, std::move(identities));
  forget_declarations(graph, replaced);
  prune(graph);
  return result;
}

std::vector<std::string> constant_frontier(const Model& model, const GraphIndex& index,
                                           const ValueDependence& dependence) {
  const ElementTypes types(model.graph());
  const auto depends = [&](const GraphIndex::Node& node) {
    for (const auto& output : node.outputs)
      if (dependence.depends(output)) return true;
    return false;
  };
  const auto is_frontier = [&](const std::string& tensor) {
    if (index.is_output(tensor)) return true;
    for (const int consumer : index.consumers(tensor))
      if (depends(index.nodes()[static_cast<size_t>(consumer)])) return true;
    return false;
  };
  std::vector<std::string> frontier;
  for (const auto& node : index.nodes()) {
    if (node.op == "Constant" || depends(node)) continue;
    for (const auto& output : node.outputs)
      if (is_frontier(output) && types.of(output) != ElementTypes::kNotTensor) frontier.push_back(output);
  }
  return frontier;
}

Result<Fed> feed_tensors(const Model& model, const std::map<std::string, TensorType>& tensors) {
  PARITAS_ASSIGN(const GraphIndex index, GraphIndex::build(model));
  Fed fed{model.clone(), {}};
  auto& graph = fed.model.graph();
  need_free_initializers(fed.model.proto());
  UniqueNames names(graph);
  std::unordered_set<std::string> cut_off;
  Renames renames;
  for (const auto& [tensor, type] : tensors) {
    if (!is_known(index, tensor)) return unknown_tensor(model, tensor);
    std::string& feed = fed.feed_names[tensor];
    feed = tensor;
    if (index.is_input(tensor)) continue;
    if (index.is_output(tensor)) {
      feed = names.make(tensor + "__fed");
      renames.emplace(tensor, feed);
    } else {
      remove_constant(graph, tensor);
      cut_off.insert(tensor);
    }
    auto* input = graph.add_input();
    input->set_name(feed);
    *input->mutable_type() = to_proto(type);
  }
  rename_computed(graph, cut_off, names);
  rename_all_reads(graph, renames);
  forget_declarations(graph, cut_off);
  prune(graph);
  return fed;
}

}  // namespace paritas::onnx_model
