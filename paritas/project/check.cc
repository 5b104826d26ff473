#include "paritas/project/check.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "paritas/board/record_board.h"
#include "paritas/compare/conclude.h"
#include "paritas/locate/locate.h"
#include "paritas/onnx/edit.h"
#include "paritas/package/record_package.h"
#include "paritas/project/cut_tasks.h"
#include "paritas/project/plan.h"
#include "paritas/project/read_parts.h"
#include "paritas/project/recorded_inputs.h"
#include "paritas/project/reference_variants.h"
#include "paritas/project/size_probe.h"
#include "paritas/project/task_checks.h"
#include "paritas/runtime/record.h"

namespace paritas {
namespace {

using Quantisations = std::map<std::string, Quantisation>;
using Renames = std::map<std::string, std::string>;

// Gates of the comparison: those on tasks are judged here, and the comparison would call them not judged.
GateSet tensor_gates(const GateSet& gates) {
  GateSet kept = gates;
  kept.gates.erase(std::remove_if(kept.gates.begin(), kept.gates.end(), [](const Gate& g) { return !g.task.empty(); }),
                   kept.gates.end());
  return kept;
}

// locate knows no declared roles: a gate on a role becomes one gate for each output that has it. What applies to no
// output of the model is left out.
GateSet output_gates(const Project& project, const std::vector<std::string>& outputs) {
  GateSet set = tensor_gates(project.gates);
  std::vector<Gate> gates;
  for (Gate& gate : set.gates)
    for (const std::string& output : outputs) {
      GateSubject subject(output);
      for (const ProjectOutput& declared : project.outputs)
        if (declared.name == output) subject.declared_role = declared.role;
      if (!gate.matches(subject)) continue;
      Gate exact = gate;
      exact.tensor = output;
      exact.role.clear();
      gates.push_back(std::move(exact));
    }
  set.gates = std::move(gates);
  return set;
}

class Check {
 public:
  Check(const CheckRequest& request, CheckPlan plan, Path scratch)
      : request_(request), scratch_(std::move(scratch)), plan_(std::move(plan)) {}

  Result<CheckResult> run() {
    begin_result();
    if (plan_.project.runs_anything()) {
      worker_ = request_.worker;
      if (needs_onnxruntime()) {
        PARITAS_ASSIGN(const OrtLibrary library, find_onnxruntime(request_.search));
        worker_.onnxruntime = library.path;
      }
    }
    sides_ = {{"reference", &plan_.reference, Feed::kDeclared, {}, {}},
              {"device", &plan_.device, Feed::kDeclared, {}, {}}};
    for (FurtherSide& further : plan_.further) sides_.push_back({further.name, &further.side, further.feed, {}, {}});
    for (const Side& side : sides_) PARITAS_TRY(run_side(side.name, *side.planned, plan_.inputs.of(side.feed)));
    for (size_t i = 1; i < sides_.size(); ++i) PARITAS_TRY(pair_side(sides_[i]));
    PARITAS_ASSIGN(result_.comparison, compare(0, 1));
    PARITAS_TRY(hold_against_variants());
    VerdictBuilder inputs, tasks;
    PARITAS_TRY(judge_declared_inputs(inputs));
    PARITAS_ASSIGN(result_.tasks, run_tasks(0, 1));
    PARITAS_TRY(judge_tasks(plan_.project.gates, result_.tasks, tasks));
    leave_to_tasks(result_.comparison, result_.tasks);
    builder_.add(conclude(result_.comparison));
    builder_.add(inputs);
    builder_.add(tasks);
    judge_what_stayed();
    if (!plan_.further.empty()) PARITAS_TRY(take_all_sides());
    for (const Side& side : sides_) side.planned->open.stream = nullptr;  // steps need their memory
    for (const ProjectStep& step : plan_.project.steps) PARITAS_TRY(run_step(step));
    result_.verdict = builder_.verdict();
    result_.reasons = builder_.reasons();
    result_.deciding = builder_.deciding();
    return std::move(result_);
  }

 private:
  struct Side {
    std::string name;
    PlannedSide* planned;
    Feed feed;
    Quantisations quantisation;  // declared, by this side's names
    Renames renames;             // this side's names in the reference's words
  };

  bool needs_onnxruntime() const {
    const auto needs = [](const PlannedSide& side) {
      return side.package || (side.target && side.target->runtime == RuntimeKind::kOnnxRuntime);
    };
    return needs(plan_.reference) || needs(plan_.device) ||
           std::any_of(plan_.further.begin(), plan_.further.end(), [&](const FurtherSide& f) { return needs(f.side); });
  }

  void begin_result() {
    const Project& project = plan_.project;
    result_.project = project.subject;
    result_.project_sha256 = project.sha256;
    result_.gates_sha256 = project.gates.sha256;
    result_.reference = plan_.reference.open.subject;
    result_.device = plan_.device.open.subject;
    result_.inputs = plan_.inputs.records;
    result_.probes = plan_.probes;
    result_.notes = plan_.notes;
    if (project.gates.empty()) result_.notes.emplace_back("no gates were declared: nothing can pass");
  }

  void progress(const std::string& stage) const {
    if (request_.progress) request_.progress(stage);
  }

  // What a run came to, as a side.
  Status take_run(const std::string& which, PlannedSide& side, Result<RunInfo> info) {
    if (info) return open_side(side.open);
    if (info.error().subject.empty()) info.error().subject = fmt::format("the {} ({})", which, side.open.subject);
    return tl::make_unexpected(std::move(info).error());
  }

  Status run_package(const std::string& which, PlannedSide& side, const std::vector<NamedTensors>& samples) {
    RecordPackageRequest request;
    request.package = &*side.package;
    request.samples = samples;
    request.search = request_.search;
    request.output = side.open.path;
    request.worker = worker_;
    request.scratch_root = scratch_;
    request.tool_version = request_.tool_version;
    request.progress = [&](const std::string& stage) { progress(fmt::format("{}: {}", which, stage)); };
    return take_run(which, side, record_package(request));
  }

  Status run_board(const std::string& which, PlannedSide& side, const std::vector<NamedTensors>& samples) {
    RecordBoardRequest request;
    request.board = &*side.board;
    request.allow_exec = request_.allow_exec;
    request.model = side.model;
    request.samples = samples;
    request.environment = request_.environment;
    request.output = side.open.path;
    request.scratch_root = scratch_;
    request.tool_version = request_.tool_version;
    request.progress = [&](const std::string& stage) { progress(fmt::format("{}: {}", which, stage)); };
    return take_run(which, side, record_on_board(request));
  }

  Status run_side(const std::string& which, PlannedSide& side, const std::vector<NamedTensors>& samples) {
    if (side.package) return run_package(which, side, samples);
    if (side.board) return run_board(which, side, samples);
    if (!side.target) return {};
    RecordRequest record_request;
    record_request.model = side.model;
    record_request.samples = samples;
    record_request.dims = plan_.project.model.dims;
    record_request.target = *side.target;
    record_request.marks = plan_.project.marks;
    record_request.output = side.open.path;
    record_request.worker = worker_;
    record_request.scratch_root = scratch_;
    record_request.memory_budget = request_.memory_budget;
    record_request.tool_version = request_.tool_version;
    record_request.progress = [&](const std::string& stage) { progress(fmt::format("{}: {}", which, stage)); };
    return take_run(which, side, record(record_request));
  }

  // Names of a side's tensors in the reference's words, and the declared quantisation for both.
  Status pair_side(Side& side) {
    const OpenSide &reference = plan_.reference.open, &other = side.planned->open;
    std::vector<std::string> names[2];
    const OpenSide* sides[] = {&reference, &other};
    for (int k = 0; k < 2; ++k)
      for (const TensorInfo& tensor : sides[k]->info().tensors) names[k].push_back(tensor.name);
    PARITAS_ASSIGN(const Pairing pairing,
                   pair_names(names[0], names[1], plan_.project.pairing, reference.subject, other.subject));
    for (const NamePair& pair : pairing.pairs) side.renames[pair.device] = pair.reference;
    // What was not paired must not answer to a name that another tensor now has.
    for (const std::string& name : pairing.unmatched_device)
      if (holds_value(side.renames, name)) side.renames[name] = name + " (unmatched)";
    for (const ProjectOutput& output : plan_.project.outputs) {
      if (!output.quantisation) continue;
      sides_.front().quantisation[output.name] = *output.quantisation;
      for (const NamePair& pair : pairing.pairs)
        if (pair.reference == output.name) side.quantisation[pair.device] = *output.quantisation;
    }
    return {};
  }

  static bool holds_value(const Renames& renames, const std::string& name) {
    return std::any_of(renames.begin(), renames.end(), [&](const auto& entry) { return entry.second == name; });
  }

  // Side `b` against side `a`. Gates are on what is compared with the reference; other pairs speak its words on both
  // sides, so that they are paired by name.
  Result<CompareResult> compare(size_t a, size_t b) {
    CompareOptions options = compare_options(a);
    options.progress = [&](uint64_t done, uint64_t total) { progress(fmt::format("{} of {} tensors", done, total)); };
    const auto reference = a == 0 ? reference_view() : renamed_view(sides_[a]);
    const auto device = a == 0 ? view(sides_[b].planned->open, sides_[b].quantisation, {}) : renamed_view(sides_[b]);
    PARITAS_ASSIGN(CompareResult compared, compare_samples(*reference, *device, options));
    // The project's own note says more.
    auto& notes = compared.notes;
    notes.erase(std::remove(notes.begin(), notes.end(), "no gates were declared"), notes.end());
    return compared;
  }

  CompareOptions compare_options(size_t a) const {
    const Project& project = plan_.project;
    CompareOptions options;
    if (a == 0) options.gates = tensor_gates(project.gates);
    options.gates.nonfinite = project.gates.nonfinite;
    if (a == 0) options.pairing = project.pairing;
    for (const ProjectOutput& output : project.outputs)
      if (!output.role.empty()) options.roles[output.name] = output.role;
    options.input_rules = input_rules();
    options.ranked = project.ranked;
    options.inputs_unverified = project.inputs_unverified;
    options.threads = request_.threads;
    return options;
  }

  std::unique_ptr<SampleStream> reference_view() const {
    return view(plan_.reference.open, sides_.front().quantisation, {});
  }

  static std::unique_ptr<SampleStream> renamed_view(const Side& side) {
    return view(side.planned->open, side.quantisation, side.renames);
  }

  std::map<std::string, QuantisationRule> input_rules() const {
    std::map<std::string, QuantisationRule> rules;
    for (const ProjectInput& input : plan_.project.inputs)
      if (input.quantisation) rules[input.name] = *input.quantisation;
    return rules;
  }

  // What is run is fed with the declared inputs; of two recordings each must have been.
  Status judge_declared_inputs(VerdictBuilder& builder) {
    if (plan_.project.runs_anything() || !plan_.project.declares_inputs()) return {};
    progress("declared inputs");
    const std::pair<const char*, std::unique_ptr<SampleStream>> sides[] = {{"reference", reference_view()},
                                                                           {"device", renamed_view(sides_[1])}};
    for (const auto& [side, stream] : sides) {
      PARITAS_ASSIGN(const RecordedInputs held,
                     hold_against_declared(plan_.inputs.samples, input_rules(), *stream, side));
      for (const std::string& text : held.differing) builder.invalid(text);
      for (TensorComparison& tensor : result_.comparison.tensors)
        if (held.samples.count(tensor.sample) != 0) leave_unjudged(tensor);
      for (const std::string& name : held.absent) {
        const std::string text = fmt::format("{}: declared, but not recorded by the {}", name, side);
        if (plan_.project.inputs_unverified)
          result_.notes.push_back(text + ": it is assumed to be equal, as asked");
        else
          builder.not_judged(text);
      }
    }
    return {};
  }

  Result<std::vector<TaskResult>> run_tasks(size_t a, size_t b) {
    TaskInputs inputs;
    inputs.view_reference = [&, this] { return a == 0 ? reference_view() : renamed_view(sides_[a]); };
    inputs.view_device = [&, this] { return renamed_view(sides_[b]); };
    inputs.command.folder = plan_.files.folder;
    inputs.command.scratch = scratch_;
    for (const auto& [name, side] : {std::pair("reference", a), std::pair("device", b)})
      inputs.command.values.emplace_back(name, std::filesystem::absolute(sides_[side].planned->open.path).string());
    inputs.allow_exec = request_.allow_exec;
    std::vector<TaskResult> results;
    for (const ProjectTask& task : plan_.project.tasks) {
      progress(fmt::format("task {}", task.name));
      inputs.labels = plan_.labels[task.name];
      PARITAS_ASSIGN(TaskResult result, run_task(task, inputs));
      results.push_back(std::move(result));
    }
    return results;
  }

  // Rows behind a TopK keep no order, so that no metric of tensors fits boxes and labels: an output that nothing
  // refused and no gate covers is covered by a task that reads it, when gates were applied to that task. Whether they
  // hold is the task's own part of the verdict.
  void leave_to_tasks(CompareResult& comparison, const std::vector<TaskResult>& results) const {
    for (TensorComparison& tensor : comparison.tensors) {
      if (tensor.role != Role::kOutput || tensor.gated || !tensor.compared() || tensor.rule != "no gate covers it")
        continue;
      for (size_t i = 0; i < results.size(); ++i) {
        const ProjectTask& task = plan_.project.tasks[i];
        if (std::find(task.outputs.begin(), task.outputs.end(), tensor.name) == task.outputs.end()) continue;
        if (results[i].gates.empty() || !compares_sides(task, plan_.project.gates)) continue;
        tensor.verdict = Verdict::kPass;
        tensor.rule = fmt::format("left to the task \"{}\"", task.name);
        break;
      }
    }
  }

  // A library or a model that was exchanged while it ran makes every figure one of something else.
  void judge_what_stayed() {
    for (const Side& side : sides_) {
      const RunInfo& info = side.planned->open.info();
      const std::pair<std::string, std::pair<std::string, std::string>> hashes[] = {
          {info.runtime.path, {info.runtime.sha256_before, info.runtime.sha256_after}},
          {info.provider_library.path, {info.provider_library.sha256_before, info.provider_library.sha256_after}},
          {info.model_path, {info.model_sha256, info.model_sha256_after}}};
      for (const auto& [path, hash] : hashes)
        if (!hash.first.empty() && !hash.second.empty() && hash.first != hash.second)
          builder_.invalid(fmt::format("{}: {} changed while it ran", side.name, path));
    }
  }

  // A quantised reference has two answers: what lies between them cannot be told from a fault.
  Status hold_against_variants() {
    if (!plan_.reference.target) return {};
    progress("reference: its other answer, if it holds QDQ pairs");
    VariantsRequest request;
    request.model = plan_.reference.model;
    request.dims = plan_.project.model.dims;
    request.reference = *plan_.reference.target;
    request.samples = &plan_.inputs.samples;
    request.view_reference = [this] { return reference_view(); };
    request.view_device = [this] { return renamed_view(sides_[1]); };
    request.worker = worker_;
    request.scratch = scratch_;
    request.options = compare_options(0);
    request.options.pairing = {};  // both speak the reference's words
    PARITAS_ASSIGN(result_.reference_variants, measure_variants(request));
    if (!result_.reference_variants) return {};
    if (!result_.reference_variants->failed.empty() && !request.options.gates.empty())
      builder_.not_judged(fmt::format("the reference's other answer ({}) could not be had: {}",
                                      result_.reference_variants->other, result_.reference_variants->failed));
    judge_variants(request.options.gates, *result_.reference_variants, result_.comparison);
    return {};
  }

  // Every pair of all sides. What is compared with the reference is judged as the device is.
  Status take_all_sides() {
    AllSides all;
    std::vector<std::string> names;
    for (const Side& side : sides_) {
      all.sides.push_back({side.name, side.planned->open.subject, side.planned->open.info()});
      names.push_back(side.name);
    }
    for (const CheckedInput& input : result_.inputs)
      for (size_t i = 0; input.fed.empty() && input.tensors.size() > 1 && i < input.tensors.size(); ++i)
        all.files.try_emplace(fmt::format("sample-{:06}", i), input.tensors[i].file);
    std::vector<CompareResult> pairs;
    for (size_t a = 0; a < sides_.size(); ++a)
      for (size_t b = a + 1; b < sides_.size(); ++b) {
        if (a == 0 && b == 1) {
          pairs.push_back(result_.comparison);
          all.tasks.push_back(result_.tasks);
          continue;
        }
        progress(fmt::format("{} / {}", names[a], names[b]));
        PARITAS_ASSIGN(CompareResult compared, compare(a, b));
        PARITAS_ASSIGN(std::vector<TaskResult> tasks, run_tasks(a, b));
        if (a == 0) {
          if (result_.reference_variants)
            judge_variants(tensor_gates(plan_.project.gates), *result_.reference_variants, compared);
          PARITAS_TRY(judge_further(names[b], compared, tasks));
        } else {
          PARITAS_TRY(leave_ungated(compared, tasks));
        }
        pairs.push_back(std::move(compared));
        all.tasks.push_back(std::move(tasks));
      }
    all.many = conclude_many(std::move(names), std::move(pairs));
    result_.all_sides = std::move(all);
    return {};
  }

  // Gates are on what is compared with the reference: other pairs are measured.
  static Status leave_ungated(CompareResult& compared, std::vector<TaskResult>& tasks) {
    VerdictBuilder unused;
    PARITAS_TRY(judge_tasks(GateSet{}, tasks, unused));
    conclude(compared);
    return {};
  }

  Status judge_further(const std::string& name, CompareResult& compared, std::vector<TaskResult>& tasks) {
    VerdictBuilder judged, own;
    PARITAS_TRY(judge_tasks(plan_.project.gates, tasks, judged));
    leave_to_tasks(compared, tasks);
    own.add(conclude(compared));
    own.add(judged);
    const std::vector<std::string> reasons = own.reasons();
    for (size_t i = 0; i < own.deciding(); ++i) builder_.add(own.verdict(), fmt::format("{}: {}", name, reasons[i]));
    return {};
  }

  Status run_step(const ProjectStep& step) {
    if (const auto* probe = std::get_if<SizeProbeStep>(&step)) return run_size_probe(*probe);
    return run_locate(std::get<LocateStep>(step));
  }

  Status run_size_probe(const SizeProbeStep& step) {
    progress("size-probe");
    SizeProbeRequest request{
        step,   plan_.reference.model, plan_.project.model.dims, plan_.inputs.samples.front(), *plan_.reference.target,
        worker_};
    PARITAS_ASSIGN(const ScratchFolder scratch, ScratchFolder::create(scratch_));
    request.worker.scratch = scratch.path();
    StepResult result;
    result.type = "size-probe";
    PARITAS_ASSIGN(result.size_probe, probe_size(request, plan_.project.subject + ", step \"size-probe\""));
    const std::string reason = "size-probe: " + result.size_probe->text;
    if (result.size_probe->verdict == Verdict::kInvalid) builder_.invalid(reason);
    if (result.size_probe->verdict == Verdict::kNotJudged) builder_.not_judged(reason);
    result_.steps.push_back(std::move(result));
    return {};
  }

  CutRequest cuts_of(const LocateStep& step) const {
    CutRequest cuts;
    cuts.given_by = plan_.project.subject + ", [cuts]";
    for (const std::string& name : step.cuts)
      for (const NamedPositions& declared : plan_.project.cuts)
        if (declared.name == name) cuts.given.push_back({declared.name, declared.tensors});
    cuts.only = step.only_cuts;
    if (!cuts.any()) return cuts;
    // Labels are one a row of all samples: they fit a cell only when there is one sample.
    const auto& labels = plan_.inputs.samples.size() == 1 ? plan_.labels : decltype(plan_.labels)();
    cuts.judge_tasks =
        cell_judge(plan_.project, plan_.inputs.samples[step.sample], labels, sides_.front().quantisation);
    return cuts;
  }

  // Says where a deviation comes from; the verdict is not its own.
  Status run_locate(const LocateStep& step) {
    StepResult result;
    result.type = "locate";
    const Verdict so_far = builder_.verdict();
    if (!step.always && so_far == Verdict::kPass) {
      result.skipped = "nothing to locate: the check passes so far";
      result_.steps.push_back(std::move(result));
      return {};
    }
    if (!plan_.device.target || !plan_.reference.target) {
      result.skipped =
          plan_.device.board || plan_.reference.board
              ? "nothing can be fed into or read out of the middle of a board's command"
              : "a package has no nodes to look into: paritas locate MODEL --device package:DIR looks at its parts";
      result_.steps.push_back(std::move(result));
      return {};
    }
    LocateRequest request;
    request.model = plan_.reference.model;
    request.inputs = plan_.inputs.samples[step.sample];
    request.dims = plan_.project.model.dims;
    request.reference = *plan_.reference.target;
    request.device = *plan_.device.target;
    PARITAS_ASSIGN(const auto model, onnx_model::Model::load(request.model));
    std::vector<std::string> outputs;
    for (const auto& output : onnx_model::describe_outputs(model)) outputs.push_back(output.name);
    request.gates = output_gates(plan_.project, outputs);
    request.worker = worker_;
    request.scratch_root = scratch_;
    request.memory_budget = request_.memory_budget;
    request.threads = request_.threads;
    request.injection_seconds = step.injection_seconds;
    request.tool_version = request_.tool_version;
    request.cuts = cuts_of(step);
    request.progress = [&](const std::string& stage) { progress("locate: " + stage); };
    auto located = locate(request);
    // It only explains: a search that fails must not take the verdict with it.
    if (located)
      result.locate = std::move(*located);
    else
      result.skipped = "failed: " + located.error().message();
    result_.steps.push_back(std::move(result));
    return {};
  }

  const CheckRequest& request_;
  const Path scratch_;
  CheckPlan plan_;
  WorkerOptions worker_;
  std::vector<Side> sides_;  // reference, device, then the further ones
  VerdictBuilder builder_;
  CheckResult result_;
};

}  // namespace

Result<CheckResult> carry_out(const CheckRequest& request, CheckPlan plan, const Path& scratch) {
  return Check(request, std::move(plan), scratch).run();
}

Result<CheckResult> check(const CheckRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  PARITAS_ASSIGN(const ScratchFolder scratch, ScratchFolder::create(request.scratch_root));
  PARITAS_ASSIGN(CheckPlan plan, plan_check(request, scratch.path()));
  PARITAS_ASSIGN(CheckResult result, carry_out(request, std::move(plan), scratch.path()));
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace paritas
