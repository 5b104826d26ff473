#include "paritas/delivery/judge_recordings.h"

#include <algorithm>

#include <fmt/format.h>

#include "paritas/project/read_parts.h"
#include "paritas/project/task_checks.h"

namespace paritas {
namespace {

bool holds(const TypedNames& tensors, const std::string& name) {
  return std::any_of(tensors.begin(), tensors.end(), [&](const auto& tensor) { return tensor.first == name; });
}

std::string role_of(const Declared& declared, const std::string& tensor) {
  for (const ProjectOutput& output : declared.outputs)
    if (output.name == tensor) return output.role;
  return {};
}

}  // namespace

Result<Declared> declared_in(const Package& package) {
  const Manifest& manifest = package.manifest;
  const std::string subject = package.path_of(kManifestName).string();
  Declared declared;
  PARITAS_ASSIGN(declared.tasks, read_tasks(manifest.tasks, subject));
  for (const ProjectTask& task : declared.tasks) {
    if (std::holds_alternative<CommandSpec>(task.spec))
      return input_error(subject, fmt::format("the task \"{}\" is a command: a package holds none", task.name));
    if (task.labels.empty()) continue;
    if (manifest.file(task.labels) == nullptr)
      return input_error(subject, fmt::format("the labels of the task \"{}\" are not in the package", task.name));
    PARITAS_ASSIGN(declared.labels[task.name], read_labels(package.path_of(task.labels)));
  }
  for (const ContractPort& output : manifest.outputs)
    if (!output.role.empty()) declared.outputs.push_back({output.name, output.role, {}});
  for (const PackageCut& cut : manifest.cuts)
    for (const BoundaryTensor& tensor : cut.tensors)
      if (role_of(declared, tensor.name).empty()) declared.outputs.push_back({tensor.name, "feature", {}});
  return declared;
}

Result<GateSet> package_gates(const Package& package, const PackageGates& declared) {
  if (declared.file.empty()) return GateSet{};
  const Path path = package.path_of(declared.file);
  PARITAS_ASSIGN(const std::string text, read_text(path, 1 << 20));
  PARITAS_ASSIGN(const Json json, parse_json(text, path.string()));
  PARITAS_ASSIGN(GateSet gates, gates_from_json(json, path.string()));
  gates.sha256 = declared.sha256;
  return gates;
}

Result<CheckResult> judge_recordings(const JudgeRequest& request) {
  CheckPlan plan;
  plan.project.subject = request.subject;
  plan.project.gates = request.gates;
  plan.project.tasks = request.declared.tasks;
  plan.project.outputs = request.declared.outputs;
  plan.labels = request.declared.labels;
  plan.files = {request.subject, request.scratch, false};
  PARITAS_ASSIGN(plan.notes, check_task_gates(request.gates, request.declared.tasks));
  for (const auto& [path, side] :
       {std::pair(&request.reference, &plan.reference), std::pair(&request.device, &plan.device)}) {
    side->open.path = *path;
    side->open.subject = path->filename().string();
    side->open.options.verify_hashes = true;
    side->open.options.scratch = request.scratch;
    PARITAS_TRY(open_side(side->open));
  }
  CheckRequest check;
  check.threads = request.threads;
  check.progress = request.progress;
  return carry_out(check, std::move(plan), request.scratch);
}

void restrict_to(const TypedNames& tensors, Declared& declared, GateSet& gates, std::vector<std::string>& left_out) {
  auto gone = [&](const ProjectTask& task) {
    return !std::all_of(task.outputs.begin(), task.outputs.end(),
                        [&](const std::string& output) { return holds(tensors, output); });
  };
  for (const ProjectTask& task : declared.tasks)
    if (gone(task))
      left_out.push_back(fmt::format("the task \"{}\" reads outputs that a device part makes", task.name));
  declared.tasks.erase(std::remove_if(declared.tasks.begin(), declared.tasks.end(), gone), declared.tasks.end());
  declared.outputs.erase(std::remove_if(declared.outputs.begin(), declared.outputs.end(),
                                        [&](const ProjectOutput& output) { return !holds(tensors, output.name); }),
                         declared.outputs.end());
  auto idle = [&](const Gate& gate) {
    if (!gate.task.empty())
      return std::none_of(declared.tasks.begin(), declared.tasks.end(), [&](const ProjectTask& task) {
        const auto of_task = gates.for_task(task.name);
        return std::find(of_task.begin(), of_task.end(), &gate) != of_task.end();
      });
    return std::none_of(tensors.begin(), tensors.end(), [&](const auto& tensor) {
      return gate.matches(GateSubject(tensor.first, Role::kOutput, role_of(declared, tensor.first), tensor.second));
    });
  };
  std::vector<Gate> kept;
  for (const Gate& gate : gates.gates) {
    if (!idle(gate))
      kept.push_back(gate);
    else if (!gate.optional)
      left_out.push_back(fmt::format("the gate \"{}\" matches nothing that these parts make", gate.text()));
  }
  gates.gates = std::move(kept);
}

}  // namespace paritas
