#include "paritas/project/task_checks.h"

#include <algorithm>

#include <fmt/format.h>

#include "paritas/project/read_parts.h"

namespace paritas {
namespace {

using Names = std::vector<std::string>;

Names names_of(const TaskOutcome& outcome) {
  Names names;
  for (const TaskFigure& figure : outcome.figures) names.push_back(figure.name);
  for (const AbsentFigure& figure : outcome.absent) names.push_back(figure.name);
  return names;
}

// The figures that a task has whatever it is fed: those of a check of nothing. nullopt for a command.
std::optional<Names> figures_of(const ProjectTask& task) {
  if (const auto* spec = std::get_if<ClassificationSpec>(&task.spec))
    return names_of(conclude_classification(*spec, {}).outcome);
  if (const auto* spec = std::get_if<DetectionSpec>(&task.spec)) return names_of(conclude_detection(*spec, {}).outcome);
  return std::nullopt;
}

// Of its figures, where they have ranges.
RangeLookup ranges_of(bool command) {
  return [command](const std::string& figure) -> std::optional<ValueRange> {
    return command ? std::nullopt : std::optional(figure_range(figure));
  };
}

// The first figure of the gate that is not among `known`; nullptr: it has them all.
const std::string* unknown_figure(const Gate& gate, const Names& known) {
  for (const auto& all : gate.any)
    for (const Condition& condition : all)
      if (std::find(known.begin(), known.end(), condition.metric) == known.end()) return &condition.metric;
  return nullptr;
}

bool among(const std::vector<const Gate*>& gates, const Gate& gate) {
  return std::find(gates.begin(), gates.end(), &gate) != gates.end();
}

// A gate that names a task must fit it; one that reaches it by a pattern passes over tasks without its figures.
enum class Fit { kApplies, kPassedOver };
Result<Fit> fit(const Gate& gate, const std::string& task, const Names& known) {
  const std::string* unknown = unknown_figure(gate, known);
  if (unknown == nullptr) return Fit::kApplies;
  if (gate.task != task) return Fit::kPassedOver;
  return usage_error(gate.origin, fmt::format("the task \"{}\" has no figure \"{}\"", task, *unknown),
                     "it has: " + joined(known));
}

Unexpected applies_to_nothing(const Gate& gate) {
  return usage_error(gate.origin, fmt::format("no task that \"{}\" names has its figures", gate.text()),
                     "docs/task-checks.md lists the figures of each task");
}

// Of figures that do not exist and that the gate asks for, the reason and the worst of what they come to.
TaskGate absent(const Gate& gate, const TaskOutcome& outcome) {
  TaskGate judged{gate.text(), {}, Verdict::kNotJudged};
  for (const auto& all : gate.any)
    for (const Condition& condition : all)
      if (const AbsentFigure* missing = outcome.find_absent(condition.metric)) {
        judged.verdict = worse(judged.verdict, missing->verdict);
        const std::string text = fmt::format("{} could not be computed: {}", missing->name, missing->reason);
        if (judged.text.find(text) == std::string::npos) judged.text += (judged.text.empty() ? "" : "; ") + text;
      }
  return judged;
}

TaskGate judge(const Gate& gate, const TaskOutcome& outcome) {
  const GateOutcome found = evaluate_figures(gate, [&](const std::string& figure) -> std::optional<double> {
    const TaskFigure* known = outcome.find(figure);
    return known == nullptr ? std::nullopt : std::optional(known->value);
  });
  if (!found.value && !found.passed) return absent(gate, outcome);
  return {gate.text(), found.text, found.passed ? Verdict::kPass : Verdict::kDeviates};
}

}  // namespace

Result<std::vector<std::string>> check_task_gates(const GateSet& gates, const std::vector<ProjectTask>& tasks) {
  std::vector<std::string> notes;
  Names declared;
  for (const ProjectTask& task : tasks) declared.push_back(task.name);
  for (const Gate& gate : gates.gates) {
    if (gate.task.empty()) continue;
    bool reached = false, applies = false;
    for (const ProjectTask& task : tasks) {
      if (!among(gates.for_task(task.name), gate)) continue;
      reached = true;
      const auto known = figures_of(task);
      if (!known) {
        applies = true;  // or so it may turn out
        continue;
      }
      PARITAS_ASSIGN(const Fit fits, fit(gate, task.name, *known));
      applies |= fits == Fit::kApplies;
      if (fits == Fit::kApplies && gate.cannot_fail(ranges_of(false)))
        notes.push_back(fmt::format("{}{}\" ({}) cannot fail: {}", kGateNote, gate.text(), gate.origin,
                                    why_it_cannot_fail(gate, ranges_of(false))));
    }
    if (applies) continue;
    if (gate.optional)
      notes.push_back(fmt::format("the gate \"{}\" ({}) applies to nothing here", gate.text(), gate.origin));
    else if (reached)
      return applies_to_nothing(gate);
    else
      return usage_error(gate.origin, fmt::format("no task is called \"{}\"", gate.task),
                         declared.empty() ? "declare a [[task]]" : "there is: " + joined(declared));
  }
  return notes;
}

bool compares_sides(const ProjectTask& task, const GateSet& gates) {
  if (std::holds_alternative<CommandSpec>(task.spec)) return true;  // what it judges is the user's business
  const bool detection = std::holds_alternative<DetectionSpec>(task.spec);
  const auto compares = [detection](const Condition& c) {
    if (c.always_holds(figure_range(c.metric))) return false;
    const bool below = c.op == GateOp::kLess || c.op == GateOp::kLessEqual || c.op == GateOp::kEqual;
    const bool above = c.op == GateOp::kGreater || c.op == GateOp::kGreaterEqual || c.op == GateOp::kEqual;
    const auto among = [&c](std::initializer_list<const char*> names) {
      return std::any_of(names.begin(), names.end(), [&c](const char* name) { return c.metric == name; });
    };
    if (detection) return below && among({"unmatched", "unmatched_beyond_near"});
    return (above && c.value > 0 &&
            among({"top1_agreement", "top1_agreement_low", "topk_agreement", "topk_order_agreement"})) ||
           (below &&
            among({"max_probability_difference", "mean_probability_difference", "max_top1_probability_difference",
                   "max_kl_divergence", "mean_kl_divergence", "accuracy_drop", "accuracy_drop_high"}));
  };
  const auto known = figures_of(task);
  for (const Gate* gate : gates.for_task(task.name)) {
    // One that is passed over judges nothing.
    const auto fits = known ? fit(*gate, task.name, *known) : Result<Fit>(Fit::kPassedOver);
    if (!fits || *fits == Fit::kPassedOver) continue;
    if (std::all_of(gate->any.begin(), gate->any.end(),
                    [&](const auto& all) { return std::any_of(all.begin(), all.end(), compares); }))
      return true;
  }
  return false;
}

Result<TaskResult> run_task(const ProjectTask& task, const TaskInputs& inputs) {
  TaskResult result;
  result.name = task.name;
  if (const auto* command = std::get_if<CommandSpec>(&task.spec)) {
    PARITAS_ASSIGN(result.result, run_command(*command, inputs.command, inputs.allow_exec));
    return result;
  }
  const auto reference = inputs.view_reference(), device = inputs.view_device();
  if (const auto* spec = std::get_if<ClassificationSpec>(&task.spec)) {
    PARITAS_ASSIGN(result.result, check_classification(*spec, *reference, *device, inputs.labels));
  } else if (const auto* detection = std::get_if<DetectionSpec>(&task.spec)) {
    PARITAS_ASSIGN(result.result, check_detection(*detection, *reference, *device));
  }
  return result;
}

Status judge_tasks(const GateSet& gates, std::vector<TaskResult>& results, VerdictBuilder& builder) {
  std::vector<const Gate*> applied;
  for (TaskResult& task : results) {
    VerdictBuilder own;
    const TaskOutcome& outcome = task.outcome();
    const Names known = names_of(outcome);
    const RangeLookup ranges = ranges_of(std::holds_alternative<CommandResult>(task.result));
    std::vector<size_t> blind;  // gates that passed and cannot fail
    for (const Gate* gate : gates.for_task(task.name)) {
      PARITAS_ASSIGN(const Fit fits, fit(*gate, task.name, known));
      if (fits == Fit::kPassedOver) continue;
      applied.push_back(gate);
      TaskGate judged = judge(*gate, outcome);
      if (judged.verdict == Verdict::kPass && gate->cannot_fail(ranges)) {
        judged.text += " (this gate cannot fail)";
        judged.verdict = Verdict::kNotJudged;
        blind.push_back(task.gates.size());
      } else {
        own.add(judged.verdict, fmt::format("{}: {}", task.name, judged.text));
      }
      task.gates.push_back(std::move(judged));
    }
    // They have a say only where no other gate judges the task.
    if (blind.size() == task.gates.size())
      for (const size_t i : blind) own.not_judged(fmt::format("{}: {}", task.name, task.gates[i].text));
    if (task.gates.empty()) own.not_judged(fmt::format("{}: no gate is on this task", task.name));
    apply_issues(outcome, task.name, own);
    task.verdict = own.verdict();
    task.reasons = own.reasons();
    builder.add(own);
  }
  for (const Gate& gate : gates.gates)
    if (!gate.task.empty() && !gate.optional && !among(applied, gate)) return applies_to_nothing(gate);
  return {};
}

}  // namespace paritas
