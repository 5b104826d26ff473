#include "paritas/onnx/edit_common.h"

#include <unordered_set>

#include <fmt/format.h>

#include "paritas/onnx/walk.h"

namespace paritas::onnx_model {
namespace {

// Names of all tensors that the outputs of `graph` need, found backwards.
std::unordered_set<std::string> needed_tensors(const ::onnx::GraphProto& graph) {
  std::unordered_map<std::string_view, const ::onnx::NodeProto*> producers;
  for (const auto& node : graph.node())
    for (const auto& output : node.output()) producers.emplace(output, &node);
  std::unordered_set<std::string> needed;
  std::unordered_set<const ::onnx::NodeProto*> visited;
  std::vector<std::string> open;
  const auto need = [&](const std::string& name) {
    if (!name.empty() && needed.insert(name).second) open.push_back(name);
  };
  for (const auto& output : graph.output()) need(output.name());
  while (!open.empty()) {
    const auto it = producers.find(open.back());
    open.pop_back();
    if (it == producers.end() || !visited.insert(it->second).second) continue;
    for (const auto& input : it->second->input()) need(input);
    for (const auto& capture : captures_of(*it->second)) need(capture);
  }
  return needed;
}

}  // namespace

DeclaredTypes::DeclaredTypes(const ::onnx::GraphProto& graph) {
  const auto declare = [&](const ::onnx::ValueInfoProto& info) {
    if (info.has_type()) declared_.emplace(info.name(), &info.type());
  };
  for (const auto& info : graph.input()) declare(info);
  for (const auto& info : graph.value_info()) declare(info);
  for (const auto& info : graph.output()) declare(info);
  for (const auto& tensor : graph.initializer()) {
    auto* type = constants_[tensor.name()].mutable_tensor_type();
    type->set_elem_type(tensor.data_type());
    auto* shape = type->mutable_shape();
    for (const int64_t dim : tensor.dims()) shape->add_dim()->set_dim_value(dim);
  }
}

const ::onnx::TypeProto* DeclaredTypes::find(const std::string& tensor) const {
  if (const auto it = constants_.find(tensor); it != constants_.end()) return &it->second;
  const auto it = declared_.find(tensor);
  return it == declared_.end() ? nullptr : it->second;
}

::onnx::TypeProto to_proto(const TensorType& type) {
  ::onnx::TypeProto proto;
  proto.mutable_tensor_type()->set_elem_type(onnx_code(type.dtype));
  auto* shape = proto.mutable_tensor_type()->mutable_shape();
  for (const int64_t dim : type.shape) shape->add_dim()->set_dim_value(dim);
  return proto;
}

bool is_known(const GraphIndex& index, const std::string& tensor) {
  return index.producer(tensor) >= 0 || index.is_input(tensor) || index.is_initializer(tensor);
}

Unexpected unknown_tensor(const Model& model, const std::string& tensor) {
  return usage_error(model.subject(), fmt::format("has no tensor \"{}\"", tensor), "paritas inspect lists the names");
}

void need_free_initializers(::onnx::ModelProto& proto) {
  if (proto.ir_version() < 4) proto.set_ir_version(4);
}

void prepend_nodes(::onnx::GraphProto& graph, std::vector<::onnx::NodeProto> nodes) {
  if (nodes.empty()) return;
  ::google::protobuf::RepeatedPtrField<::onnx::NodeProto> old;
  old.Swap(graph.mutable_node());
  graph.mutable_node()->Reserve(old.size() + static_cast<int>(nodes.size()));
  for (auto& node : nodes) graph.add_node()->Swap(&node);
  for (auto& node : old) graph.add_node()->Swap(&node);
}

void remove_constant(::onnx::GraphProto& graph, const std::string& tensor) {
  erase_if(*graph.mutable_initializer(), [&](const auto& constant) { return constant.name() == tensor; });
  erase_if(*graph.mutable_sparse_initializer(), [&](const auto& sparse) { return sparse.values().name() == tensor; });
  erase_if(*graph.mutable_input(), [&](const auto& input) { return input.name() == tensor; });
}

Transplant::Transplant(Model& result, const GraphIndex& index, const std::map<std::string, TensorType>& types)
    : subject_(result.subject()), index_(index), types_(types), graph_(result.graph()) {
  need_free_initializers(result.proto());
  old_.Swap(&graph_);
  graph_.set_name(old_.name());
  graph_.set_doc_string(old_.doc_string());
  *graph_.mutable_metadata_props() = old_.metadata_props();
  declared_.emplace(old_);
}

std::optional<::onnx::TypeProto> Transplant::type_of(const std::string& tensor) const {
  if (const auto it = types_.find(tensor); it != types_.end()) return to_proto(it->second);
  if (const auto* type = declared_->find(tensor)) return *type;
  return std::nullopt;
}

Status Transplant::add_input(const std::string& name, const std::string& tensor) {
  auto type = type_of(tensor);
  if (!type)
    return usage_error(subject_, fmt::format("the type of tensor \"{}\" is not declared", tensor),
                       "record it in a reference run first");
  auto* input = graph_.add_input();
  input->set_name(name);
  input->mutable_type()->Swap(&*type);
  return {};
}

void Transplant::add_output(const std::string& name, const std::string& tensor) {
  auto* output = graph_.add_output();
  output->set_name(name);
  if (auto type = type_of(tensor)) output->mutable_type()->Swap(&*type);
}

::onnx::NodeProto& Transplant::move_node(int node) {
  auto* moved = graph_.add_node();
  moved->Swap(old_.mutable_node(index_.nodes()[static_cast<size_t>(node)].proto_index));
  return *moved;
}

void Transplant::move_constants(const NamePredicate& wanted) {
  for (auto& tensor : *old_.mutable_initializer())
    if (wanted(tensor.name())) graph_.add_initializer()->Swap(&tensor);
  for (auto& sparse : *old_.mutable_sparse_initializer())
    if (wanted(sparse.values().name())) graph_.add_sparse_initializer()->Swap(&sparse);
}

void Transplant::move_declarations() {
  std::unordered_set<std::string> inner;
  std::unordered_set<std::string> present = defined_names(graph_);
  for (const auto& node : graph_.node()) inner.insert(node.output().begin(), node.output().end());
  for (const auto& input : graph_.input()) inner.erase(input.name());
  for (const auto& output : graph_.output()) inner.erase(output.name());
  for (auto& info : *old_.mutable_value_info())
    if (inner.count(info.name()) != 0) graph_.add_value_info()->Swap(&info);
  for (auto& annotation : *old_.mutable_quantization_annotation())
    if (present.count(annotation.tensor_name()) != 0) graph_.add_quantization_annotation()->Swap(&annotation);
}

void prune(::onnx::GraphProto& graph) {
  const std::unordered_set<std::string> needed = needed_tensors(graph);
  const auto unneeded = [&](const std::string& name) { return needed.count(name) == 0; };
  erase_if(*graph.mutable_node(), [&](const ::onnx::NodeProto& node) {
    for (const auto& output : node.output())
      if (!output.empty() && !unneeded(output)) return false;
    return true;
  });
  std::unordered_set<std::string> dropped;
  const auto drop = [&](const std::string& name) { return unneeded(name) && (dropped.insert(name), true); };
  erase_if(*graph.mutable_initializer(), [&](const auto& tensor) { return drop(tensor.name()); });
  erase_if(*graph.mutable_sparse_initializer(), [&](const auto& sparse) { return drop(sparse.values().name()); });
  erase_if(*graph.mutable_input(), [&](const auto& input) { return dropped.count(input.name()) != 0; });
  std::unordered_set<std::string> present = defined_names(graph);
  erase_if(*graph.mutable_value_info(), [&](const auto& info) { return present.count(info.name()) == 0; });
  erase_if(*graph.mutable_quantization_annotation(),
           [&](const auto& annotation) { return present.count(annotation.tensor_name()) == 0; });
}

}  // namespace paritas::onnx_model
