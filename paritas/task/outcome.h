// What a task check hands to gates and reports: named figures, the reasons why a figure is missing, and what holds
// whatever the gates say.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "paritas/base/json.h"
#include "paritas/judge/gates.h"
#include "paritas/judge/verdict.h"

namespace paritas {

struct TaskFigure {
  std::string name;  // "top1_agreement"
  std::string unit;  // "1" (a share or a pure number), "rows", "boxes", "images", "nats", "points"
  double value = 0;  // may be infinite, never NaN
};

// What a figure of a classification or detection can be. A command's own figures may be anything.
ValueRange figure_range(std::string_view figure);

// A figure that could not be computed. It has no value, so that no gate can be passed on it.
struct AbsentFigure {
  std::string name;
  std::string reason;
  Verdict verdict = Verdict::kNotJudged;  // what a gate on it comes to: never kPass
};

// Holds without any gate, and takes part in the verdict.
struct TaskIssue {
  Verdict verdict = Verdict::kNotJudged;  // never kPass
  std::string text;
};

struct TaskOutcome {
  std::vector<TaskFigure> figures;
  std::vector<AbsentFigure> absent;
  std::vector<TaskIssue> issues;
  std::vector<std::string> shows;
  std::vector<std::string> does_not_show;
  std::vector<std::string> notes;

  const TaskFigure* find(const std::string& name) const;           // nullptr: absent, or no such figure
  const AbsentFigure* find_absent(const std::string& name) const;  // nullptr: present, or no such figure

  // NaN is stored as absent.
  void add(std::string name, std::string unit, double value);
  void leave_out(std::string name, std::string reason, Verdict verdict);
  void issue(Verdict verdict, std::string text);
};

// Adds the issues to the reasons of a verdict.
void apply_issues(const TaskOutcome& outcome, const std::string& task, VerdictBuilder& builder);

Json to_json(const TaskOutcome& outcome);

}  // namespace paritas
