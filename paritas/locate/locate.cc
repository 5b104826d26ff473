#include "paritas/locate/locate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <unordered_set>

#include <fmt/format.h>

#include "paritas/locate/explain.h"
#include "paritas/locate/figures.h"
#include "paritas/locate/gather.h"
#include "paritas/locate/propagation.h"
#include "paritas/locate/ranking.h"
#include "paritas/runtime/run_info.h"

namespace paritas {
namespace {

using Clock = std::chrono::steady_clock;

struct Runners {
  ScratchFolder scratch;
  Runner reference;
  Runner device;
};

Result<Runners> start_runners(const LocateRequest& request) {
  PARITAS_ASSIGN(ScratchFolder scratch, ScratchFolder::create(request.scratch_root));
  auto start = [&](const char* role, const Target& target) -> Result<Runner> {
    WorkerOptions options = request.worker;
    options.scratch = scratch.path() / role;
    std::error_code code;
    std::filesystem::create_directory(options.scratch, code);
    return Runner::start(target, options);
  };
  auto device = std::async(std::launch::async, start, "device", std::cref(request.device));
  auto reference = start("reference", request.reference);
  auto device_result = device.get();
  PARITAS_TRY(reference);
  PARITAS_TRY(device_result);
  return Runners{std::move(scratch), std::move(*reference), std::move(*device_result)};
}

const PairMetrics* forced_metrics(const Evidence& evidence, const LocateResult& result, const std::string& output) {
  if (!evidence.marked_forced) return nullptr;
  for (const NodeRow& row : result.nodes)
    if (row.tensor == output && row.accumulated_forced) return &*row.accumulated_forced;
  return nullptr;
}

// Outputs that deviate for the diagnosis: a gate failed, or, where no gate speaks, figures that no device type explains.
// Behind a decision the figures with the reference's decisions count.
struct Deviation {
  std::vector<std::string> outputs;
  bool forced = true;  // every one of them deviates with the reference's decisions fed in, too
};

Deviation find_deviation(const Evidence& evidence, const LocateResult& result, const GateSet& gates) {
  Deviation deviation;
  for (const OutputRow& row : result.outputs) {
    if (!row.pair.metrics || !is_float(row.pair.reference->dtype)) continue;
    const PairMetrics* forced = row.behind_decision ? forced_metrics(evidence, result, row.pair.name) : nullptr;
    const bool gated = !gates.for_tensor(row.pair.name).empty();
    const bool failed_gate = gated && row.pair.verdict == Verdict::kDeviates;
    const bool forced_deviates = forced != nullptr && deviates(*forced);
    const bool free_deviates = deviates(*row.pair.metrics);
    if (!(failed_gate || (!gated && (forced != nullptr ? forced_deviates : free_deviates)))) continue;
    deviation.outputs.push_back(row.pair.name);
    if (forced != nullptr && !forced_deviates) deviation.forced = false;
  }
  return deviation;
}

class Locating {
 public:
  explicit Locating(const LocateRequest& request) : request_(request), start_(Clock::now()) {}

  Result<LocateResult> run() {
    PARITAS_ASSIGN(auto given, onnx_model::Model::load(request_.model));
    PARITAS_TRY(check_inputs(given, request_.inputs));
    PARITAS_TRY(check_gates(given));
    PARITAS_ASSIGN(auto model, pin_to_inputs(given, request_.inputs, request_.dims, &result_.pinned));
    PARITAS_ASSIGN(Runners runners, start_runners(request_));
    PARITAS_ASSIGN(Gathering gathering, gather(request_, model, runners.reference, runners.device));
    evidence_ = std::move(gathering.evidence);
    take_over(gathering);
    describe(given, runners);
    PARITAS_TRY(make_figures());
    const Deviation deviation = find_deviation(evidence_, result_, request_.gates);
    const auto sinks = sinks_of(deviation);
    const std::unordered_set<std::string> fed(evidence_.forced.begin(), evidence_.forced.end());
    const auto reach = reaching(result_.nodes, evidence_.prepared->index, sinks, fed);
    PARITAS_ASSIGN(const Sensitivities sensitivities, inject(deviation, reach, runners.reference));
    Ranking ranking = rank(result_.nodes, reach, sensitivities, !deviation.outputs.empty());
    result_.ranked = std::move(ranking.nodes);
    result_.first_divergence = std::move(ranking.first_divergence);
    result_.first_divergence_tensor = std::move(ranking.first_divergence_tensor);
    ExplainInput input;
    input.evidence = &evidence_;
    input.sensitivities = &sensitivities;
    if (storage()) input.storage_format = name(*storage());
    input.outputs_deviate = !deviation.outputs.empty();
    input.device_is_plugin = request_.device.capabilities.device;
    explain(input, result_);
    judge();
    result_.seconds_total = since_start();
    return std::move(result_);
  }

 private:
  double since_start() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  std::optional<DType> storage() const { return request_.device.capabilities.storage_type; }

  Status check_gates(const onnx_model::Model& model) const {
    std::vector<std::string> names;
    for (const auto& output : onnx_model::describe_outputs(model)) names.push_back(output.name);
    return check_gates_match(request_.gates, names);
  }

  void take_over(const Gathering& gathering) {
    result_.model = request_.model.string();
    result_.reference = request_.reference.spec.text;
    result_.device = request_.device.spec.text;
    for (const Gate& gate : request_.gates.gates) result_.gate_texts.push_back(gate.text());
    result_.gates_sha256 = request_.gates.sha256;
    result_.notes = gathering.notes;
    result_.decisions = evidence_.decisions;
    result_.forced = evidence_.forced;
    result_.placement = evidence_.placement.counts;
    result_.probe_placement = evidence_.probes.placement;
    result_.seconds_reference = gathering.seconds_reference;
    result_.seconds_device = gathering.seconds_device;
    result_.seconds_probes = gathering.seconds_probes;
    result_.sessions = static_cast<uint64_t>(gathering.device_sessions);
  }

  void describe(const onnx_model::Model& model, Runners& runners) {
    result_.reference_info = make_run_info(model, request_.reference, runners.reference.worker().identity());
    result_.device_info = make_run_info(model, request_.device, runners.device.worker().identity());
    for (RunInfo* info : {&result_.reference_info, &result_.device_info}) {
      info->tool_version = request_.tool_version;
      info->pinned = result_.pinned;
    }
  }

  Status make_figures() {
    if (request_.progress) request_.progress("comparing");
    PARITAS_ASSIGN(result_.nodes, make_rows(evidence_, storage(), request_.threads));
    PARITAS_ASSIGN(result_.outputs, make_outputs(evidence_, request_.gates, storage(), request_.threads));
    PARITAS_ASSIGN(result_.probe_effect, make_probe_effect(evidence_));
    return {};
  }

  // Where deviation matters: outputs that deviate whatever the decisions, and changed decisions in front of the others.
  std::unordered_set<std::string> sinks_of(const Deviation& deviation) const {
    std::unordered_set<std::string> sinks;
    for (const std::string& output : deviation.outputs) {
      const PairMetrics* forced = forced_metrics(evidence_, result_, output);
      if (forced == nullptr || deviates(*forced)) sinks.insert(output);
    }
    if (!deviation.forced || (!deviation.outputs.empty() && sinks.empty()))
      for (const DecisionReport& decision : result_.decisions)
        if (decision.changed()) sinks.insert(decision.tensor);
    return sinks;
  }

  Result<Sensitivities> inject(const Deviation& deviation, const std::unordered_set<std::string>& reach, Runner& reference) {
    Sensitivities none;
    none.complete = false;
    if (deviation.outputs.empty()) return none;
    if (request_.progress) request_.progress("injecting local errors into the reference");
    InjectionRequest request;
    request.inputs = request_.inputs;
    const bool forced = deviation.forced && evidence_.marked_forced.has_value();
    onnx_model::Model model = evidence_.prepared->folded.clone();
    if (forced) {
      std::map<std::string, onnx_model::TensorType> types;
      for (const auto& tensor : evidence_.forced) {
        const Tensor& value = evidence_.reference.at(tensor);
        types[tensor] = {value.dtype, value.shape};
      }
      PARITAS_ASSIGN(auto fed, onnx_model::feed_tensors(model, types));
      for (const auto& [tensor, input] : fed.feed_names) request.inputs.emplace_back(input, evidence_.reference.at(tensor));
      model = std::move(fed.model);
    }
    request.model = &model;
    choose_candidates(reach, request);
    for (const std::string& output : deviation.outputs) {
      const PairMetrics* metrics = forced ? forced_metrics(evidence_, result_, output) : nullptr;
      for (const OutputRow& row : result_.outputs)
        if (metrics == nullptr && row.pair.name == output) metrics = &*row.pair.metrics;
      request.outputs.push_back(output);
      request.observed_nmse[output] = metrics->nonfinite.device_only > 0 ? INFINITY : metrics->nmse;
    }
    request.reference = &evidence_.reference;
    request.local = &evidence_.probes.local;
    request.seconds = request_.injection_seconds.value_or(std::max(2.0, 0.5 * since_start()));
    auto measured = measure_sensitivity(reference, request);
    if (!measured) {
      result_.notes.push_back("errors could not be injected: " + measured.error().message());
      return none;
    }
    if (!measured->complete)
      result_.notes.push_back(fmt::format("injection stopped after {} runs, {:.1f} s (the budget)", measured->runs, measured->seconds));
    result_.seconds_injection = measured->seconds;
    return measured;
  }

  // Everything with a local error of its own; range violations on a path to a deviating output are tested first.
  void choose_candidates(const std::unordered_set<std::string>& reach, InjectionRequest& request) {
    constexpr size_t kFirst = 24;
    const std::unordered_set<std::string> forced(evidence_.forced.begin(), evidence_.forced.end());
    for (NodeRow& row : result_.nodes) {
      if (!row.local || row.local->metrics.differing == 0 || forced.count(row.tensor) != 0) continue;
      request.tensors.push_back(row.tensor);
      classify_range(row, nullptr);
      if (row.range != RangeViolation::kNone && reach.count(row.tensor) != 0 && request.first.size() < kFirst)
        request.first.push_back(row.tensor);
    }
  }

  void judge() {
    VerdictBuilder builder;
    for (const OutputRow& row : result_.outputs) {
      const std::string reason = row.pair.name + ": " + row.pair.rule;
      switch (row.pair.verdict) {
        case Verdict::kInvalid: builder.invalid(reason); break;
        case Verdict::kDeviates: builder.deviates(reason); break;
        case Verdict::kNotJudged: builder.not_judged(reason); break;
        case Verdict::kPass: builder.passed(reason); break;
      }
    }
    result_.verdict = builder.verdict();
    result_.reasons = builder.reasons();
  }

  const LocateRequest& request_;
  Clock::time_point start_;
  Evidence evidence_;
  LocateResult result_;
};

}  // namespace

Result<LocateResult> locate(const LocateRequest& request) { return Locating(request).run(); }

}  // namespace paritas
