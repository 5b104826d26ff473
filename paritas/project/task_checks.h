// The tasks of a project: run on both sides, then judged by the gates that are on them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "paritas/project/project.h"
#include "paritas/project/types.h"

namespace paritas {

// Before anything runs: an error for a gate on a task that is not declared, or on a figure that its task does not have
// (the figures of a command are known only when it has run). Notes: gates that may match nothing and do not.
Result<std::vector<std::string>> check_task_gates(const GateSet& gates, const std::vector<ProjectTask>& tasks);

struct TaskInputs {
  // Each side as a stream, the device's with the reference's names.
  std::function<std::unique_ptr<SampleStream>()> view_reference, view_device;
  std::vector<int64_t> labels;  // of a classification; may be empty
  CommandContext command;
  bool allow_exec = false;
};

// A gate on the task limits a figure that compares the two sides, whatever alternative is taken: only then does the
// task say something about the outputs that it reads.
bool compares_sides(const ProjectTask& task, const GateSet& gates);

// Figures, not yet judged.
Result<TaskResult> run_task(const ProjectTask& task, const TaskInputs& inputs);

// Fills gates, verdict and reasons of every task. Errors: a gate that applies to no figure, now that all are known.
Status judge_tasks(const GateSet& gates, std::vector<TaskResult>& results, VerdictBuilder& builder);

}  // namespace paritas
