#include "paritas/onnx/element_types.h"

#include <string_view>

#include "paritas/base/dtype.h"
#include "paritas/onnx/op_facts.h"
#include "paritas/onnx/walk.h"

namespace paritas::onnx_model {
namespace {

const ::onnx::AttributeProto* find_attribute(const ::onnx::NodeProto& node, std::string_view name) {
  for (const auto& attribute : node.attribute())
    if (attribute.name() == name) return &attribute;
  return nullptr;
}

// Attributes of Constant: exactly one is given.
int constant_type(const ::onnx::NodeProto& node) {
  for (const auto& attribute : node.attribute()) {
    const std::string_view name = attribute.name();
    if (name == "value") return attribute.t().data_type();
    if (name == "sparse_value") return attribute.sparse_tensor().values().data_type();
    if (name == "value_float" || name == "value_floats") return ::onnx::TensorProto::FLOAT;
    if (name == "value_int" || name == "value_ints") return ::onnx::TensorProto::INT64;
    if (name == "value_string" || name == "value_strings") return ::onnx::TensorProto::STRING;
  }
  return ElementTypes::kUnknown;
}

}  // namespace

ElementTypes::ElementTypes(const ::onnx::GraphProto& graph, const ElementTypes* outer) : outer_(outer) {
  for (const auto& info : graph.input()) declare(info);
  for (const auto& info : graph.output()) declare(info);
  for (const auto& info : graph.value_info()) declare(info);
  for (const auto& tensor : graph.initializer()) types_[tensor.name()] = tensor.data_type();
  for (const auto& sparse : graph.sparse_initializer()) types_[sparse.values().name()] = sparse.values().data_type();
  for (const auto& node : graph.node()) add_node(node);
}

void ElementTypes::declare(const ::onnx::ValueInfoProto& info) {
  int type = kUnknown;
  if (info.type().has_tensor_type())
    type = info.type().tensor_type().elem_type();
  else if (info.type().has_sparse_tensor_type())
    type = info.type().sparse_tensor_type().elem_type();
  else if (info.type().value_case() != ::onnx::TypeProto::VALUE_NOT_SET)
    type = kNotTensor;
  types_[info.name()] = type;
}

// Outputs of If, Loop and Scan have the types of their body's outputs (Loop's body gives its condition first).
bool ElementTypes::add_control_flow(const ::onnx::NodeProto& node) {
  const bool loop = node.op_type() == "Loop";
  if (!is_onnx_domain(node) || (!loop && node.op_type() != "If" && node.op_type() != "Scan")) return false;
  const auto bodies = bodies_of(node);
  if (bodies.empty()) return false;
  const ElementTypes inner(*bodies.front(), this);
  for (int i = 0; i < node.output_size(); ++i) {
    const int from = i + (loop ? 1 : 0);
    if (node.output(i).empty() || from >= bodies.front()->output_size()) continue;
    int& known = types_[node.output(i)];
    if (known == kUnknown) known = inner.of(bodies.front()->output(from).name());
  }
  return true;
}

void ElementTypes::add_node(const ::onnx::NodeProto& node) {
  if (add_control_flow(node)) return;
  const OpFacts facts = facts_of(node);
  const auto input = [&](int i) {
    return i < node.input_size() && !node.input(i).empty() ? of(node.input(i)) : kUnknown;
  };
  const auto apply = [&](TypeRule rule) -> int {
    switch (rule) {
      case TypeRule::kUnknown:
        return kUnknown;
      case TypeRule::kFirst:
        return input(0);
      case TypeRule::kSecond:
        return input(1);
      case TypeRule::kThird:
        return input(2);
      case TypeRule::kInt64:
        return ::onnx::TensorProto::INT64;
      case TypeRule::kInt32:
        return ::onnx::TensorProto::INT32;
      case TypeRule::kBool:
        return ::onnx::TensorProto::BOOL;
      case TypeRule::kFloat:
        return ::onnx::TensorProto::FLOAT;
      case TypeRule::kNotTensor:
        return kNotTensor;
      case TypeRule::kConstant:
        return constant_type(node);
      case TypeRule::kCast:
        if (const auto* to = find_attribute(node, "to")) return static_cast<int>(to->i());
        return kUnknown;
      case TypeRule::kFill:
        if (const auto* value = find_attribute(node, "value")) return value->t().data_type();
        return ::onnx::TensorProto::FLOAT;
      case TypeRule::kQuantized:
        if (node.input_size() > 2 && !node.input(2).empty()) return input(2);
        if (const auto* type = find_attribute(node, "output_dtype"); type != nullptr && type->i() != 0)
          return static_cast<int>(type->i());
        return ::onnx::TensorProto::UINT8;
    }
    return kUnknown;
  };
  for (int i = 0; i < node.output_size(); ++i) {
    const std::string& name = node.output(i);
    if (name.empty()) continue;
    int& known = types_[name];
    if (known == kUnknown) known = apply(i == 0 ? facts.type : facts.more);
  }
}

int ElementTypes::of(const std::string& tensor) const {
  for (const ElementTypes* scope = this; scope != nullptr; scope = scope->outer_)
    if (const auto it = scope->types_.find(tensor); it != scope->types_.end()) return it->second;
  return kUnknown;
}

bool ElementTypes::may_be_float(const std::string& tensor) const {
  const int type = of(tensor);
  if (type == kUnknown) return true;
  // Float types that DType lacks (FLOAT8E4M3FNUZ and the like) are no type that anything is rounded to.
  const auto dtype = dtype_from_onnx(type);
  return dtype && is_float(*dtype);
}

}  // namespace paritas::onnx_model
