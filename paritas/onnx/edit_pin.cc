// describe_inputs, describe_outputs, pin_shapes, mark_outputs: edits of what the graph declares.
#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "paritas/onnx/edit_common.h"

namespace paritas::onnx_model {
namespace {

using Dimension = ::onnx::TensorShapeProto::Dimension;

bool is_fixed(const Dimension& dim) { return dim.has_dim_value() && dim.dim_value() >= 0; }

bool has_free_dimension(const ::onnx::ValueInfoProto& info) {
  const auto& dims = info.type().tensor_type().shape().dim();
  return std::any_of(dims.begin(), dims.end(), [](const Dimension& dim) { return !is_fixed(dim); });
}

std::string dimension_text(const Dimension& dim) {
  if (is_fixed(dim)) return std::to_string(dim.dim_value());
  return dim.has_dim_param() && !dim.dim_param().empty() ? dim.dim_param() : "?";
}

InputInfo describe(const ::onnx::ValueInfoProto& info) {
  InputInfo result;
  result.name = info.name();
  if (!info.type().has_tensor_type()) return result;
  const auto& type = info.type().tensor_type();
  result.dtype = dtype_from_onnx(type.elem_type());
  result.has_shape = type.has_shape();
  for (const auto& dim : type.shape().dim()) result.dims.push_back(dimension_text(dim));
  return result;
}

std::string declared_shape_text(const InputInfo& info) { return fmt::format("[{}]", fmt::join(info.dims, ",")); }

std::unordered_set<std::string> initializer_names(const ::onnx::GraphProto& graph) {
  std::unordered_set<std::string> names;
  for (const auto& tensor : graph.initializer()) names.insert(tensor.name());
  for (const auto& sparse : graph.sparse_initializer()) names.insert(sparse.values().name());
  return names;
}

// What was pinned, each entry once, in order of appearance.
class Pinned {
 public:
  explicit Pinned(std::vector<std::string>* out) : out_(out) {}
  void add(const ::onnx::ValueInfoProto& input, int axis, const Dimension* dim, int64_t value) {
    const bool named = dim != nullptr && dim->has_dim_param() && !dim->dim_param().empty();
    const std::string text =
        named ? fmt::format("{}={}", dim->dim_param(), value) : fmt::format("{}[{}]={}", input.name(), axis, value);
    any_ = true;
    if (seen_.insert(text).second && out_ != nullptr) out_->push_back(text);
  }
  bool any() const { return any_; }

 private:
  std::vector<std::string>* out_;
  std::unordered_set<std::string> seen_;
  bool any_ = false;
};

Status pin_input(const Model& model, ::onnx::ValueInfoProto& input, const Shape& shape, Pinned& pinned) {
  const InputInfo info = describe(input);
  const auto mismatch = [&] {
    return usage_error(model.subject(),
                       fmt::format("input \"{}\" has the shape {}, {} was given", input.name(),
                                   declared_shape_text(info), to_string(shape)),
                       "give an array of the model's shape");
  };
  if (!input.type().has_tensor_type())
    return usage_error(model.subject(), fmt::format("input \"{}\" is not a tensor", input.name()));
  auto* type = input.mutable_type()->mutable_tensor_type();
  const bool has_shape = type->has_shape();
  auto* dims = type->mutable_shape();
  if (has_shape && static_cast<size_t>(dims->dim_size()) != shape.size()) return mismatch();
  for (size_t i = 0; i < shape.size(); ++i) {
    const int axis = static_cast<int>(i);
    auto* dim = has_shape ? dims->mutable_dim(axis) : dims->add_dim();
    if (is_fixed(*dim)) {
      if (dim->dim_value() != shape[i]) return mismatch();
      continue;
    }
    pinned.add(input, axis, dim, shape[i]);
    dim->set_dim_value(shape[i]);
  }
  return {};
}

}  // namespace

std::vector<InputInfo> describe_inputs(const Model& model) {
  const auto constants = initializer_names(model.graph());
  std::vector<InputInfo> inputs;
  for (const auto& input : model.graph().input())
    if (constants.count(input.name()) == 0) inputs.push_back(describe(input));
  return inputs;
}

std::vector<InputInfo> describe_outputs(const Model& model) {
  std::vector<InputInfo> outputs;
  for (const auto& output : model.graph().output()) outputs.push_back(describe(output));
  return outputs;
}

Result<Model> pin_shapes(const Model& model, const std::map<std::string, Shape>& shapes,
                         std::vector<std::string>* pinned) {
  Model result = model.clone();
  auto& graph = result.graph();
  const auto constants = initializer_names(graph);
  Pinned report(pinned);
  for (auto& input : *graph.mutable_input()) {
    if (constants.count(input.name()) != 0) continue;
    const auto shape = shapes.find(input.name());
    if (shape == shapes.end())
      return usage_error(model.subject(), fmt::format("no shape is given for input \"{}\"", input.name()),
                         "give a value for every input");
    PARITAS_TRY(pin_input(model, input, shape->second, report));
  }
  if (!report.any()) return result;
  // Declarations with free dimensions would have to be worked out anew: the runtime infers them.
  erase_if(*graph.mutable_value_info(), has_free_dimension);
  for (auto& output : *graph.mutable_output())
    if (has_free_dimension(output)) output.mutable_type()->mutable_tensor_type()->clear_shape();
  return result;
}

Result<Model> mark_outputs(const Model& model, const std::vector<std::string>& tensors) {
  PARITAS_ASSIGN(const GraphIndex index, GraphIndex::build(model));
  Model result = model.clone();
  auto& graph = result.graph();
  const DeclaredTypes types(model.graph());
  std::unordered_set<std::string> marked(index.outputs().begin(), index.outputs().end());
  for (const auto& tensor : tensors) {
    if (!is_known(index, tensor)) return unknown_tensor(model, tensor);
    if (!marked.insert(tensor).second) continue;
    auto* output = graph.add_output();
    output->set_name(tensor);
    if (const auto* type = types.find(tensor)) *output->mutable_type() = *type;
  }
  erase_if(*graph.mutable_value_info(), [&](const auto& info) { return marked.count(info.name()) != 0; });
  return result;
}

}  // namespace paritas::onnx_model
