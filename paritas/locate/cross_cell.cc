#include "paritas/locate/cross_cell.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "paritas/compare/compare.h"
#include "paritas/locate/figures.h"
#include "paritas/locate/propagation.h"
#include "paritas/locate/random_draws.h"
#include "paritas/recording/named_tensors.h"

namespace paritas {
namespace {

using catalogue::CellOutcome;

// Rows behind these may have moved, so that without a gate no figure of an output says whether it holds.
bool decides(const std::string& op) {
  static const std::unordered_set<std::string> ops = {"TopK",    "ArgMax",           "ArgMin", "NonZero",
                                                      "Greater", "GreaterOrEqual",   "Less",   "LessOrEqual",
                                                      "Unique",  "NonMaxSuppression"};
  return ops.count(op) != 0;
}

// Outcome by the rule for outputs that nobody gated; empty text: this output says nothing.
struct Ungated {
  bool deviates = false;
  std::string text;
};

Ungated ungated(const TensorComparison& t, const onnx_model::GraphIndex& index) {
  if (t.status != PairStatus::kCompared) return {true, t.name + ": " + std::string(name(t.status))};
  if (!is_float(t.reference->dtype) || is_behind_decision(index, t.name)) return {};
  return {deviates(*t.metrics), fmt::format("{}: cosine {:.6g}, no gate", t.name, t.metrics->cosine)};
}

void add(VerdictBuilder& builder, Verdict verdict, const std::string& reason) {
  if (verdict == Verdict::kInvalid) builder.invalid(reason);
  if (verdict == Verdict::kDeviates) builder.deviates(reason);
  if (verdict == Verdict::kNotJudged) builder.not_judged(reason);
  if (verdict == Verdict::kPass) builder.passed(reason);
}

// Some output depends on random numbers, for the reason `drawn`. That others deviate stands; that they hold does not
// tell whether the outputs do. `withheld`: a verdict on it was asked for.
void limit_by_draws(MatrixCell& cell, const std::string& drawn, bool withheld) {
  if (cell.outcome != CellOutcome::kDeviates) {
    cell.outcome = CellOutcome::kDrawn;
    cell.deciding = drawn;
  }
  if (withheld) cell.verdict = Verdict::kInvalid;
}

}  // namespace

bool is_behind_decision(const onnx_model::GraphIndex& index, const std::string& output) {
  std::vector<int> open{index.producer(output)};
  std::unordered_set<int> seen;
  while (!open.empty()) {
    const int node = open.back();
    open.pop_back();
    if (node < 0 || !seen.insert(node).second) continue;
    const auto& n = index.nodes()[static_cast<size_t>(node)];
    if (decides(n.op)) return true;
    for (const auto* names : {&n.inputs, &n.captures})
      for (const auto& name : *names) open.push_back(index.producer(name));
  }
  return false;
}

Status CellJudge::fill(MatrixCell& cell, const NamedTensors& reference, const NamedTensors& outputs) const {
  VerdictBuilder builder;
  std::vector<Ungated> free;
  bool gated = false;
  std::string drawn;      // why some output cannot be told; such outputs decide nothing
  bool withheld = false;  // one of them would have been judged
  for (const auto& [output, tensor] : reference) {
    TensorComparison pair;
    const Tensor* device = find_tensor(outputs, output);
    if (device == nullptr) {
      pair.name = output;
      pair.status = PairStatus::kMissingDevice;
      pair.reference = SideInfo{tensor.dtype, tensor.shape};
    } else {
      MetricOptions options;
      options.threads = threads;
      if (is_float(tensor.dtype)) options.storage_type = storage;
      options.names = are_names(tensor.dtype);
      PARITAS_TRY(gates.configure(output, options));
      PARITAS_ASSIGN(pair, compare_pair(output, Role::kOutput, tensor, *device, options));
    }
    judge_tensor(gates, pair);
    if (withhold_random(random, pair)) {
      if (drawn.empty()) drawn = pair.name + ": " + pair.rule;
      withheld |= pair.verdict == Verdict::kInvalid;
      cell.outputs.push_back(std::move(pair));
      continue;
    }
    const std::string reason = pair.name + ": " + pair.rule;
    add(builder, pair.verdict, reason);
    gated |= pair.gated;
    if (auto free_of = ungated(pair, index); !free_of.text.empty()) free.push_back(std::move(free_of));
    cell.outputs.push_back(std::move(pair));
  }
  if (judge_tasks) {
    PARITAS_ASSIGN(cell.tasks, judge_tasks(reference, outputs));
  }
  for (CellTask& task : cell.tasks) {
    if (!drawn.empty()) {  // which outputs a task reads is not known here
      task.verdict = Verdict::kInvalid;
      task.text = drawn;
      withheld = true;
      continue;
    }
    const std::string reason = task.name + ": " + task.text;
    add(builder, task.verdict, reason);
    gated |= task.verdict == Verdict::kPass || task.verdict == Verdict::kDeviates;
  }
  cell.verdict = builder.verdict();
  const auto reasons = builder.reasons();
  cell.outcome = CellOutcome::kUnknown;
  if (cell.verdict == Verdict::kDeviates || cell.verdict == Verdict::kInvalid) {
    cell.outcome = cell.verdict == Verdict::kDeviates ? CellOutcome::kDeviates : CellOutcome::kUnknown;
    cell.deciding = reasons.front();
  } else if (gated) {
    cell.outcome = CellOutcome::kHolds;
    for (const TensorComparison& t : cell.outputs)
      if (t.gated && cell.deciding.empty()) cell.deciding = t.name + ": " + t.rule;
    for (const CellTask& t : cell.tasks)
      if (t.verdict == Verdict::kPass && cell.deciding.empty()) cell.deciding = t.name + ": " + t.text;
  } else if (!free.empty()) {
    const auto worst = std::find_if(free.begin(), free.end(), [](const Ungated& u) { return u.deviates; });
    cell.outcome = worst == free.end() ? CellOutcome::kHolds : CellOutcome::kDeviates;
    cell.deciding = worst == free.end() ? free.front().text : worst->text;
  }
  if (!drawn.empty()) limit_by_draws(cell, drawn, withheld);
  const auto words = catalogue::cell_words(cell.front_on_device, cell.rear_on_device, cell.outcome);
  cell.shows = words.shows;
  cell.does_not_show = words.does_not_show;
  return {};
}

std::string cell_name(const MatrixCell& cell) {
  return fmt::format("{}/{}", cell.front_on_device ? "device" : "reference",
                     cell.rear_on_device ? "device" : "reference");
}

Finding finding_of(const catalogue::CutFacts& facts, CellOutcome front, CellOutcome rear, CellOutcome both) {
  const auto known = [](CellOutcome o) { return o == CellOutcome::kHolds || o == CellOutcome::kDeviates; };
  if (!known(front) || !known(rear)) return catalogue::cut_undecided(facts);
  const bool front_fails = front == CellOutcome::kDeviates, rear_fails = rear == CellOutcome::kDeviates;
  if (front_fails && rear_fails) return catalogue::cut_each(facts);
  if (front_fails) return catalogue::cut_front(facts);
  if (rear_fails) return catalogue::cut_rear(facts);
  if (!known(both)) return catalogue::cut_undecided(facts);
  return both == CellOutcome::kDeviates ? catalogue::cut_together(facts) : catalogue::cut_acquits(facts);
}

std::string_view name(SplitStatus status) {
  switch (status) {
    case SplitStatus::kExact:
      return "exact";
    case SplitStatus::kOptimiser:
      return "optimiser";
    case SplitStatus::kWrong:
      return "wrong";
    case SplitStatus::kNotRepeatable:
      return "not repeatable";
    case SplitStatus::kNotMeasured:
      return "not measured";
    case SplitStatus::kRandom:
      return "random";
  }
  return "";
}

}  // namespace paritas
