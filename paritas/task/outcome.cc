#include "paritas/task/outcome.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace paritas {
namespace {

template <class T>
const T* by_name(const std::vector<T>& list, const std::string& name) {
  auto it = std::find_if(list.begin(), list.end(), [&](const T& entry) { return entry.name == name; });
  return it == list.end() ? nullptr : &*it;
}

}  // namespace

ValueRange figure_range(std::string_view figure) {
  constexpr std::string_view kShares[] = {"top1_agreement",
                                          "top1_agreement_low",
                                          "topk_agreement",
                                          "topk_order_agreement",
                                          "reference_accuracy",
                                          "device_accuracy",
                                          "max_probability_difference",
                                          "mean_probability_difference",
                                          "max_top1_probability_difference",
                                          "matched_iou_min",
                                          "matched_iou_mean",
                                          "same_top_class"};
  if (std::find(std::begin(kShares), std::end(kShares), figure) != std::end(kShares)) return {0, 1};
  // The ends of the interval of a paired difference are clipped to what the difference itself can be.
  if (figure == "accuracy_drop" || figure == "accuracy_drop_high") return {-1, 1};
  return {};  // counts, KL divergences, differences of scores that may be logits
}

const TaskFigure* TaskOutcome::find(const std::string& name) const { return by_name(figures, name); }

const AbsentFigure* TaskOutcome::find_absent(const std::string& name) const { return by_name(absent, name); }

void TaskOutcome::add(std::string name, std::string unit, double value) {
  if (std::isnan(value)) return leave_out(std::move(name), "it is not a number", Verdict::kNotJudged);
  figures.push_back({std::move(name), std::move(unit), value});
}

void TaskOutcome::leave_out(std::string name, std::string reason, Verdict verdict) {
  assert(verdict != Verdict::kPass);
  absent.push_back({std::move(name), std::move(reason), verdict});
}

void TaskOutcome::issue(Verdict verdict, std::string text) {
  assert(verdict != Verdict::kPass);
  issues.push_back({verdict, std::move(text)});
}

void apply_issues(const TaskOutcome& outcome, const std::string& task, VerdictBuilder& builder) {
  for (const TaskIssue& issue : outcome.issues) {
    const std::string reason = task.empty() ? issue.text : task + ": " + issue.text;
    if (issue.verdict == Verdict::kInvalid) builder.invalid(reason);
    if (issue.verdict == Verdict::kDeviates) builder.deviates(reason);
    if (issue.verdict == Verdict::kNotJudged) builder.not_judged(reason);
  }
}

Json to_json(const TaskOutcome& outcome) {
  Json json = {{"figures", Json::array()}, {"absent", Json::array()}, {"issues", Json::array()}};
  for (const TaskFigure& f : outcome.figures)
    json["figures"].push_back({{"name", f.name}, {"unit", f.unit}, {"value", json_number(f.value)}});
  for (const AbsentFigure& f : outcome.absent)
    json["absent"].push_back({{"name", f.name}, {"reason", f.reason}, {"verdict", name(f.verdict)}});
  for (const TaskIssue& i : outcome.issues) json["issues"].push_back({{"verdict", name(i.verdict)}, {"text", i.text}});
  json["shows"] = outcome.shows;
  json["does_not_show"] = outcome.does_not_show;
  json["notes"] = outcome.notes;
  return json;
}

}  // namespace paritas
