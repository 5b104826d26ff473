#include "paritas/onnx/walk.h"

#include <fmt/format.h>

namespace paritas::onnx_model {
namespace {

using TensorVisitor = std::function<Status(::onnx::TensorProto&)>;
using NameVisitor = std::function<void(const std::string&)>;

Status visit_graph(::onnx::GraphProto& graph, const TensorVisitor& visit);

Status visit_sparse(::onnx::SparseTensorProto& sparse, const TensorVisitor& visit) {
  if (sparse.has_values()) PARITAS_TRY(visit(*sparse.mutable_values()));
  if (sparse.has_indices()) PARITAS_TRY(visit(*sparse.mutable_indices()));
  return {};
}

Status visit_attribute(::onnx::AttributeProto& attribute, const TensorVisitor& visit) {
  if (attribute.has_t()) PARITAS_TRY(visit(*attribute.mutable_t()));
  for (auto& tensor : *attribute.mutable_tensors()) PARITAS_TRY(visit(tensor));
  if (attribute.has_sparse_tensor()) PARITAS_TRY(visit_sparse(*attribute.mutable_sparse_tensor(), visit));
  for (auto& sparse : *attribute.mutable_sparse_tensors()) PARITAS_TRY(visit_sparse(sparse, visit));
  if (attribute.has_g()) PARITAS_TRY(visit_graph(*attribute.mutable_g(), visit));
  for (auto& body : *attribute.mutable_graphs()) PARITAS_TRY(visit_graph(body, visit));
  return {};
}

Status visit_node(::onnx::NodeProto& node, const TensorVisitor& visit) {
  for (auto& attribute : *node.mutable_attribute()) PARITAS_TRY(visit_attribute(attribute, visit));
  return {};
}

Status visit_graph(::onnx::GraphProto& graph, const TensorVisitor& visit) {
  for (auto& tensor : *graph.mutable_initializer()) PARITAS_TRY(visit(tensor));
  for (auto& sparse : *graph.mutable_sparse_initializer()) PARITAS_TRY(visit_sparse(sparse, visit));
  for (auto& node : *graph.mutable_node()) PARITAS_TRY(visit_node(node, visit));
  return {};
}

// Calls `visit` with every name that `graph` reads from outside (repeats included).
void visit_free_names(const ::onnx::GraphProto& graph, const NameVisitor& visit) {
  const std::unordered_set<std::string> own = defined_names(graph);
  const NameVisitor outer_only = [&](const std::string& name) {
    if (!name.empty() && own.count(name) == 0) visit(name);
  };
  for (const auto& node : graph.node()) {
    for (const auto& name : node.input()) outer_only(name);
    for (const auto* body : bodies_of(node)) visit_free_names(*body, outer_only);
  }
  for (const auto& output : graph.output()) outer_only(output.name());
}

// Renames the outer names that a body reads. An outer name that is the body's output itself cannot be renamed there
// (callers know outputs by position, so the name is free): it is.
void rename_free_names(::onnx::GraphProto& graph, const Renames& renames) {
  const std::unordered_set<std::string> own = defined_names(graph);
  Renames visible;
  for (const auto& [from, to] : renames)
    if (own.count(from) == 0) visible.emplace(from, to);
  if (visible.empty()) return;
  for (auto& node : *graph.mutable_node()) rename_reads(node, visible);
  for (auto& output : *graph.mutable_output())
    if (const auto it = visible.find(output.name()); it != visible.end()) output.set_name(it->second);
}

}  // namespace

Status for_each_tensor(::onnx::ModelProto& model, const TensorVisitor& visit) {
  if (model.has_graph()) PARITAS_TRY(visit_graph(*model.mutable_graph(), visit));
  for (auto& function : *model.mutable_functions()) {
    for (auto& node : *function.mutable_node()) PARITAS_TRY(visit_node(node, visit));
    for (auto& attribute : *function.mutable_attribute_proto()) PARITAS_TRY(visit_attribute(attribute, visit));
  }
  for (auto& training : *model.mutable_training_info()) {
    if (training.has_initialization()) PARITAS_TRY(visit_graph(*training.mutable_initialization(), visit));
    if (training.has_algorithm()) PARITAS_TRY(visit_graph(*training.mutable_algorithm(), visit));
  }
  return {};
}

std::vector<const ::onnx::GraphProto*> bodies_of(const ::onnx::NodeProto& node) {
  std::vector<const ::onnx::GraphProto*> bodies;
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_g()) bodies.push_back(&attribute.g());
    for (const auto& body : attribute.graphs()) bodies.push_back(&body);
  }
  return bodies;
}

std::vector<::onnx::GraphProto*> mutable_bodies_of(::onnx::NodeProto& node) {
  std::vector<::onnx::GraphProto*> bodies;
  for (auto& attribute : *node.mutable_attribute()) {
    if (attribute.has_g()) bodies.push_back(attribute.mutable_g());
    for (auto& body : *attribute.mutable_graphs()) bodies.push_back(&body);
  }
  return bodies;
}

std::vector<std::string> captures_of(const ::onnx::NodeProto& node) {
  std::vector<std::string> captures;
  std::unordered_set<std::string> seen;
  for (const auto* body : bodies_of(node))
    visit_free_names(*body, [&](const std::string& name) {
      if (seen.insert(name).second) captures.push_back(name);
    });
  return captures;
}

std::unordered_set<std::string> defined_names(const ::onnx::GraphProto& graph) {
  std::unordered_set<std::string> names;
  for (const auto& input : graph.input()) names.insert(input.name());
  for (const auto& tensor : graph.initializer()) names.insert(tensor.name());
  for (const auto& sparse : graph.sparse_initializer()) names.insert(sparse.values().name());
  for (const auto& node : graph.node())
    for (const auto& output : node.output()) names.insert(output);
  return names;
}

void rename_reads(::onnx::NodeProto& node, const Renames& renames) {
  for (auto& input : *node.mutable_input())
    if (const auto it = renames.find(input); it != renames.end() && !input.empty()) input = it->second;
  for (auto* body : mutable_bodies_of(node)) rename_free_names(*body, renames);
}

UniqueNames::UniqueNames(const ::onnx::GraphProto& graph) { add(graph); }

void UniqueNames::add(const ::onnx::GraphProto& graph) {
  taken_.merge(defined_names(graph));
  for (const auto& output : graph.output()) taken_.insert(output.name());
  for (const auto& info : graph.value_info()) taken_.insert(info.name());
  for (const auto& node : graph.node()) {
    taken_.insert(node.name());
    for (const auto& input : node.input()) taken_.insert(input);
    for (const auto* body : bodies_of(node)) add(*body);
  }
}

std::string UniqueNames::make(const std::string& wanted) {
  std::string name = wanted;
  for (int number = 2; !taken_.insert(name).second; ++number) name = fmt::format("{}_{}", wanted, number);
  return name;
}

}  // namespace paritas::onnx_model
