#include "paritas/placement/context_model.h"

#include <algorithm>
#include <set>

namespace paritas {
namespace {

constexpr const char* kContextOp = "com.microsoft::EPContext";

const ::onnx::AttributeProto* find_attribute(const ::onnx::NodeProto& node, const char* name) {
  for (const auto& attribute : node.attribute())
    if (attribute.name() == name) return &attribute;
  return nullptr;
}

std::string text_of(const ::onnx::NodeProto& node, const char* name) {
  const auto* attribute = find_attribute(node, name);
  return attribute == nullptr ? std::string() : attribute->s();
}

// "Transpose_token_417_out0", an output of a node that the runtime made -> "Transpose_token_417"
std::string without_number(const std::string& tensor) {
  const auto at = tensor.rfind("_out");
  const bool number = at != std::string::npos && at + 4 < tensor.size() &&
                      tensor.find_first_not_of("0123456789", at + 4) == std::string::npos;
  return number ? tensor.substr(0, at) : tensor;
}

// The tensor of the source model: by its own name, or as the output of the node that it is named after.
std::vector<std::string> source_tensors(const std::string& tensor, const onnx_model::GraphIndex& source,
                                        const NameMap& names) {
  if (source.producer(tensor) >= 0 || source.is_input(tensor) || source.is_initializer(tensor)) return {tensor};
  std::vector<std::string> found;
  for (int node : names.find(tensor)) {
    const auto& outputs = source.nodes()[static_cast<size_t>(node)].outputs;
    found.insert(found.end(), outputs.begin(), outputs.end());
  }
  return found;
}

}  // namespace

ContextModel context_model(const onnx_model::Model& model, const onnx_model::GraphIndex& index) {
  ContextModel found;
  found.subject = model.subject();
  for (const auto& node : index.nodes()) {
    if (node.op != kContextOp) {
      found.ordinary.push_back(node.name);
      continue;
    }
    const auto& proto = model.graph().node(node.proto_index);
    const auto* embed = find_attribute(proto, "embed_mode");
    ContextNode context;
    context.name = node.name;
    context.provider = text_of(proto, "source");
    context.embedded = embed == nullptr || embed->i() == 1;  // 1 where it is left out
    context.sdk_version = text_of(proto, "ep_sdk_version");
    context.inputs = node.inputs;
    context.outputs = node.outputs;
    found.contexts.push_back(std::move(context));
  }
  return found;
}

Result<ContextModel> read_context_model(const Path& path) {
  PARITAS_ASSIGN(const auto model, onnx_model::Model::load(path));
  PARITAS_ASSIGN(const auto index, onnx_model::GraphIndex::build(model));
  ContextModel found = context_model(model, index);
  if (found.contexts.empty())
    return input_error(path.string(), "holds no EPContext node", "give the model that ep.context_enable wrote");
  return found;
}

std::vector<int> nodes_inside(const ContextNode& context, const onnx_model::GraphIndex& source,
                              const onnx_model::ValueDependence& dependence, const NameMap& names,
                              const std::set<int>& taken, std::vector<std::string>* unknown) {
  auto resolve = [&](const std::vector<std::string>& tensors) {
    std::vector<std::string> all;
    for (const std::string& tensor : tensors) {
      const auto found = source_tensors(tensor, source, names);
      if (found.empty() && unknown != nullptr && !is_made_up(without_number(tensor))) unknown->push_back(tensor);
      all.insert(all.end(), found.begin(), found.end());
    }
    return all;
  };
  const auto inputs = resolve(context.inputs);
  const std::set<std::string> edge(inputs.begin(), inputs.end());
  std::vector<std::string> open = resolve(context.outputs);
  std::set<int> inside;
  while (!open.empty()) {
    const std::string tensor = std::move(open.back());
    open.pop_back();
    if (edge.count(tensor) != 0 || !dependence.depends(tensor)) continue;
    const int node = source.producer(tensor);
    if (node < 0 || taken.count(node) != 0 || !inside.insert(node).second) continue;
    const auto& found = source.nodes()[static_cast<size_t>(node)];
    open.insert(open.end(), found.inputs.begin(), found.inputs.end());
    open.insert(open.end(), found.captures.begin(), found.captures.end());
  }
  return {inside.begin(), inside.end()};
}

}  // namespace paritas
