#include "paritas/runtime/sim/simulate.h"

#include <optional>
#include <unordered_set>

#include <fmt/format.h>

#include "paritas/onnx/edit.h"
#include "paritas/runtime/sim/fold_constants.h"
#include "paritas/runtime/sim/operators.h"
#include "paritas/runtime/sim/simulate_integers.h"

namespace paritas {
namespace {

::onnx::AttributeProto text_attribute(const char* key, std::string_view value) {
  ::onnx::AttributeProto attribute;
  attribute.set_name(key);
  attribute.set_type(::onnx::AttributeProto::STRING);
  attribute.set_s(std::string(value));
  return attribute;
}

}  // namespace

Result<onnx_model::Model> simulate(const onnx_model::Model& model, const SimulatedFormat& format, const Path& scratch,
                                   const std::unordered_set<std::string>& exact) {
  if (format.integers) {
    if (!exact.empty())
      return input_error(model.subject(), "parts of a network cannot be left exact by a simulator of integers");
    return sim::simulate_integers(model, *format.integers);
  }
  onnx_model::Interpose round;
  round.op_type = sim::kRound;
  round.domain = sim::kDomain;
  round.graph_inputs = true;
  round.initializers = true;
  round.node_outputs = true;
  round.attributes = {
      text_attribute(sim::kFormatAttribute, name(format.format)),
      text_attribute(sim::kOverflowAttribute, format.overflow == Overflow::kInfinity ? "inf" : "saturate")};
  std::optional<onnx_model::SetApart> apart;
  if (!exact.empty()) {
    PARITAS_ASSIGN(apart, onnx_model::set_apart(model, exact));
    round.untouched = [&](const std::string& first_output) { return apart->first_outputs.count(first_output) != 0; };
    round.wanted = [&](const std::string& tensor) { return apart->constants.count(tensor) == 0; };
  }
  PARITAS_ASSIGN(onnx_model::Model simulated, onnx_model::interpose(apart ? apart->model : model, round));
  PARITAS_TRY(sim::fold_rounded_constants(simulated, format, scratch));
  return simulated;
}

Status needs_parts(const Target& target, const std::string& what) {
  if (!target.capabilities.whole_networks_only) return {};
  return usage_error(
      target.spec.text,
      fmt::format("runs whole networks only: its ranges are those of one file, so {} has nothing to "
                  "run single nodes and edited copies on",
                  what),
      "record both sides with --marks all (paritas run) and compare the recordings: every tensor has its "
      "figures there");
}

Result<onnx_model::Model> make_perturbable(const onnx_model::Model& model, const std::vector<std::string>& tensors) {
  const std::unordered_set<std::string> wanted(tensors.begin(), tensors.end());
  onnx_model::Interpose perturb;
  perturb.op_type = sim::kPerturb;
  perturb.domain = sim::kDomain;
  perturb.node_outputs = true;
  perturb.wanted = [&](const std::string& tensor) { return wanted.count(tensor) != 0; };
  PARITAS_ASSIGN(onnx_model::Model edited, onnx_model::interpose(model, perturb));
  size_t placed = 0;
  for (::onnx::NodeProto& node : *edited.graph().mutable_node()) {
    if (node.domain() != sim::kDomain || node.op_type() != sim::kPerturb || node.attribute_size() != 0) continue;
    *node.add_attribute() = text_attribute(sim::kKeyAttribute, node.output(0));
    ++placed;
  }
  if (placed != wanted.size())
    return input_error(model.subject(), fmt::format("{} of the {} tensors to perturb are not outputs of nodes",
                                                    wanted.size() - placed, wanted.size()));
  return edited;
}

}  // namespace paritas
