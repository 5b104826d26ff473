#include "paritas/placement/pin.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "paritas/judge/random_draws.h"
#include "paritas/placement/claims.h"
#include "paritas/recording/named_tensors.h"

namespace paritas {
namespace {

bool is_pinned(const std::vector<Pin>& pins, const std::string& op) {
  return std::any_of(pins.begin(), pins.end(), [&](const Pin& pin) { return pin.op == op; });
}

struct Judged {
  bool agrees = false;
  std::string rule;
};

Judged judge_by_gates(const std::vector<const Gate*>& gates, const PairMetrics& metrics) {
  Judged judged{true, {}};
  for (const Gate* gate : gates) {
    const GateOutcome outcome = evaluate(*gate, metrics);
    if (judged.agrees) judged.rule = outcome.text;  // the first that fails, else the last
    judged.agrees = judged.agrees && outcome.passed;
  }
  return judged;
}

Judged judge_without_gate(const PairMetrics& m, bool integers, bool others_have_gates) {
  if (others_have_gates) return {true, "no gate: not judged"};
  if (integers) return {true, m.differing == 0 ? "equal" : "integers without a gate: not judged"};
  if (m.nonfinite.device_only > 0)
    return {false, fmt::format("{} NaN or infinite on the device only", m.nonfinite.device_only)};
  if (!(m.cosine >= kAgreeingCosine))
    return {false, fmt::format("cosine {:.4f} < {} (no gate)", m.cosine, kAgreeingCosine)};
  if (!(std::abs(m.scale_ratio - 1) <= kAgreeingScale))
    return {false, fmt::format("scale {:.4g} (no gate)", m.scale_ratio)};
  return {true, fmt::format("cosine {:.4f} >= {} (no gate)", m.cosine, kAgreeingCosine)};
}

Result<PairMetrics> compare(const std::string& name, const Tensor& reference, const Tensor* device,
                            const GateSet& gates, int threads) {
  if (device == nullptr) return runtime_error(name, "the device session did not hand out this output");
  if (device->shape != reference.shape)
    return runtime_error(name, fmt::format("has shape {} on the device and {} on the reference",
                                           to_string(device->shape), to_string(reference.shape)));
  MetricOptions options;
  options.threads = threads;
  PARITAS_TRY(gates.configure(GateSubject(name, Role::kOutput, "", reference.dtype), options));
  return compare_tensors(reference, *device, options);
}

std::string figures_of(const PinExperiment& experiment) {
  // The output that decides: one that deviated before, else the first float.
  const PinOutput* best = nullptr;
  for (const PinOutput& output : experiment.outputs) {
    if (output.cannot_tell) continue;
    const bool better =
        best == nullptr || (best->integers && !output.integers) || (best->agrees_before && !output.agrees_before);
    if (better && !(best != nullptr && output.integers && !best->integers)) best = &output;
    if (best != nullptr && !best->agrees_before && !best->agrees_after) break;
  }
  if (best == nullptr) return "No output was compared";
  return fmt::format("{}: largest value {:.4g} without the pin, {:.4g} with it, {:.4g} on the reference", best->name,
                     best->before.device_max, best->after.device_max, best->before.reference_max);
}

}  // namespace

Result<std::vector<Pin>> parse_pins(const std::vector<std::string>& texts) {
  std::vector<Pin> pins;
  for (const std::string& text : texts) {
    const auto equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0)
      return usage_error("--pin " + text, "is not OP_TYPE=CPU", "for example: --pin Softmax=CPU");
    if (text.substr(equals + 1) != "CPU")
      return usage_error("--pin " + text, fmt::format("nodes cannot be pinned to \"{}\"", text.substr(equals + 1)),
                         "only to CPU");
    Pin pin{text.substr(0, equals)};
    if (is_pinned(pins, pin.op)) return usage_error("--pin " + text, fmt::format("{} is pinned twice", pin.op));
    pins.push_back(std::move(pin));
  }
  return pins;
}

std::string op_affinity_json(const std::vector<Pin>& pins) {
  Json types = Json::object();
  for (const Pin& pin : pins) types[pin.op] = "CPU";
  return dump_json(Json{{"op_type", std::move(types)}}) + "\n";
}

std::vector<std::string> touched_nodes(const std::vector<Pin>& pins, const onnx_model::GraphIndex& index) {
  std::vector<std::string> touched;
  for (const auto& node : index.nodes())
    if (is_pinned(pins, node.op)) touched.push_back(node.name);
  return touched;
}

void trace_pins(const std::vector<Pin>& pins, const std::string& device, const std::vector<AssignedNode>& before,
                const std::vector<AssignedNode>& after, PinExperiment& experiment) {
  std::unordered_map<std::string, std::string> now;
  for (const AssignedNode& node : after) now.emplace(node.name, node.provider);
  for (const AssignedNode& node : before) {
    const bool pinned = is_pinned(pins, node.op);
    if (pinned) experiment.touched_optimised.push_back(node.name);
    const auto it = now.find(node.name);
    if (node.provider != device || it == now.end() || it->second != kCpuProvider) continue;
    (pinned ? experiment.on_cpu_after : experiment.moved_too).push_back(node.name);
  }
}

Status judge_pin(const NamedTensors& reference, const NamedTensors& before, const NamedTensors& after,
                 const GateSet& gates, const onnx_model::RandomDependence* random, int threads,
                 PinExperiment& experiment) {
  bool all_agree = true;
  for (const auto& [name, tensor] : reference) {
    PinOutput output;
    output.name = name;
    output.integers = !is_float(tensor.dtype);
    const auto own = gates.for_tensor(GateSubject(name, Role::kOutput, "", tensor.dtype));
    output.has_gate = !own.empty();
    output.rule = cannot_tell(random, name);
    output.cannot_tell = !output.rule.empty();
    if (output.cannot_tell) {
      experiment.outputs.push_back(std::move(output));
      continue;
    }
    PARITAS_ASSIGN(output.before, compare(name, tensor, find_tensor(before, name), gates, threads));
    PARITAS_ASSIGN(output.after, compare(name, tensor, find_tensor(after, name), gates, threads));
    auto judge = [&](const PairMetrics& metrics) {
      return own.empty() ? judge_without_gate(metrics, output.integers, !gates.empty()) : judge_by_gates(own, metrics);
    };
    output.agrees_before = judge(output.before).agrees;
    const Judged with_pin = judge(output.after);
    output.agrees_after = with_pin.agrees;
    output.rule = with_pin.rule;
    experiment.deviated = experiment.deviated || !output.agrees_before;
    all_agree = all_agree && output.agrees_after;
    experiment.outputs.push_back(std::move(output));
  }
  experiment.recovered = experiment.deviated && all_agree;
  return {};
}

Finding pin_finding(const PinExperiment& experiment, const PlacementAudit& after) {
  catalogue::PinFacts facts;
  facts.pins = experiment.pins;
  facts.touched = experiment.touched_optimised;
  facts.moved = experiment.on_cpu_after.size();
  facts.moved_too = experiment.moved_too.size();
  facts.provider = after.requested;
  facts.device_nodes = after.totals.optimised_on_device;
  facts.partitions_before = experiment.before.totals.device_partitions;
  facts.partitions_after = after.totals.device_partitions;
  facts.figures = figures_of(experiment);
  std::vector<std::string> still;
  for (const PinOutput& output : experiment.outputs) {
    if (output.cannot_tell) {
      facts.cannot_tell.push_back(output.name);
      continue;
    }
    if (!output.agrees_before) facts.outputs.push_back(output.name);
    if (!output.agrees_after) still.push_back(output.name);
  }
  if (facts.moved == 0) return catalogue::pin_without_effect(facts);
  if (facts.cannot_tell.size() == experiment.outputs.size()) return catalogue::pin_cannot_tell(facts);
  if (!experiment.deviated) return catalogue::pin_nothing_to_repair(facts, still);
  return still.empty() ? catalogue::pin_matches_on_cpu(facts) : catalogue::pin_did_not_repair(facts, still);
}

}  // namespace paritas
