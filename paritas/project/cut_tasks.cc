#include "paritas/project/cut_tasks.h"

#include <algorithm>

#include "paritas/project/task_checks.h"

namespace paritas {
namespace {

// One sample in memory (its tensors may lie in files).
class OneSample : public SampleStream {
 public:
  OneSample(std::string subject, const NamedTensors& inputs, const NamedTensors& outputs,
            const std::map<std::string, Quantisation>& quantisation)
      : subject_(std::move(subject)) {
    const auto add = [&](const NamedTensors& tensors, Role role) {
      for (const auto& [name, tensor] : tensors) {
        if (info_.find(name) != nullptr) continue;
        TensorInfo info;
        info.name = name;
        info.dtype = tensor.dtype;
        info.role = role;
        if (const auto it = quantisation.find(name); it != quantisation.end() && !is_float(tensor.dtype))
          info.quantisation = it->second;
        info_.tensors.push_back(std::move(info));
        sample_.tensors.emplace_back(name, tensor);
      }
    };
    add(outputs, Role::kOutput);
    add(inputs, Role::kInput);
    sample_.id = "sample-000000";
  }

  const RunInfo& info() const override { return info_; }
  const std::string& subject() const override { return subject_; }
  uint64_t sample_count() const override { return 1; }
  Result<Sample> sample(uint64_t) override { return sample_; }

 private:
  std::string subject_;
  RunInfo info_;
  Sample sample_;
};

bool runs_in_cells(const ProjectTask& task) { return !std::holds_alternative<CommandSpec>(task.spec); }

}  // namespace

JudgeTasks cell_judge(const Project& project, const NamedTensors& inputs,
                      const std::map<std::string, std::vector<int64_t>>& labels,
                      const std::map<std::string, Quantisation>& quantisation) {
  if (std::none_of(project.tasks.begin(), project.tasks.end(), runs_in_cells)) return {};
  return [project, inputs, labels, quantisation](const NamedTensors& reference,
                                                 const NamedTensors& outputs) -> Result<std::vector<CellTask>> {
    TaskInputs task_inputs;
    const auto stream = [&](const char* subject, const NamedTensors& tensors) -> std::unique_ptr<SampleStream> {
      return std::make_unique<OneSample>(subject, inputs, tensors, quantisation);
    };
    task_inputs.view_reference = [&] { return stream("the uncut reference", reference); };
    task_inputs.view_device = [&] { return stream("the cell", outputs); };
    std::vector<TaskResult> results;
    for (const ProjectTask& task : project.tasks) {
      if (!runs_in_cells(task)) continue;
      const auto of_task = labels.find(task.name);
      task_inputs.labels = of_task == labels.end() ? std::vector<int64_t>() : of_task->second;
      PARITAS_ASSIGN(TaskResult result, run_task(task, task_inputs));
      results.push_back(std::move(result));
    }
    // Gates of commands apply to nothing here, which the whole check judges.
    GateSet gates = project.gates;
    for (Gate& gate : gates.gates) gate.optional = true;
    VerdictBuilder builder;
    PARITAS_TRY(judge_tasks(gates, results, builder));
    std::vector<CellTask> tasks;
    for (const TaskResult& result : results) {
      std::string text = result.reasons.empty() ? std::string(name(result.verdict)) : result.reasons.front();
      // Reasons begin with the task's name, which a cell shows anyway.
      if (text.starts_with(result.name + ": ")) text.erase(0, result.name.size() + 2);
      tasks.push_back({result.name, result.verdict, std::move(text)});
    }
    return tasks;
  };
}

}  // namespace paritas
