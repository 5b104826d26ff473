#include "paritas/locate/inject.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <unordered_set>

#include <fmt/format.h>

#include "paritas/base/glob.h"
#include "paritas/judge/catalogue_experiments.h"
#include "paritas/locate/decisions.h"
#include "paritas/locate/error_tensor.h"
#include "paritas/locate/figures.h"
#include "paritas/locate/gather.h"
#include "paritas/locate/random_draws.h"
#include "paritas/runtime/run_info.h"
#include "paritas/runtime/sim/simulate.h"

namespace paritas {
namespace {

std::string quoted_list(const std::vector<std::string>& names) {
  std::string out;
  for (size_t i = 0; i < names.size() && i < 8; ++i) out += (i == 0 ? "\"" : ", \"") + names[i] + "\"";
  return names.size() > 8 ? out + fmt::format(" and {} more", names.size() - 8) : out;
}

// Below this the reference's own movement is float32 rounding.
constexpr double kNotableNoise = 1e-11;

// A tensor and what is added to it.
struct Placed {
  const Injection* injection = nullptr;
  std::string tensor;
};

class Injecting {
 public:
  explicit Injecting(const InjectRequest& request) : request_(request), start_(std::chrono::steady_clock::now()) {}

  Result<InjectResult> run() {
    for (const Target* target : {&request_.base.reference, &request_.base.device})
      PARITAS_TRY(needs_parts(*target, "inject"));
    PARITAS_ASSIGN(const auto given, onnx_model::Model::load(request_.base.model));
    PARITAS_TRY(check_inputs(given, request_.base.inputs));
    PARITAS_TRY(check_gates(given));
    PARITAS_ASSIGN(const auto model, pin_to_inputs(given, request_.base.inputs, request_.base.dims, nullptr));
    PARITAS_ASSIGN(ScratchFolder scratch, ScratchFolder::create(request_.base.scratch_root));
    scratch_.emplace(std::move(scratch));
    PARITAS_ASSIGN(Runner reference, start("reference", request_.base.reference));
    PARITAS_TRY(gather_evidence(model, reference));
    describe(given, reference);
    PARITAS_ASSIGN(const auto placed, place());
    PARITAS_TRY(experiment(reference, placed));
    explain();
    result_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    return std::move(result_);
  }

 private:
  const std::unordered_map<std::string, Tensor>& tensors() const { return evidence_.reference; }
  const Prepared& prepared() const { return *evidence_.prepared; }

  Result<Runner> start(const char* role, const Target& target) const {
    return Runner::start_in(scratch_->path(), role, target, request_.base.worker);
  }

  Status check_gates(const onnx_model::Model& model) {
    std::vector<GateSubject> subjects;
    for (const auto& output : onnx_model::describe_outputs(model))
      subjects.emplace_back(output.name, Role::kOutput, "", output.dtype);
    PARITAS_ASSIGN(const auto notes, check_gates_match(request_.base.gates, subjects, kNoRolesHere));
    result_.notes.insert(result_.notes.end(), notes.begin(), notes.end());
    return {};
  }

  Status gather_evidence(const onnx_model::Model& model, Runner& reference) {
    if (!request_.with_device) return reference_alone(model, reference);
    auto other = std::async(std::launch::async, [this] { return start("probes", request_.base.device); });
    auto device = start("device", request_.base.device);
    auto probes = other.get();
    PARITAS_TRY(device);
    PARITAS_TRY(probes);
    PARITAS_ASSIGN(Gathering gathering, gather(request_.base, model, reference, *device, *probes));
    evidence_ = std::move(gathering.evidence);
    result_.notes.insert(result_.notes.end(), gathering.notes.begin(), gathering.notes.end());
    PARITAS_ASSIGN(result_.observed, make_outputs(evidence_, request_.base.gates, storage(), request_.base.threads));
    random_ = random_draws(prepared().folded, prepared().index, request_.base.reference, request_.base.device,
                           /*first_runs=*/true);
    for (OutputRow& row : result_.observed) withhold_random(&random_, row.pair);
    if (auto finding = random_finding(random_, prepared().index.outputs()))
      result_.findings.push_back(std::move(*finding));
    return {};
  }

  Status reference_alone(const onnx_model::Model& model, Runner& reference) {
    PARITAS_ASSIGN(evidence_.prepared, prepare(model, request_.base.inputs, reference));
    MarkedRequest marked;
    marked.model = &prepared().folded;
    marked.inputs = request_.base.inputs;
    marked.memory_budget = request_.base.memory_budget / 2;
    for (const auto& node : prepared().index.nodes())
      for (const auto& output : node.outputs)
        if (prepared().dependence.depends(output) && !prepared().index.is_output(output))
          marked.marks.push_back(output);
    PARITAS_ASSIGN(MarkedRun run, run_marked(reference, marked));
    evidence_.reference = std::move(run.tensors);
    return {};
  }

  std::optional<DType> storage() const {
    return request_.with_device ? request_.base.device.capabilities.storage_type : std::nullopt;
  }

  void describe(const onnx_model::Model& model, Runner& reference) {
    result_.model = request_.base.model.string();
    result_.reference = request_.base.reference.spec.text;
    if (request_.with_device) result_.device = request_.base.device.spec.text;
    result_.reference_info = make_run_info(model, request_.base.reference, reference.worker().identity());
    result_.reference_info.tool_version = request_.base.tool_version;
    for (const Gate& gate : request_.base.gates.gates) result_.gate_texts.push_back(gate.text());
    result_.gates_sha256 = request_.base.gates.sha256;
    result_.fed_decisions = request_.feed_decisions;
  }

  Result<std::vector<Placed>> place() const {
    std::vector<Placed> placed;
    std::unordered_set<std::string> seen;
    for (const Injection& injection : request_.injections) {
      PARITAS_ASSIGN(const auto names, resolve_injected(injection.tensors, prepared(), tensors()));
      for (const std::string& tensor : names) {
        if (!request_.each && !seen.insert(tensor).second)
          return usage_error(injection.text, fmt::format("\"{}\" is injected twice in one experiment", tensor),
                             "name it once, or make every tensor an experiment of its own with --each");
        placed.push_back({&injection, tensor});
      }
    }
    return placed;
  }

  Result<Tensor> error_for(const Placed& placed) const {
    const Injection& injection = *placed.injection;
    const Tensor& reference = tensors().at(placed.tensor);
    switch (injection.mode) {
      case InjectionMode::kLocal:
      case InjectionMode::kDifference: {
        PARITAS_TRY(refuse_draws(placed.tensor, /*alone=*/true));
        const auto local = evidence_.probes.local.find(placed.tensor);
        if (local == evidence_.probes.local.end())
          return input_error(placed.tensor, "its island was not probed on the device" + why_not(placed.tensor),
                             "inject \"accumulated\" or another tensor");
        return error_of(reference, local->second, storage(), injection.amount);
      }
      case InjectionMode::kAccumulated: {
        PARITAS_TRY(refuse_draws(placed.tensor, /*alone=*/false));
        const auto device = evidence_.marked.tensors.find(placed.tensor);
        if (device == evidence_.marked.tensors.end() || device->second.shape != reference.shape)
          return input_error(placed.tensor, "the device did not hand it out");
        return error_of(reference, device->second, storage(), injection.amount);
      }
      case InjectionMode::kRound:
        return rounding_error(reference, injection.format);
      case InjectionMode::kNoise:
        return noise(reference, injection.amount, injection.seed);
      case InjectionMode::kOffset:
        return offset(reference, injection.amount);
    }
    return input_error(placed.tensor, "no such mode");
  }

  // What the device made there differs by the draw. `alone`: only its own island ran, fed with the reference's tensors.
  Status refuse_draws(const std::string& tensor, bool alone) const {
    const bool drawn = std::find(random_.drawn.begin(), random_.drawn.end(), tensor) != random_.drawn.end();
    if (alone ? !drawn : !random_.depends(tensor)) return {};
    return input_error(tensor, "the device's error there is not known: " + cannot_tell(&random_, tensor),
                       "inject at a tensor that does not depend on it");
  }

  // Tensors inside a fused group of the device have no local result of their own.
  std::string why_not(const std::string& tensor) const {
    const int producer = prepared().index.producer(tensor);
    for (const auto& island : evidence_.islands) {
      if (std::find(island.nodes.begin(), island.nodes.end(), producer) == island.nodes.end()) continue;
      if (const auto reason = evidence_.probes.not_probed.find(island.name);
          reason != evidence_.probes.not_probed.end())
        return ": " + reason->second;
      return fmt::format(": it lies inside what the device runs as one operation, \"{}\", which hands out {}",
                         island.name, quoted_list(island.outputs));
    }
    return "";
  }

  // The reference's model in which errors can be added at these tensors.
  Result<onnx_model::Model> perturbable(const std::vector<Placed>& placed, NamedTensors& inputs) {
    std::vector<std::string> fed;
    if (request_.feed_decisions)
      for (const DecisionPoint& point : find_decisions(prepared(), tensors())) fed.push_back(point.tensor);
    add_drawn(prepared(), tensors(), fed);  // else each run of the session draws its own
    for (const Placed& each : placed)
      if (std::find(fed.begin(), fed.end(), each.tensor) != fed.end())
        return input_error(each.tensor,
                           "holds random numbers, which are fed to every run: nothing can be added to them",
                           "inject behind what reads them");
    PARITAS_ASSIGN(const auto model, feed_from_reference(prepared().folded, fed, tensors(), inputs));
    std::vector<std::string> names;
    for (const Placed& each : placed)
      if (std::find(names.begin(), names.end(), each.tensor) == names.end()) names.push_back(each.tensor);
    return make_perturbable(model, names);
  }

  Status experiment(Runner& reference, const std::vector<Placed>& placed) {
    NamedTensors inputs = request_.base.inputs;
    PARITAS_ASSIGN(auto model, perturbable(placed, inputs));
    std::vector<DecisionPoint> points;
    if (!request_.feed_decisions) points = find_decisions(prepared(), tensors());
    std::vector<std::string> marks;
    for (const DecisionPoint& point : points) marks.push_back(point.tensor);
    PARITAS_ASSIGN(model, onnx_model::mark_outputs(model, marks));
    PARITAS_ASSIGN(Session session, reference.open(model));
    // What the same session gives without errors is what is compared with: marks and Perturb nodes may move the
    // optimiser.
    PARITAS_ASSIGN(RunReply base, session.run(inputs));
    base_.clear();
    for (auto& [name, tensor] : base.outputs) base_.emplace(name, std::move(tensor));
    PARITAS_TRY(note_noise());
    for (size_t i = 0; i < placed.size();) {
      const size_t count = request_.each ? 1 : placed.size();
      PARITAS_TRY(one_experiment(session, inputs, std::span(placed).subspan(i, count), points));
      i += count;
    }
    return {};
  }

  Status note_noise() {
    for (const auto& [name, tensor] : prepared().outputs) {
      const auto here = base_.find(name);
      if (here == base_.end() || here->second.shape != tensor.shape || !is_float(tensor.dtype)) continue;
      PARITAS_ASSIGN(const PairMetrics m, compare_tensors(tensor, here->second, {}));
      if (m.nmse > kNotableNoise)
        result_.notes.push_back(
            fmt::format("\"{}\" of the edited reference differs from the plain model's without any "
                        "injection: NMSE {:.2g}; effects below that show nothing",
                        name, m.nmse));
    }
    return {};
  }

  Status one_experiment(Session& session, const NamedTensors& inputs, std::span<const Placed> placed,
                        const std::vector<DecisionPoint>& points) {
    if (request_.base.progress) request_.base.progress(fmt::format("experiment {}", result_.experiments.size() + 1));
    InjectionExperiment experiment;
    NamedTensors errors;
    for (const Placed& each : placed) {
      PARITAS_ASSIGN(Tensor error, error_for(each));
      PARITAS_ASSIGN(auto described, describe_injected(each, error));
      experiment.injected.push_back(std::move(described));
      errors.emplace_back(each.tensor, std::move(error));
    }
    PARITAS_ASSIGN(const RunReply reply, session.run_with_errors(inputs, {}, errors));
    PARITAS_ASSIGN(experiment.outputs, judge_outputs({&prepared().index, &base_, &reply.outputs}, request_.base.gates,
                                                     storage(), request_.base.threads));
    experiment.equal = std::all_of(experiment.outputs.begin(), experiment.outputs.end(), [](const OutputRow& row) {
      return row.pair.metrics && row.pair.metrics->differing == 0;
    });
    for (const DecisionPoint& point : points) {
      const auto base = base_.find(point.tensor);
      const auto moved = std::find_if(reply.outputs.begin(), reply.outputs.end(),
                                      [&](const auto& output) { return output.first == point.tensor; });
      if (base == base_.end() || moved == reply.outputs.end()) continue;
      PARITAS_ASSIGN(auto report, compare_decision(prepared().index.nodes()[static_cast<size_t>(point.node)],
                                                   point.tensor, base->second, moved->second));
      experiment.decisions.push_back(std::move(report));
    }
    VerdictBuilder verdict;
    for (const OutputRow& row : experiment.outputs) {
      if (row.pair.verdict == Verdict::kInvalid) verdict.invalid(row.pair.name);
      if (row.pair.verdict == Verdict::kDeviates) verdict.deviates(row.pair.name);
      if (row.pair.verdict == Verdict::kNotJudged) verdict.not_judged(row.pair.name);
      if (row.pair.verdict == Verdict::kPass) verdict.passed(row.pair.name);
    }
    experiment.verdict = verdict.verdict();
    result_.experiments.push_back(std::move(experiment));
    return {};
  }

  Result<InjectedTensor> describe_injected(const Placed& placed, const Tensor& error) const {
    const Tensor& reference = tensors().at(placed.tensor);
    PARITAS_ASSIGN(const TensorView x, TensorView::of(reference));
    PARITAS_ASSIGN(const TensorView e, TensorView::of(error));
    std::vector<double> values(x.count()), errors(x.count());
    load_as_double(x.dtype(), x.bytes(), 0, values);
    load_as_double(e.dtype(), e.bytes(), 0, errors);
    InjectedTensor made;
    made.tensor = placed.tensor;
    made.node = prepared().index.nodes()[static_cast<size_t>(prepared().index.producer(placed.tensor))].name;
    made.mode = placed.injection->text.substr(placed.injection->text.rfind(": ") + 2);
    double energy = 0, error_energy = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      if (!std::isfinite(values[i])) continue;
      if (!std::isfinite(errors[i])) {
        ++made.nonfinite;
        continue;
      }
      energy += values[i] * values[i];
      error_energy += errors[i] * errors[i];
      made.max_abs = std::max(made.max_abs, std::abs(errors[i]));
    }
    made.nmse = energy > 0 ? error_energy / energy : error_energy > 0 ? INFINITY : 0;
    return made;
  }

  void explain() {
    for (const InjectionExperiment& experiment : result_.experiments) {
      catalogue::InjectionFacts facts;
      for (const InjectedTensor& tensor : experiment.injected) {
        facts.nodes.push_back(tensor.node);
        facts.tensors.push_back(tensor.tensor);
        facts.nmse = std::max(facts.nmse, tensor.nonfinite > 0 ? INFINITY : tensor.nmse);
      }
      facts.mode = experiment.injected.front().mode;
      facts.device = result_.device;
      facts.equal = experiment.equal;
      facts.gated = std::any_of(experiment.outputs.begin(), experiment.outputs.end(),
                                [](const OutputRow& row) { return row.pair.gated; });
      for (const OutputRow& row : experiment.outputs) {
        if (row.pair.verdict == Verdict::kDeviates || row.pair.verdict == Verdict::kInvalid) {
          facts.broken.push_back(row.pair.name + ": " + row.pair.rule);
        }
        if (row.pair.metrics && !row.class_ids()) {
          const PairMetrics& m = *row.pair.metrics;
          facts.output_nmse = std::max(facts.output_nmse, m.nonfinite.device_only > 0 ? INFINITY : m.nmse);
        }
      }
      for (const DecisionReport& decision : experiment.decisions) facts.decisions_changed += decision.changed();
      result_.findings.push_back(catalogue::injection(facts));
    }
  }

  const InjectRequest& request_;
  std::chrono::steady_clock::time_point start_;
  std::optional<ScratchFolder> scratch_;
  Evidence evidence_;
  onnx_model::RandomDependence random_;           // of a run on the device
  std::unordered_map<std::string, Tensor> base_;  // outputs and decisions of the session without errors
  InjectResult result_;
};

}  // namespace

Result<std::vector<std::string>> resolve_injected(const std::string& pattern, const Prepared& prepared,
                                                  const std::unordered_map<std::string, Tensor>& reference) {
  std::vector<std::string> fitting, by_suffix;
  const bool is_pattern = pattern.find_first_of("*?") != std::string::npos;
  for (const auto& node : prepared.index.nodes())
    for (const std::string& output : node.outputs) {
      const auto tensor = reference.find(output);
      if (tensor == reference.end() || !is_float(tensor->second.dtype) || !prepared.dependence.depends(output))
        continue;
      if (is_pattern ? glob_match(pattern, output) || glob_match(pattern, node.name)
                     : pattern == output || pattern == node.name)
        fitting.push_back(output);
      else if (!is_pattern && (output.ends_with(pattern) || node.name.ends_with(pattern)))
        by_suffix.push_back(output);
    }
  const bool names_a_tensor = !is_pattern && std::find(fitting.begin(), fitting.end(), pattern) != fitting.end();
  const int producer = names_a_tensor ? prepared.index.producer(pattern) : -1;
  for (const std::string& tensor : fitting)
    if (names_a_tensor && prepared.index.producer(tensor) != producer)
      return usage_error(pattern, fmt::format("is a tensor, and the name of the node that makes \"{}\"", tensor),
                         "rename the node, or write a pattern with * that fits only what is meant");
  if (!fitting.empty()) return fitting;
  if (by_suffix.size() == 1) return by_suffix;
  if (by_suffix.size() > 1)
    return usage_error(pattern, fmt::format("fits {} tensors: {}", by_suffix.size(), quoted_list(by_suffix)),
                       "name one of them, or write a pattern with * to inject into all");
  return usage_error(pattern, "no float tensor that depends on the input has this name",
                     "paritas inspect lists the model's tensors with --verbose; node names do as well");
}

Result<InjectResult> inject(const InjectRequest& request) { return Injecting(request).run(); }

}  // namespace paritas
