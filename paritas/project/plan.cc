#include "paritas/project/plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "paritas/base/glob.h"
#include "paritas/board/record_board.h"
#include "paritas/onnx/cut.h"
#include "paritas/package/record_package.h"
#include "paritas/project/model_facts.h"
#include "paritas/project/read_parts.h"
#include "paritas/project/task_checks.h"

namespace paritas {
namespace {

using onnx_model::GraphIndex;
using onnx_model::Model;

// What a side will hold, as far as it is known before it runs.
using Subjects = std::vector<GateSubject>;

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

class Planner {
 public:
  Planner(const CheckRequest& request, const Path& scratch) : request_(request), scratch_(scratch) {}

  Result<CheckPlan> run() {
    PARITAS_ASSIGN(plan_.project, load_project(request_.project));
    plan_.files = {plan_.project.subject, request_.project.parent_path(), request_.allow_outside};
    PARITAS_TRY(check_commands());
    PARITAS_ASSIGN(plan_.notes, check_task_gates(plan_.project.gates, plan_.project.tasks));
    PARITAS_TRY(plan_model());
    PARITAS_TRY(plan_side("reference", plan_.project.reference, plan_.project.model.reference, plan_.reference));
    PARITAS_TRY(plan_side("device", plan_.project.device, plan_.project.model.device, plan_.device));
    for (const NamedSide& further : plan_.project.further) {
      FurtherSide& planned = plan_.further.emplace_back();
      planned.name = further.name;
      planned.feed = further.feed;
      const std::string& model = further.model.empty() ? plan_.project.model.device : further.model;
      const std::string folder = fmt::format("further-{}", plan_.further.size());
      PARITAS_TRY(plan_side(folder.c_str(), further.side, model, planned.side));
    }
    PARITAS_TRY(check_names());
    PARITAS_TRY(read_all_labels());
    if (!plan_.project.runs_anything() && !plan_.project.declares_inputs()) return std::move(plan_);
    PARITAS_ASSIGN(plan_.inputs, prepare_inputs(plan_.project, plan_.files, scratch_));
    if (!plan_.project.runs_anything()) {
      PARITAS_TRY(check_recorded());
      return std::move(plan_);
    }
    PARITAS_TRY(check_fed(plan_.reference, plan_.inputs.samples));
    PARITAS_TRY(check_fed(plan_.device, plan_.inputs.samples));
    for (const FurtherSide& further : plan_.further)
      PARITAS_TRY(check_fed(further.side, plan_.inputs.of(further.feed)));
    PARITAS_TRY(check_steps());
    return std::move(plan_);
  }

 private:
  Status check_commands() const {
    for (const ProjectTask& task : plan_.project.tasks)
      if (const auto* command = std::get_if<CommandSpec>(&task.spec); command != nullptr && !request_.allow_exec)
        return usage_error(plan_.project.subject,
                           fmt::format("the task \"{}\" runs the command \"{}\", and nothing allows that", task.name,
                                       fmt::join(command->command, " ")),
                           "read it, then pass --allow-exec");
    return {};
  }

  // The declaration; its paths are relative to the file that it stands in.
  Result<Board> find_board(const std::string& name) const {
    Board board;
    if (is_board_file(name)) {
      PARITAS_ASSIGN(const Path path, plan_.files.resolve(name));
      PARITAS_ASSIGN(board, load_board(path));
      board.target = "exec:" + name;
    } else {
      board = plan_.project.boards.at(name);
      board.folder = plan_.files.folder.empty() ? Path(".") : plan_.files.folder;
    }
    if (!board.outputs.names.empty())
      PARITAS_TRY(
          plan_.files.resolve((Path(is_board_file(name) ? name : "").parent_path() / board.outputs.names).string()));
    if (!request_.allow_exec)
      return usage_error(board.subject,
                         fmt::format("it runs the command {}, and nothing allows that", command_line(board.command)),
                         "read it, then pass --allow-exec");
    if (!plan_.project.marks.empty())
      return usage_error(
          plan_.project.subject + ", [targets]",
          fmt::format("\"marks\" means nothing to {}: a board records what its command writes", board.target),
          "leave it out");
    return board;
  }

  Status plan_model() {
    const ProjectModel& model = plan_.project.model;
    if (model.reference.empty()) return {};
    PARITAS_ASSIGN(plan_.model, plan_.files.resolve(model.reference));
    PARITAS_ASSIGN(const ModelNames names, names_of_model(plan_.model));
    PARITAS_TRY(check_probes(names));
    if (plan_.project.cuts.empty()) return {};
    if (names.tflite)
      return usage_error(plan_.project.subject + ", [cuts]", "a TFLite model cannot be cut", "leave [cuts] out");
    return check_cuts();
  }

  // Cuts and probes outlive releases of a model: what a new export renamed must be noticed.
  Status check_cuts() const {
    PARITAS_ASSIGN(const Model model, Model::load(plan_.model));
    PARITAS_ASSIGN(const GraphIndex index, GraphIndex::build(model));
    const auto dependence = onnx_model::value_dependence(model, index);
    for (const NamedPositions& cut : plan_.project.cuts)
      for (const std::string& tensor : cut.tensors)
        PARITAS_TRY(onnx_model::resolve_tensor(model, index, dependence, tensor,
                                               fmt::format("{}, [cuts], \"{}\"", plan_.project.subject, cut.name)));
    return {};
  }

  Status check_probes(const ModelNames& names) {
    std::vector<std::string> tensors = names.tensors;
    for (const NamedPort& input : names.inputs) tensors.push_back(input.name);
    for (const std::string& position : plan_.project.probes) {
      ProbeMatch match{position, 0};
      for (const auto* list : {&names.nodes, static_cast<const std::vector<std::string>*>(&tensors)})
        for (const std::string& name : *list) match.matches += name == position || glob_match(position, name);
      if (match.matches == 0)
        return usage_error(fmt::format("{}, [probes]", plan_.project.subject),
                           fmt::format("{} has no node or tensor \"{}\"", plan_.model.string(), position),
                           "paritas inspect lists them with --verbose");
      plan_.probes.push_back(std::move(match));
    }
    return {};
  }

  Status plan_side(const char* which, const ProjectSide& side, const std::string& model, PlannedSide& planned) {
    if (side.recording) return plan_recording(which, *side.recording, planned.open);
    planned.open.path = scratch_ / which;
    planned.open.subject = side.target;
    if (const auto folder = package_of_target(side.target)) {
      PARITAS_ASSIGN(const Path path, plan_.files.resolve(folder->string()));
      PARITAS_ASSIGN(planned.package, open_package(path));
      return {};
    }
    if (const auto name = board_of_target(side.target)) {
      PARITAS_ASSIGN(planned.board, find_board(*name));
      PARITAS_ASSIGN(planned.model, plan_.files.resolve(model));
      return {};
    }
    PARITAS_ASSIGN(const TargetSpec spec, TargetSpec::parse(side.target));
    PARITAS_ASSIGN(planned.target, resolve_target(spec, request_.search));
    PARITAS_ASSIGN(planned.model, plan_.files.resolve(model));
    return {};
  }

  Status plan_recording(const char* which, const ProjectRecording& recording, OpenSide& open) {
    PARITAS_ASSIGN(open.path, plan_.files.resolve(recording.path));
    open.subject = open.path.string();
    open.options.table = std::string("recordings.") + which;
    open.options.format = recording.format;
    open.options.runner = recording.runner;
    open.options.dtype = recording.dtype;
    open.options.dtypes = recording.dtypes;
    open.options.shapes = recording.shapes;
    open.options.outputs_only = recording.outputs_only;
    open.options.verify_hashes = true;
    open.options.scratch = scratch_;
    const std::pair<const std::string*, std::optional<Path>*> files[] = {
        {&recording.model, &open.options.model},
        {&recording.names, &open.options.names},
        {&recording.input_list, &open.options.input_list}};
    for (const auto& [declared, option] : files)
      if (!declared->empty()) {
        PARITAS_ASSIGN(*option, plan_.files.resolve(*declared));
      }
    return open_side(open);
  }

  Result<Subjects> subjects_of(const PlannedSide& side) const {
    Subjects subjects;
    if (side.package) {
      for (const ContractPort& input : side.package->manifest.inputs)
        subjects.emplace_back(input.name, Role::kInput, std::string(), input.dtype);
      for (const ContractPort& output : side.package->manifest.outputs)
        subjects.emplace_back(output.name, Role::kOutput, std::string(), output.dtype);
      for (const PackageCut& cut : side.package->manifest.cuts)
        for (const BoundaryTensor& tensor : cut.tensors)
          subjects.emplace_back(tensor.name, Role::kIntermediate, std::string("feature"), tensor.dtype);
      return subjects;
    }
    if (!side.target && !side.board) {
      for (const TensorInfo& tensor : side.open.info().tensors)
        subjects.emplace_back(tensor.name, tensor.role, std::string(), tensor.dtype);
      return subjects;
    }
    PARITAS_ASSIGN(const ModelNames names, names_of_model(side.model));
    for (const NamedPort& input : names.inputs)
      subjects.emplace_back(input.name, Role::kInput, std::string(), input.dtype);
    std::vector<std::string> outputs;
    for (const NamedPort& output : names.outputs) {
      subjects.emplace_back(output.name, Role::kOutput, std::string(), output.dtype);
      outputs.push_back(output.name);
    }
    std::vector<bool> used(plan_.project.marks.size(), false);
    for (const std::string& tensor : names.tensors) {
      bool marked = false;
      for (size_t i = 0; i < used.size(); ++i)
        if (plan_.project.marks[i] == "all" || glob_match(plan_.project.marks[i], tensor)) used[i] = marked = true;
      if (marked && !holds(outputs, tensor))
        subjects.emplace_back(tensor, Role::kIntermediate, std::string(), std::nullopt);
    }
    for (size_t i = 0; i < used.size(); ++i)
      if (!used[i])
        return usage_error(plan_.project.subject + ", [targets]",
                           fmt::format("marks: {} has no tensor \"{}\"", side.model.string(), plan_.project.marks[i]),
                           "paritas inspect lists its tensors with --verbose");
    return subjects;
  }

  // Roles, tasks and gates name tensors of the reference; gates may also name what only the device has.
  Status check_names() {
    const Project& project = plan_.project;
    PARITAS_ASSIGN(Subjects subjects, subjects_of(plan_.reference));
    std::vector<std::string> reference;
    for (const GateSubject& subject : subjects) reference.push_back(subject.name);
    PARITAS_ASSIGN(Subjects device, subjects_of(plan_.device));
    for (const GateSubject& subject : device)
      if (!holds(reference, subject.name)) subjects.push_back(subject);
    for (const ProjectOutput& output : project.outputs) {
      auto it =
          std::find_if(subjects.begin(), subjects.end(), [&](const GateSubject& s) { return s.name == output.name; });
      if (it == subjects.end())
        return usage_error(fmt::format("{}, [outputs.{}]", project.subject, output.name),
                           "neither side has a tensor of this name", "the reference has: " + joined(reference));
      it->declared_role = output.role;
    }
    for (const ProjectTask& task : project.tasks)
      for (const std::string& output : task.outputs)
        if (!holds(reference, output))
          return usage_error(fmt::format("{}, task \"{}\"", project.subject, task.name),
                             fmt::format("the reference has no tensor \"{}\"", output), "it has: " + joined(reference));
    PARITAS_ASSIGN(
        const auto notes,
        check_gates_match(project.gates, subjects, "declare it under [outputs.NAME]"));  // the comparison notes them
    return {};
  }

  Status read_all_labels() {
    for (const ProjectTask& task : plan_.project.tasks) {
      if (task.labels.empty()) continue;
      PARITAS_ASSIGN(const Path path, plan_.files.resolve(task.labels));
      PARITAS_ASSIGN(plan_.labels[task.name], read_labels(path));
    }
    return {};
  }

  Status check_fed(const PlannedSide& side, const std::vector<NamedTensors>& samples) const {
    if (side.package)
      for (const NamedTensors& sample : samples) PARITAS_TRY(check_package_inputs(*side.package, sample));
    if (!side.target && !side.board) return {};
    for (const NamedTensors& sample : samples) {
      auto fits = check_fed_inputs(side.model, sample);
      // What is said about --input belongs to the command line.
      if (!fits) return usage_error(plan_.project.subject, fits.error().cause, "correct it under [inputs]");
    }
    return {};
  }

  // Two recordings are held against the inputs that are declared: these must be the reference's, or the device's.
  Status check_recorded() const {
    const uint64_t declared = plan_.inputs.samples.size();
    for (const PlannedSide* side : {&plan_.reference, &plan_.device})
      if (const uint64_t recorded = side->open.stream->sample_count(); declared > 1 && recorded != declared)
        return usage_error(plan_.project.subject + ", [inputs]",
                           fmt::format("{} samples are declared, {} holds {}", declared, side->open.subject, recorded),
                           "declare the inputs of every sample, or one for all of them");
    for (const CheckedInput& input : plan_.inputs.records)
      if (plan_.reference.open.info().find(input.name) == nullptr &&
          plan_.device.open.info().find(input.name) == nullptr)
        return usage_error(fmt::format("{}, [inputs.{}]", plan_.project.subject, input.name),
                           "neither recording holds this input, so that nothing is held against it",
                           "check the name, or leave it out");
    return {};
  }

  Status check_steps() const {
    for (const ProjectStep& step : plan_.project.steps) {
      if ((plan_.reference.package || plan_.reference.board) && std::holds_alternative<SizeProbeStep>(step))
        return usage_error(plan_.project.subject,
                           fmt::format("the step \"size-probe\" runs a model in this process's workers, but the "
                                       "reference is a {}",
                                       plan_.reference.package ? "package" : "board"),
                           "name a target as the reference, or leave the step out");
      const auto* locate = std::get_if<LocateStep>(&step);
      if (locate != nullptr && locate->sample >= plan_.inputs.samples.size())
        return usage_error(plan_.project.subject,
                           fmt::format("the step \"locate\" asks for sample {}, there {} {}", locate->sample,
                                       plan_.inputs.samples.size() == 1 ? "is" : "are", plan_.inputs.samples.size()),
                           "samples are counted from 0");
      if (const auto* probe = std::get_if<SizeProbeStep>(&step)) PARITAS_TRY(check_size_probe(*probe));
    }
    return {};
  }

  Status check_size_probe(const SizeProbeStep& probe) const {
    const std::string where = plan_.project.subject + ", step \"size-probe\"";
    PARITAS_ASSIGN(const ModelNames names, names_of_model(plan_.reference.model));
    if (names.tflite) return usage_error(where, "looks into ONNX models only", "leave the step out");
    std::vector<std::string> inputs, outputs;
    for (const NamedPort& input : names.inputs) inputs.push_back(input.name);
    for (const NamedPort& output : names.outputs) outputs.push_back(output.name);
    if (!holds(inputs, probe.input))
      return usage_error(where, fmt::format("the model has no input \"{}\"", probe.input), "it has: " + joined(inputs));
    if (!holds(outputs, probe.boxes))
      return usage_error(where, fmt::format("the model has no output \"{}\"", probe.boxes),
                         "it has: " + joined(outputs));
    return {};
  }

  const CheckRequest& request_;
  const Path& scratch_;
  CheckPlan plan_;
};

}  // namespace

Result<CheckPlan> plan_check(const CheckRequest& request, const Path& scratch) {
  return Planner(request, scratch).run();
}

}  // namespace paritas
