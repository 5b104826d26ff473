#include "paritas/delivery/split_project.h"

#include <algorithm>

#include <fmt/format.h>

#include "paritas/project/cut_tasks.h"
#include "paritas/project/prepared.h"

namespace paritas {
namespace {

Result<Target> target_of(const std::string& text, const RuntimeSearch& search) {
  PARITAS_ASSIGN(const TargetSpec spec, TargetSpec::parse(text));
  return resolve_target(spec, search);
}

class ProjectReader {
 public:
  ProjectReader(const ProjectSplitOptions& options, SplitRequest& request, std::vector<std::string>& notes)
      : options_(options), request_(request), notes_(notes) {}

  Status run() {
    PARITAS_ASSIGN(project_, load_project(options_.project));
    files_ = {project_.subject, options_.project.parent_path(), options_.allow_outside};
    if (project_.reference.target.empty())
      return usage_error(project_.subject, "the reference is a recording: there is nothing to run the model on",
                         "name a target under [targets]");
    PARITAS_ASSIGN(request_.model, files_.resolve(project_.model.reference));
    request_.dims = project_.model.dims;
    PARITAS_ASSIGN(request_.reference, target_of(project_.reference.target, options_.search));
    PARITAS_ASSIGN(PreparedInputs prepared, prepare_inputs(project_, files_, options_.scratch));
    request_.samples = std::move(prepared.samples);
    PARITAS_TRY(take_cuts());
    PARITAS_TRY(take_parts());
    take_contract();
    return take_tasks();
  }

 private:
  Status take_cuts() {
    if (request_.automatic > 0 || !request_.cuts.empty()) return {};
    std::vector<std::string> wanted = project_.package.cuts;
    if (wanted.empty() && project_.cuts.size() == 1) wanted.push_back(project_.cuts.front().name);
    if (wanted.empty())
      return usage_error(project_.subject,
                         project_.cuts.empty() ? "declares no cut" : "declares several cuts and no [package] cuts",
                         "write [cuts] encoder = [\"tensor\", ...] and [package] cuts = [\"encoder\"], or give --cut");
    for (const std::string& name : wanted)
      for (const NamedPositions& cut : project_.cuts)
        if (cut.name == name) request_.cuts.push_back({cut.name, cut.tensors});
    return {};
  }

  Status take_parts() {
    if (request_.boundary.empty()) request_.boundary = project_.package.boundary;
    if (!request_.parts.empty()) return {};
    const size_t cuts = request_.automatic > 0 ? 1 : request_.cuts.size();
    if (!options_.device.empty()) {
      PARITAS_ASSIGN(request_.parts, default_parts(cuts + 1, options_.device, options_.cpu_target, options_.search));
      return {};
    }
    for (const ProjectPart& part : project_.package.parts) {
      SplitPartTarget made{part.name, {}};
      PARITAS_ASSIGN(made.target, target_of(part.target, options_.search));
      request_.parts.push_back(std::move(made));
    }
    if (!request_.parts.empty()) return {};
    if (project_.device.target.empty())
      return usage_error(project_.subject, "the device is a recording", "name the parts under [[package.part]]");
    PARITAS_ASSIGN(request_.parts,
                   default_parts(cuts + 1, project_.device.target, options_.cpu_target, options_.search));
    return {};
  }

  void take_contract() {
    SplitContract& contract = request_.contract;
    for (const ProjectOutput& output : project_.outputs) {
      if (!output.role.empty()) contract.roles.emplace(output.name, output.role);
      if (!output.meaning.empty()) contract.meanings.emplace(output.name, output.meaning);
    }
    for (const ProjectInput& input : project_.inputs) {
      if (!input.meaning.empty()) contract.meanings.emplace(input.name, input.meaning);
      if (input.steps) contract.pictures.emplace(input.name, to_json(*input.steps));
    }
    if (contract.chain_gates.empty()) contract.chain_gates = project_.gates;
    if (contract.cpu_gates.empty()) contract.cpu_gates = project_.package.cpu_gates;
    if (contract.cpu_gates.empty()) contract.cpu_gates = contract.chain_gates;
  }

  Status take_tasks() {
    SplitContract& contract = request_.contract;
    std::map<std::string, std::vector<int64_t>> labels;
    Project judged = project_;
    judged.tasks.clear();
    for (size_t i = 0; i < project_.tasks.size(); ++i) {
      const ProjectTask& task = project_.tasks[i];
      if (std::holds_alternative<CommandSpec>(task.spec)) {
        notes_.push_back(fmt::format("the task \"{}\" is a command: it is no part of the package", task.name));
        drop_gates(task.name);
        continue;
      }
      contract.tasks.push_back(project_.tasks_json[i]);
      judged.tasks.push_back(task);
      if (task.labels.empty()) continue;
      PARITAS_ASSIGN(contract.label_files[task.name], files_.resolve(task.labels));
      // One row of labels for each sample: the first sample's are known only when there is no other.
      if (request_.samples.size() == 1) {
        PARITAS_ASSIGN(labels[task.name], read_labels(contract.label_files[task.name]));
      }
    }
    judged.gates = contract.chain_gates;
    std::map<std::string, Quantisation> quantisation;
    for (const ProjectOutput& output : project_.outputs)
      if (output.quantisation) quantisation[output.name] = *output.quantisation;
    if (!request_.samples.empty())
      request_.judge_tasks = cell_judge(judged, request_.samples.front(), labels, quantisation);
    return {};
  }

  void drop_gates(const std::string& task) {
    for (GateSet* gates : {&request_.contract.chain_gates, &request_.contract.cpu_gates})
      gates->gates.erase(
          std::remove_if(gates->gates.begin(), gates->gates.end(), [&](const Gate& gate) { return gate.task == task; }),
          gates->gates.end());
  }

  const ProjectSplitOptions& options_;
  SplitRequest& request_;
  std::vector<std::string>& notes_;
  Project project_;
  ProjectFiles files_;
};

}  // namespace

Status fill_from_project(const ProjectSplitOptions& options, SplitRequest& request, std::vector<std::string>& notes) {
  return ProjectReader(options, request, notes).run();
}

Result<std::vector<SplitPartTarget>> default_parts(size_t parts, const std::string& device, const std::string& cpu,
                                                   const RuntimeSearch& search) {
  std::vector<SplitPartTarget> made;
  for (size_t i = 0; i < parts; ++i) {
    SplitPartTarget part;
    part.name = parts == 2 ? (i == 0 ? "encoder" : "decoder") : fmt::format("part_{}", i + 1);
    PARITAS_ASSIGN(part.target, target_of(i % 2 == 0 ? device : cpu, search));
    made.push_back(std::move(part));
  }
  return made;
}

}  // namespace paritas
