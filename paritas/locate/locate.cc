#include "paritas/locate/locate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <unordered_set>

#include <fmt/format.h>

#include "paritas/judge/catalogue_groups.h"
#include "paritas/locate/consistency.h"
#include "paritas/locate/consistency_judge.h"
#include "paritas/locate/cut_stage.h"
#include "paritas/locate/decision_ties.h"
#include "paritas/locate/decisions.h"
#include "paritas/locate/deviation.h"
#include "paritas/locate/explain.h"
#include "paritas/locate/figures.h"
#include "paritas/locate/gather.h"
#include "paritas/locate/probe_checks.h"
#include "paritas/locate/probe_evidence.h"
#include "paritas/locate/propagation.h"
#include "paritas/locate/random_draws.h"
#include "paritas/locate/ranking.h"
#include "paritas/locate/search.h"
#include "paritas/locate/sensitivity.h"
#include "paritas/runtime/qdq_variants.h"
#include "paritas/runtime/run_info.h"
#include "paritas/runtime/sim/simulate.h"

namespace paritas {
namespace {

using Clock = std::chrono::steady_clock;

// With `inject_largest`: so many local errors are injected alone.
constexpr size_t kLargestInjected = 40;

// A gate failed, or what needs none: NaN or infinities on the device alone, or an output that is dead there (all zero,
// where the reference is not and its values could be stored).
bool breaks_without_gate_or_by_it(const OutputRow& row) {
  if (row.pair.verdict == Verdict::kDeviates) return true;
  return row.pair.metrics && !row.class_ids() && row.pair.metrics->zero_norm && deviates(*row.pair.metrics);
}

class Locating {
 public:
  Locating(const LocateRequest& request, LocateRunners* shared)
      : request_(request), shared_(shared), start_(Clock::now()) {}

  Result<LocateResult> run() {
    for (const Target* target : {&request_.reference, &request_.device}) PARITAS_TRY(needs_parts(*target, "locate"));
    PARITAS_ASSIGN(auto given, onnx_model::Model::load(request_.model));
    PARITAS_TRY(check_inputs(given, request_.inputs));
    PARITAS_TRY(check_gates(given));
    PARITAS_TRY(check_island_choice(given));
    PARITAS_TRY(check_search(request_));
    PARITAS_ASSIGN(auto model, pin_to_inputs(given, request_.inputs, request_.dims, &result_.pinned));
    if (request_.search)
      for (const auto& [id, inputs] : request_.search->further_samples) PARITAS_TRY(check_inputs(model, inputs));
    std::optional<CutStage> cuts;
    if (request_.cuts.any()) {
      PARITAS_ASSIGN(cuts, CutStage::plan(request_, model));
      if (request_.cuts.only) return only_cuts(given, model, *cuts);
    }
    std::optional<LocateRunners> own;
    if (shared_ == nullptr) {
      PARITAS_ASSIGN(LocateRunners started, start_runners(request_));
      own.emplace(std::move(started));
    }
    LocateRunners& runners = own ? *own : *shared_;
    PARITAS_ASSIGN(Gathering gathering, gather(request_, model, runners.reference, runners.device, runners.probes));
    evidence_ = std::move(gathering.evidence);
    // Runners that are shared keep their sessions, so that not every run is the first of one.
    random_ = random_draws(evidence_.prepared->folded, evidence_.prepared->index, request_.reference, request_.device,
                           /*first_runs=*/shared_ == nullptr);
    take_over(gathering);
    describe(given, runners.reference.worker().identity(), runners.device.worker().identity());
    PARITAS_TRY(measure_noise(given, model, runners));
    PARITAS_TRY(make_figures());
    withhold_random(random_, evidence_.islands, evidence_.prepared->index, result_);
    const Deviation deviation = deviation_beyond_noise();
    std::unordered_set<std::string> sinks;
    for (const auto& target : deviation.targets) sinks.insert(target.tensor);
    const std::unordered_set<std::string> fed(evidence_.forced.begin(), evidence_.forced.end());
    const auto reach = reaching(result_.nodes, evidence_.prepared->index, sinks, fed);
    const Sensitivities sensitivities = inject(deviation, runners);
    Ranking ranking = rank(result_.nodes, evidence_.prepared->index, reach, sensitivities, !deviation.targets.empty());
    result_.ranked = std::move(ranking.nodes);
    result_.first_divergence = std::move(ranking.first_divergence);
    result_.first_divergence_tensor = std::move(ranking.first_divergence_tensor);
    ExplainInput input;
    input.evidence = &evidence_;
    input.sensitivities = &sensitivities;
    if (storage()) input.storage_format = name(*storage());
    input.random = &random_;
    input.outputs_deviate = !deviation.targets.empty();
    input.device_is_plugin = request_.device.capabilities.device;
    input.demanded = std::any_of(result_.outputs.begin(), result_.outputs.end(), breaks_without_gate_or_by_it);
    explain(input, result_);
    if (result_.probe_checks) add_probe_evidence(*result_.probe_checks, result_.nodes, sensitivities, result_.findings);
    if (result_.consistency) explain_noise(*result_.consistency, request_.gates, result_);
    explain_random(random_, evidence_.prepared->index.outputs());
    PARITAS_TRY(make_groups());
    PARITAS_TRY(search(sensitivities, runners));
    if (cuts) PARITAS_TRY(add_cuts(*cuts));
    judge();
    result_.seconds_total = since_start();
    return std::move(result_);
  }

 private:
  double since_start() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  std::optional<DType> storage() const { return request_.device.capabilities.storage_type; }

  Status check_gates(const onnx_model::Model& model) {
    std::vector<GateSubject> subjects;
    for (const auto& output : onnx_model::describe_outputs(model))
      subjects.emplace_back(output.name, Role::kOutput, "", output.dtype);
    PARITAS_ASSIGN(result_.notes, check_gates_match(request_.gates, subjects, kNoRolesHere));
    return {};
  }

  Status check_island_choice(const onnx_model::Model& model) {
    if (request_.islands.kind != IslandChoice::Kind::kNamed && request_.groups.empty()) return {};
    PARITAS_ASSIGN(const auto index, onnx_model::GraphIndex::build(model));
    groups_ = request_.groups;
    PARITAS_TRY(resolve_groups(groups_, index));
    return check_islands(request_.islands, index);
  }

  void take_over(const Gathering& gathering) {
    result_.model = request_.model.string();
    result_.reference = request_.reference.spec.text;
    result_.device = request_.device.spec.text;
    for (const Gate& gate : request_.gates.gates) result_.gate_texts.push_back(gate.text());
    result_.gates_sha256 = request_.gates.sha256;
    result_.notes.insert(result_.notes.end(), gathering.notes.begin(), gathering.notes.end());
    result_.decisions = evidence_.decisions;
    result_.forced = evidence_.forced;
    result_.placement = evidence_.placement.counts;
    if (request_.device.simulate) result_.device_simulated = name(request_.device.simulate->format);
    result_.probe_placement = evidence_.probes.placement;
    result_.seconds_reference = gathering.seconds_reference;
    result_.seconds_device = gathering.seconds_device;
    result_.seconds_probes = gathering.seconds_probes;
    result_.sessions = static_cast<uint64_t>(gathering.device_sessions);
  }

  void describe(const onnx_model::Model& model, const RuntimeIdentity& reference, const RuntimeIdentity& device) {
    result_.reference_info = make_run_info(model, request_.reference, reference);
    result_.device_info = make_run_info(model, request_.device, device);
    for (RunInfo* info : {&result_.reference_info, &result_.device_info}) {
      info->tool_version = request_.tool_version;
      info->pinned = result_.pinned;
    }
  }

  Status measure_noise(const onnx_model::Model& given, const onnx_model::Model& pinned, LocateRunners& runners) {
    const bool pairs = quant_qdq_setting(request_.reference) && holds_qdq_pairs(given);
    if (!request_.consistency && !pairs) return {};
    if (request_.progress) request_.progress("self-consistency of both sides");
    ConsistencyRequest request;
    request.optimisation_only = !request_.consistency;
    request.given = &given;
    request.pinned = &pinned;
    request.inputs = request_.inputs;
    request.device_outputs = &evidence_.device_outputs;
    request.reference_outputs = &evidence_.prepared->outputs;
    request.reference = request_.reference;
    request.worker = request_.worker;
    request.scratch = runners.scratch.path();
    request.gates = &request_.gates;
    request.storage = storage();
    request.threads = request_.threads;
    PARITAS_ASSIGN(result_.consistency, measure_consistency(request, runners.reference, runners.probes));
    result_.sessions += static_cast<uint64_t>(result_.consistency->device_sessions);
    return {};
  }

  // What may be two draws of a random operator has no cause to look for.
  Deviation deviation_beyond_draws() const {
    Deviation deviation = find_deviation(evidence_, result_.outputs, result_.nodes, request_.gates);
    std::erase_if(deviation.outputs, [this](const std::string& output) { return random_.depends(output); });
    std::erase_if(deviation.targets, [this](const Deviation::Target& t) { return random_.depends(t.tensor); });
    return deviation;
  }

  void explain_random(const onnx_model::RandomDependence& random, const std::vector<std::string>& outputs) {
    if (auto finding = random_finding(random, outputs)) result_.findings.push_back(std::move(*finding));
  }

  // A difference that either side makes by itself has no cause to look for.
  Deviation deviation_beyond_noise() {
    if (!result_.consistency) return deviation_beyond_draws();
    const auto undecided = judge_noise(*result_.consistency, request_.gates, result_.outputs);
    Deviation deviation = deviation_beyond_draws();
    std::unordered_set<std::string> noise(undecided.begin(), undecided.end());
    for (const OutputRow& row : result_.outputs)
      if (row.pair.verdict == Verdict::kNotJudged && inside_noise(*result_.consistency, row))
        noise.insert(row.pair.name);
    std::erase_if(deviation.outputs, [&](const std::string& output) { return noise.count(output) != 0; });
    std::erase_if(deviation.targets, [&](const Deviation::Target& t) { return noise.count(t.tensor) != 0; });
    if (deviation.outputs.empty() && !noise.empty()) deviation.targets.clear();
    return deviation;
  }

  Status make_figures() {
    if (request_.progress) request_.progress("comparing");
    PARITAS_ASSIGN(result_.nodes, make_rows(evidence_, storage(), request_.threads));
    PARITAS_ASSIGN(result_.outputs, make_outputs(evidence_, request_.gates, storage(), request_.threads));
    PARITAS_ASSIGN(result_.probe_effect, make_probe_effect(evidence_));
    PARITAS_TRY(describe_decisions(evidence_, result_.nodes, storage(), result_.decisions));
    if (request_.probe_checks) {
      PARITAS_ASSIGN(result_.probe_checks, check_probes(evidence_, result_.nodes, storage(), request_.threads));
      result_.probe_checks->sessions = evidence_.probes.sessions;
      result_.probe_checks->seconds = evidence_.probes.seconds;
      result_.probe_checks->islands = request_.islands.text();
    }
    return {};
  }

  Status make_groups() {
    PARITAS_ASSIGN(result_.groups, group_reports(evidence_, groups_, result_.notes));
    for (const GroupReport& report : result_.groups)
      for (const UnevenSet& set : report.figures.uneven) {
        const auto axis = std::find(report.figures.axes.begin(), report.figures.axes.end(), set.axis);
        const auto& largest = report.figures.largest;
        result_.findings.push_back(catalogue::uneven_error(
            {report.node, report.tensor, report.run,
             report.names[static_cast<size_t>(axis - report.figures.axes.begin())], to_string(set), set.share, set.fair,
             set.reference_share, !largest.empty() && largest.front().device_only > 0}));
      }
    return {};
  }

  // The model with every decision fed from the reference: near ties must not turn rounding into an effect. So are
  // random numbers, seeded ones too: one session runs many times, and draws anew each time.
  Result<onnx_model::Model> with_decisions(NamedTensors& inputs) const {
    std::vector<std::string> tensors;
    for (const DecisionReport& decision : evidence_.decisions) tensors.push_back(decision.tensor);
    add_drawn(*evidence_.prepared, evidence_.reference, tensors);
    return feed_from_reference(evidence_.prepared->folded, tensors, evidence_.reference, inputs);
  }

  Sensitivities inject(const Deviation& deviation, LocateRunners& runners) {
    if (deviation.targets.empty() && !request_.inject_largest) return {};
    result_.injected_largest = request_.inject_largest;
    if (request_.progress) request_.progress("injecting local errors into the reference");
    auto measured = measure(deviation, runners.reference, runners.scratch.path());
    if (!measured) {
      result_.notes.push_back("errors could not be injected: " + measured.error().message());
      return {};
    }
    if (!measured->complete && measured->runs > 0)
      result_.notes.push_back(request_.injection_runs
                                  ? fmt::format("injection stopped after {} runs (the budget)", measured->runs)
                                  : fmt::format("injection stopped after {} runs, {:.1f} s (the budget)",
                                                measured->runs, measured->seconds));
    if (measured->limited)
      result_.notes.push_back("only conspicuous nodes were injected: the errors of all do not fit --memory");
    result_.seconds_injection = measured->seconds;
    return std::move(*measured);
  }

  Result<Sensitivities> measure(const Deviation& deviation, Runner& reference, const Path& scratch) {
    InjectionRequest request;
    request.inputs = request_.inputs;
    PARITAS_ASSIGN(const auto model, with_decisions(request.inputs));
    PARITAS_ASSIGN(const auto index, onnx_model::GraphIndex::build(model));
    request.model = &model;
    request.index = &evidence_.prepared->index;
    request.candidates = choose_candidates(result_.nodes, evidence_.prepared->index);
    // Nodes that only fed decisions are gone.
    for (auto* list : {&request.candidates.all, &request.candidates.first, &request.candidates.suspects,
                       &request.candidates.overflowing})
      std::erase_if(*list, [&](const std::string& tensor) { return index.producer(tensor) < 0; });
    request.targets = deviation.targets;
    if (request_.inject_largest) {
      request.largest = largest_local_errors(result_.nodes, kLargestInjected);
      std::erase_if(request.largest, [&](const std::string& tensor) { return index.producer(tensor) < 0; });
      request.find_culprits = !deviation.targets.empty();
      // Nothing deviates: what each error does to the outputs is measured all the same.
      if (deviation.targets.empty())
        for (const OutputRow& row : result_.outputs)
          if (row.pair.metrics && is_float(row.pair.reference->dtype))
            request.targets.push_back({row.pair.name, INFINITY});
    }
    std::erase_if(request.targets, [&](const auto& target) { return index.producer(target.tensor) < 0; });
    request.reference = &evidence_.reference;
    request.local = &evidence_.probes.local;
    request.storage = storage();
    request.memory_budget = request_.memory_budget / 3;
    request.scratch = scratch;
    request.max_runs = request_.injection_runs;
    request.seconds = request_.injection_seconds.value_or(request_.inject_largest ? std::max(20.0, 2 * since_start())
                                                                                  : std::max(2.0, 0.5 * since_start()));
    return measure_sensitivity(reference, std::move(request));
  }

  Status search(const Sensitivities& sensitivities, LocateRunners& runners) {
    if (!request_.search) return {};
    // With further samples every session runs more than once.
    const bool once = shared_ == nullptr && request_.search->further_samples.empty();
    const auto random = random_draws(evidence_.prepared->folded, evidence_.prepared->index, request_.reference,
                                     request_.device, /*first_runs=*/once);
    for (const std::string& output : evidence_.prepared->index.outputs())
      if (const std::string why = cannot_tell(&random, output); !why.empty()) {
        result_.not_searched = fmt::format("no search was made: of \"{}\", {}", output, why);
        result_.notes.push_back(result_.not_searched);
        return {};
      }
    RestoreRequest request;
    request.prepared = &*evidence_.prepared;
    request.islands = evidence_.islands;
    for (const auto& [tensor, effect] : sensitivities.alone)
      if (effect.material()) request.suspects.push_back(tensor);
    request.gates = &request_.gates;
    request.storage = storage();
    request.max_sessions = request_.search->max_sessions;
    request.seconds = request_.search->seconds;
    request.threads = request_.threads;
    request.progress = request_.progress;
    request.samples.push_back({request_.search->sample, request_.inputs, evidence_.prepared->outputs});
    PARITAS_TRY(add_samples(request, runners.reference));
    auto found = search_restored_islands(runners.reference, runners.device, request);
    if (!found) {  // what was measured before stays
      result_.not_searched = "the search failed: " + found.error().message();
      result_.notes.push_back(result_.not_searched);
      return {};
    }
    result_.search = std::move(*found);
    result_.sessions += static_cast<uint64_t>(result_.search->device_sessions);
    explain_search(*result_.search, result_);
    return {};
  }

  Status add_samples(RestoreRequest& request, Runner& reference) const {
    if (request_.search->further_samples.empty()) return {};
    PARITAS_ASSIGN(Session session, reference.open(evidence_.prepared->folded));
    for (const auto& [id, inputs] : request_.search->further_samples) {
      PARITAS_ASSIGN(RunReply reply, session.run(inputs));
      RestoreRequest::Sample sample{id, inputs, {}};
      for (auto& [name, tensor] : reply.outputs) sample.reference.emplace(name, std::move(tensor));
      request.samples.push_back(std::move(sample));
    }
    return {};
  }

  Status add_cuts(const CutStage& cuts) {
    PARITAS_ASSIGN(result_.cross_matrices, cuts.run(request_));
    const auto& found = result_.cross_matrices->findings;
    result_.findings.insert(result_.findings.end(), found.begin(), found.end());
    return {};
  }

  // The cross matrix alone: outputs are those of the uncut model on the device.
  Result<LocateResult> only_cuts(const onnx_model::Model& model, const onnx_model::Model& pinned,
                                 const CutStage& cuts) {
    PARITAS_TRY(add_cuts(cuts));
    const CrossMatrices& matrices = *result_.cross_matrices;
    if (!matrices.whole.failure.empty())
      result_.notes.push_back("the uncut model on the device: " + matrices.whole.failure);
    take_over({});
    result_.only_cuts = true;
    result_.outputs = cuts.outputs(matrices);
    PARITAS_ASSIGN(const auto index, onnx_model::GraphIndex::build(pinned));
    explain_random(random_draws(pinned, index, request_.reference, request_.device, /*first_runs=*/true),
                   index.outputs());
    result_.placement = matrices.whole_placement;
    result_.sessions = matrices.sessions;
    describe(model, matrices.reference_identity, matrices.device_identity);
    judge();
    result_.seconds_total = since_start();
    return std::move(result_);
  }

  void judge() {
    VerdictBuilder builder;
    if (result_.cross_matrices)
      for (const CrossMatrix& matrix : result_.cross_matrices->cuts)
        if (matrix.verdict == Verdict::kInvalid)
          builder.invalid(
              fmt::format("cut \"{}\": {}", matrix.name, matrix.reasons.empty() ? "" : matrix.reasons.front()));
    if (result_.only_cuts && result_.outputs.empty()) builder.not_judged("the device could not run the uncut model");
    for (const OutputRow& row : result_.outputs) {
      const std::string reason = row.pair.name + ": " + row.pair.rule;
      builder.add(row.pair.verdict, reason);
    }
    for (const Gate& gate : request_.gates.gates)
      if (!gate.task.empty())
        builder.not_judged(fmt::format("\"{}\" is on a task: paritas check judges it", gate.text()));
    result_.verdict = builder.verdict();
    result_.reasons = builder.reasons();
  }

  const LocateRequest& request_;
  LocateRunners* shared_;  // null: runners are started here
  Clock::time_point start_;
  std::vector<GroupRequest> groups_;
  Evidence evidence_;
  onnx_model::RandomDependence random_;  // of the folded model; empty until it was run
  LocateResult result_;
};

}  // namespace

Status check_search(const LocateRequest& request) {
  if (!request.search) return {};
  if (request.gates.empty())
    return usage_error("--search", "no gate says what must hold", "declare it, e.g. --gate 'scores: cosine>=0.99'");
  if (request.cuts.only)
    return usage_error("--only-cuts", "the search is part of the rest of the diagnosis", "leave away one of them");
  return {};
}

Result<LocateRunners> start_runners(const LocateRequest& request) {
  PARITAS_ASSIGN(ScratchFolder scratch, ScratchFolder::create(request.scratch_root));
  auto start = [&](const char* role, const Target& target) {
    return Runner::start_in(scratch.path(), role, target, request.worker);
  };
  auto device = std::async(std::launch::async, start, "device", std::cref(request.device));
  auto probes = std::async(std::launch::async, start, "probes", std::cref(request.device));
  auto reference = start("reference", request.reference);
  auto device_result = device.get();
  auto probes_result = probes.get();
  PARITAS_TRY(reference);
  PARITAS_TRY(device_result);
  PARITAS_TRY(probes_result);
  return LocateRunners{std::move(scratch), std::move(*reference), std::move(*device_result), std::move(*probes_result)};
}

Result<LocateResult> locate(const LocateRequest& request) { return Locating(request, nullptr).run(); }

Result<LocateResult> locate_with(LocateRunners& runners, const LocateRequest& request) {
  return Locating(request, &runners).run();
}

}  // namespace paritas
