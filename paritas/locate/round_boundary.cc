#include "paritas/locate/round_boundary.h"

#include "paritas/runtime/sim/operators.h"

namespace paritas {

Result<onnx_model::Model> round_boundary(const onnx_model::Model& model, DType format) {
  onnx_model::Interpose round;
  round.op_type = sim::kRound;
  round.domain = sim::kDomain;
  round.graph_inputs = true;
  round.initializers = true;
  auto text = [](const char* name, const std::string& value) {
    ::onnx::AttributeProto attribute;
    attribute.set_name(name);
    attribute.set_type(::onnx::AttributeProto::STRING);
    attribute.set_s(value);
    return attribute;
  };
  round.attributes = {text(sim::kFormatAttribute, std::string(name(format))), text(sim::kOverflowAttribute, "inf")};
  return onnx_model::interpose(model, round);
}

}  // namespace paritas
