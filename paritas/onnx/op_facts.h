// What we know of operators: enough to tell how shapes and element types follow from inputs.
// Source: the operator reference of ONNX (Operators.md of onnx 1.23), and for com.microsoft ContribOperators.md of ONNX
// Runtime. An operator that is not listed is treated carefully: its shapes may depend on values, its types are unknown.
#pragma once

#include <cstdint>

#include <paritas_onnx_proto/onnx-ml.pb.h>

namespace paritas::onnx_model {

// Element type of the first output.
enum class TypeRule : uint8_t {
  kUnknown,
  kFirst,   // that of input 0
  kSecond,  // that of input 1
  kThird,   // that of input 2
  kInt64,
  kInt32,
  kBool,
  kFloat,      // float32 by definition
  kNotTensor,  // a sequence or an optional
  kCast,       // attribute "to"
  kConstant,   // attribute "value" and its kin
  kFill,       // ConstantOfShape: type of attribute "value", float32 without it
  kQuantized,  // QuantizeLinear: the type of input 2, uint8 without it
};

// How the shapes of the outputs come about.
enum class ShapeRule : uint8_t {
  kInputs,     // from the shapes of the inputs and the values of the shape operands
  kValues,     // from the values of all inputs
  kOnlyShape,  // like kInputs, and the output's values are made from the shape of input 0 alone (Shape, Size)
};

struct OpFacts {
  TypeRule type = TypeRule::kUnknown;
  ShapeRule shape = ShapeRule::kInputs;
  uint32_t shape_operands = 0;         // bit N: the values of input N decide shapes
  TypeRule more = TypeRule::kUnknown;  // of outputs 1, 2, ...
  bool random = false;
};

OpFacts facts_of(const ::onnx::NodeProto& node);

// Operators of ONNX itself: the domain is empty or spelled out.
bool is_onnx_domain(const ::onnx::NodeProto& node);

}  // namespace paritas::onnx_model
