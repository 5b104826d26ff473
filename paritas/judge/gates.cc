#include "paritas/judge/gates.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "paritas/base/glob.h"
#include "paritas/judge/gate_names.h"
#include "paritas/judge/metric_table.h"

namespace paritas {
namespace {

struct OpName {
  GateOp op;
  std::string_view text;
  std::string_view opposite;
};
constexpr OpName kOps[] = {{GateOp::kLessEqual, "<=", ">"},
                           {GateOp::kGreaterEqual, ">=", "<"},
                           {GateOp::kEqual, "==", "!="},
                           {GateOp::kLess, "<", ">="},
                           {GateOp::kGreater, ">", "<="}};
constexpr GateOp kOpOrder[] = {GateOp::kLessEqual, GateOp::kGreaterEqual, GateOp::kEqual, GateOp::kLess,
                               GateOp::kGreater};
constexpr std::pair<GateUnit, std::string_view> kUnits[] = {{GateUnit::kAbsolute, ""},
                                                            {GateUnit::kRange, "range"},
                                                            {GateUnit::kEpsilon, "epsilon"},
                                                            {GateUnit::kSteps, "steps"},
                                                            {GateUnit::kStorage, "storage"}};

const OpName& entry(GateOp op) {
  return *std::find_if(std::begin(kOps), std::end(kOps), [op](const OpName& o) { return o.op == op; });
}

bool holds(GateOp op, double value, double limit) {  // every comparison with NaN is false: NaN never passes
  switch (op) {
    case GateOp::kLess:
      return value < limit;
    case GateOp::kLessEqual:
      return value <= limit;
    case GateOp::kGreaterEqual:
      return value >= limit;
    case GateOp::kGreater:
      return value > limit;
    case GateOp::kEqual:
      return value == limit;
  }
  return false;
}

struct Judged {
  std::optional<double> value;
  bool passed = false;
  std::string text;
};

Judged judge(const Condition& c, std::optional<double> value, std::optional<double> unit) {
  Judged judged;
  if (!value) {
    const bool on_demand = c.metric == "outside" || c.metric.rfind("abs_p", 0) == 0;
    judged.text = fmt::format("{} {}", c.metric, on_demand ? "was not taken" : "does not exist for these types");
    return judged;
  }
  if (!unit) {
    judged.text = fmt::format(
        "{} has no {} here", c.metric,
        c.unit == GateUnit::kStorage ? "representable storage baseline" : fmt::format("unit \"{}\"", name(c.unit)));
    return judged;
  }
  const double limit = c.value * *unit;
  if (!std::isfinite(limit)) {
    judged.text = fmt::format("{} has no finite limit: {} {} is {}", c.metric, c.value, name(c.unit), limit);
    return judged;
  }
  judged.value = value;
  judged.passed = holds(c.op, *value, limit);
  const std::string limit_text = c.unit == GateUnit::kAbsolute
                                     ? fmt::format("{}", c.value)
                                     : fmt::format("{} {} = {:.4g}", c.value, name(c.unit), limit);
  if (std::isnan(*value)) {
    judged.text = fmt::format("{} is NaN, {} {} was demanded", c.metric, name(c.op), limit_text);
    return judged;
  }
  // Enough digits to show on which side of the threshold the value lies.
  int digits = 4;
  while (digits < 17 && fmt::format("{:.{}g}", *value, digits) == fmt::format("{:.{}g}", limit, digits) &&
         *value != limit)
    ++digits;
  judged.text = fmt::format("{} {:.{}g} {} {}", c.metric, *value, digits,
                            judged.passed ? entry(c.op).text : entry(c.op).opposite, limit_text);
  return judged;
}

// An alternative whose figures are missing can neither carry a pass nor prove a failure.
template <class Judge>
GateOutcome decide(const Gate& gate, Judge&& judge_condition) {
  GateOutcome outcome;
  outcome.gate = &gate;
  std::string failed, all_undecided;
  std::optional<double> failing_value;
  for (const auto& all : gate.any) {
    std::string text, undecided;
    std::optional<double> value;
    bool passed = true, refused = false;
    for (const Condition& condition : all) {
      const Judged judged = judge_condition(condition);
      if (!judged.value) {
        undecided += (undecided.empty() ? "" : "; ") + judged.text;
      } else if (!judged.passed) {
        refused = true;
        failed += (failed.empty() ? "" : " and ") + judged.text;
        if (!failing_value) failing_value = judged.value;
      } else {
        text += (text.empty() ? "" : " and ") + judged.text;
        value = judged.value;
      }
      passed &= judged.passed;
    }
    if (passed) {
      outcome.value = value;
      outcome.passed = true;
      outcome.text = text;
      return outcome;
    }
    // A failed condition settles its alternative, whatever the others would have said.
    if (!refused) all_undecided += (all_undecided.empty() ? "" : "; ") + undecided;
  }
  if (!all_undecided.empty()) {
    outcome.text = all_undecided;
    return outcome;
  }
  outcome.value = failing_value;
  outcome.text = failed;
  return outcome;
}

std::optional<ValueRange> metric_range(const std::string& metric) {
  const MetricName* known = find_metric(metric);
  return known == nullptr ? std::nullopt : std::optional(ValueRange{known->lowest, known->highest});
}

std::optional<double> unit_size(GateUnit unit, const PairMetrics& m) {
  switch (unit) {
    case GateUnit::kAbsolute:
      return 1.0;
    case GateUnit::kRange:
      return m.reference_max - m.reference_min;
    case GateUnit::kEpsilon:
      return m.epsilon ? std::optional(*m.epsilon * m.reference_max_abs) : std::nullopt;
    case GateUnit::kSteps:
      return m.steps ? std::optional(m.steps->size) : std::nullopt;
    case GateUnit::kStorage:
      return m.storage && m.storage->representable() ? std::optional(m.storage->max_abs) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::span<const GateOp> all_ops() { return kOpOrder; }

std::optional<GateOp> op_from_name(std::string_view text) {
  for (const OpName& op : kOps)
    if (op.text == text) return op.op;
  return std::nullopt;
}

std::optional<GateUnit> unit_from_name(std::string_view text) {
  for (const auto& [unit, word] : kUnits)
    if (word == text) return unit;
  return std::nullopt;
}

std::string_view name(GateOp op) { return entry(op).text; }

std::string_view name(GateUnit unit) {
  for (const auto& [each, word] : kUnits)
    if (each == unit) return word;
  return "";
}

std::string Condition::text() const {
  std::string text = fmt::format("{} {} {}", metric, name(op), value);
  if (unit != GateUnit::kAbsolute) text += fmt::format(" {}", name(unit));
  if (atol) text += fmt::format(", atol={}", *atol);
  if (rtol) text += fmt::format(", rtol={}", *rtol);
  return text;
}

bool Condition::always_holds(const ValueRange& range) const {
  // Units scale the threshold by what is not negative: a limit at or below 0 stays there. What has units begins at 0.
  switch (op) {
    case GateOp::kLess:
      return range.highest < value;
    case GateOp::kLessEqual:
      return range.highest <= value;
    case GateOp::kGreaterEqual:
      return range.lowest >= value;
    case GateOp::kGreater:
      return range.lowest > value && unit == GateUnit::kAbsolute;  // a unit of size 0 makes every limit 0
    case GateOp::kEqual:
      return false;
  }
  return false;
}

std::string Gate::selector() const {
  if (!task.empty()) return "task=" + task;
  std::string text = tensor;
  if (!role.empty()) text += (text.empty() ? "role=" : " role=") + role;
  if (!type.empty()) text += (text.empty() ? "" : " ") + fmt::format("type={}", type);
  return text.empty() ? "*" : text;
}

std::string Gate::text() const {
  std::string alternatives;
  for (const auto& all : any) {
    if (!alternatives.empty()) alternatives += " or ";
    for (size_t i = 0; i < all.size(); ++i) alternatives += (i ? " and " : "") + all[i].text();
  }
  return fmt::format("{}: {}", selector(), alternatives);
}

bool Gate::matches(const GateSubject& subject) const {
  if (!task.empty()) return false;
  if (!tensor.empty() && tensor != subject.name && !glob_match(tensor, subject.name)) return false;
  if (!role.empty() && role != paritas::name(subject.role) && role != subject.declared_role) return false;
  if (type.empty() || !subject.dtype) return true;
  return (type == "float") == is_float(*subject.dtype);
}

bool Gate::names_exactly(const std::string& tensor_name) const { return task.empty() && tensor == tensor_name; }

bool Gate::cannot_fail() const { return task.empty() && cannot_fail(metric_range); }

bool Gate::cannot_fail(const RangeLookup& ranges) const {
  const auto holds = [&](const Condition& c) {
    const auto range = ranges(c.metric);
    return range && c.always_holds(*range);
  };
  return std::any_of(any.begin(), any.end(),
                     [&](const auto& all) { return std::all_of(all.begin(), all.end(), holds); });
}

std::vector<const Gate*> GateSet::for_tensor(const GateSubject& subject) const {
  std::vector<const Gate*> found;
  for (const Gate& gate : gates)
    if (gate.matches(subject)) found.push_back(&gate);
  return found;
}

std::vector<const Gate*> GateSet::for_task(const std::string& wanted) const {
  std::vector<const Gate*> found;
  for (const Gate& gate : gates)
    if (!gate.task.empty() && (gate.task == wanted || glob_match(gate.task, wanted))) found.push_back(&gate);
  return found;
}

Status GateSet::configure(const GateSubject& subject, MetricOptions& options) const {
  const Condition* tolerance = nullptr;
  for (const Gate* gate : for_tensor(subject))
    for (const auto& all : gate->any)
      for (const Condition& c : all) {
        if (c.metric.rfind("abs_p", 0) == 0) options.quantiles = true;
        if (c.metric != "outside") continue;
        if (tolerance != nullptr && (tolerance->atol != c.atol || tolerance->rtol != c.rtol))
          return usage_error(gate->origin,
                             fmt::format("\"{}\" has two gates on \"outside\" with different tolerances", subject.name),
                             "keep one of them");
        tolerance = &c;
        options.atol = c.atol;
        options.rtol = c.rtol;
      }
  return {};
}

bool GateSet::uses(const GateSubject& subject, GateUnit unit) const {
  for (const Gate* gate : for_tensor(subject))
    for (const auto& all : gate->any)
      for (const Condition& condition : all)
        if (condition.unit == unit) return true;
  return false;
}

std::string why_it_cannot_fail(const Gate& gate, const RangeLookup& ranges) {
  for (const auto& all : gate.any)
    for (const Condition& c : all)
      if (const auto range = ranges(c.metric); range && c.always_holds(*range))
        return std::isfinite(range->highest)
                   ? fmt::format("{} lies between {} and {}", c.metric, range->lowest, range->highest)
                   : fmt::format("{} is never below {}", c.metric, range->lowest);
  return {};
}

Result<std::vector<std::string>> check_gates_match(const GateSet& gates, const std::vector<GateSubject>& subjects,
                                                   const std::string& role_remedy) {
  std::vector<std::string> notes;
  for (const Gate& gate : gates.gates) {
    if (!gate.task.empty()) continue;
    const auto note = [&](const std::string& text) {
      notes.push_back(fmt::format("{}{}\" ({}) {}", kGateNote, gate.text(), gate.origin, text));
    };
    if (std::any_of(subjects.begin(), subjects.end(), [&](const GateSubject& s) { return gate.matches(s); })) {
      if (gate.cannot_fail()) note("cannot fail: " + why_it_cannot_fail(gate, metric_range));
      continue;
    }
    if (gate.optional) {
      note("applies to nothing here");
      continue;
    }
    std::string known;
    for (size_t i = 0; i < subjects.size() && i < 8; ++i) known += (i ? ", " : "") + subjects[i].name;
    if (subjects.size() > 8) known += fmt::format(" and {} more", subjects.size() - 8);
    if (!gate.role.empty())
      return usage_error(gate.origin, fmt::format("no tensor has the role \"{}\"", gate.role),
                         role_remedy + "; there is: " + known);
    return usage_error(gate.origin,
                       gate.tensor.empty() ? fmt::format("no tensor is of type \"{}\"", gate.type)
                                           : fmt::format("no tensor is called \"{}\"", gate.tensor),
                       "there is: " + known);
  }
  return notes;
}

GateOutcome evaluate(const Gate& gate, const PairMetrics& metrics) {
  GateOutcome outcome = decide(gate, [&](const Condition& condition) {
    const bool other_tolerances =
        condition.metric == "outside" && metrics.outside &&
        (metrics.outside_atol != condition.atol.value_or(0) || metrics.outside_rtol != condition.rtol.value_or(0));
    if (other_tolerances) return Judged{std::nullopt, false, "outside was counted with other tolerances"};
    if (metrics.names && metrics.differing > 0 && condition.metric != "differing")
      return Judged{std::nullopt, false,
                    fmt::format("{} of {} class ids differ, and {} says nothing of names (judge them by differing, or "
                                "by task)",
                                metrics.differing, metrics.count, condition.metric)};
    if (metrics.names) {  // all are equal: every figure is that of equal tensors, in whatever unit
      PairMetrics equal = metrics;
      equal.names = false;
      return judge(condition, metric_value(equal, condition.metric), 1.0);
    }
    return judge(condition, metric_value(metrics, condition.metric), unit_size(condition.unit, metrics));
  });
  // No more elements can differ than there are.
  outcome.cannot_fail = gate.cannot_fail([&](const std::string& metric) {
    auto range = metric_range(metric);
    if (metric == "differing" || metric == "outside") range->highest = static_cast<double>(metrics.count);
    return range;
  });
  if (outcome.passed && outcome.cannot_fail)
    outcome.text += gate.cannot_fail() ? " (this gate cannot fail)"
                                       : fmt::format(" (this gate cannot fail on {} elements)", metrics.count);
  return outcome;
}

GateOutcome evaluate_figures(const Gate& gate, const FigureLookup& figures) {
  return decide(gate, [&](const Condition& condition) {
    Judged judged = judge(condition, figures(condition.metric), 1.0);
    if (!judged.value) judged.text = fmt::format("{} could not be computed", condition.metric);
    return judged;
  });
}

}  // namespace paritas
