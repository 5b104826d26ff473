#include "paritas/runtime/inputs.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace paritas {
namespace {

using onnx_model::InputInfo;

std::string describe(const InputInfo& input) {
  std::string dims;
  for (const std::string& dim : input.dims) dims += (dims.empty() ? "" : ",") + dim;
  return fmt::format("\"{}\" {}{}", input.name, input.dtype ? name(*input.dtype) : "(not a tensor)",
                     input.has_shape ? fmt::format(" [{}]", dims) : std::string());
}

std::string describe_all(const std::vector<InputInfo>& inputs) {
  std::string text;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (i != 0) text += i + 1 == inputs.size() ? " and " : ", ";
    text += describe(inputs[i]);
  }
  return text.empty() ? "no inputs" : text;
}

std::optional<int64_t> fixed_dim(const std::string& dim) {
  int64_t value = 0;
  const auto [end, code] = std::from_chars(dim.data(), dim.data() + dim.size(), value);
  if (code != std::errc() || end != dim.data() + dim.size()) return std::nullopt;
  return value;
}

Status check_one(const onnx_model::Model& model, const InputInfo& input, const Tensor& tensor) {
  if (input.dtype && *input.dtype != tensor.dtype)
    return input_error(model.subject(),
                       fmt::format("input \"{}\" must be {}, the given tensor is {}", input.name, name(*input.dtype),
                                   name(tensor.dtype)),
                       "convert the tensor first");
  if (!input.has_shape) return {};
  bool fits = input.dims.size() == tensor.shape.size();
  for (size_t i = 0; fits && i < input.dims.size(); ++i)
    if (auto fixed = fixed_dim(input.dims[i])) fits = *fixed == tensor.shape[i];
  if (fits) return {};
  return input_error(model.subject(), fmt::format("input {} cannot take a tensor of shape {}", describe(input),
                                                  to_string(tensor.shape)));
}

// NAME=N must name a free dimension and agree with the tensors that are given.
Status check_dims(const onnx_model::Model& model, const std::vector<InputInfo>& declared,
                  const std::map<std::string, Shape>& shapes, const std::map<std::string, int64_t>& dims) {
  for (const auto& [dim, value] : dims) {
    bool known = false;
    std::string free_dims;
    for (const InputInfo& input : declared)
      for (size_t i = 0; i < input.dims.size(); ++i) {
        if (fixed_dim(input.dims[i])) continue;
        free_dims += (free_dims.empty() ? "" : ", ") + input.dims[i];
        if (input.dims[i] != dim) continue;
        known = true;
        const int64_t given = shapes.at(input.name)[i];
        if (given != value)
          return usage_error(fmt::format("dimension {} = {}", dim, value),
                             fmt::format("the tensor given for \"{}\" has {} there", input.name, given),
                             "give an input of that size, or leave the dimension out: it follows from the inputs");
      }
    if (!known)
      return usage_error(fmt::format("dimension {} = {}", dim, value),
                         fmt::format("{} has no free dimension of that name", model.subject()),
                         free_dims.empty() ? "all its dimensions are fixed" : "free dimensions: " + free_dims);
  }
  return {};
}

}  // namespace

Status check_inputs(const onnx_model::Model& model, const NamedTensors& inputs) {
  const auto declared = onnx_model::describe_inputs(model);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto& [given, tensor] = inputs[i];
    for (size_t k = 0; k < i; ++k)
      if (inputs[k].first == given) return usage_error("--input " + given, "was given twice");
    auto it = std::find_if(declared.begin(), declared.end(), [&n = given](const InputInfo& d) { return d.name == n; });
    if (it == declared.end())
      return input_error(
          "", fmt::format("input \"{}\" is not in {}; it has {}", given, model.subject(), describe_all(declared)));
    PARITAS_TRY(check_one(model, *it, tensor));
  }
  for (const InputInfo& input : declared)
    if (std::none_of(inputs.begin(), inputs.end(), [&](const auto& given) { return given.first == input.name; }))
      return input_error(model.subject(), fmt::format("input {} was not given", describe(input)),
                         fmt::format("add --input {}=FILE", input.name));
  return {};
}

Result<onnx_model::Model> pin_to_inputs(const onnx_model::Model& model, const NamedTensors& inputs,
                                        const std::map<std::string, int64_t>& dims, std::vector<std::string>* pinned) {
  std::map<std::string, Shape> shapes;
  for (const auto& [given, tensor] : inputs) shapes[given] = tensor.shape;
  PARITAS_TRY(check_dims(model, onnx_model::describe_inputs(model), shapes, dims));
  return onnx_model::pin_shapes(model, shapes, pinned);
}

}  // namespace paritas
