#include "paritas/project/project.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "paritas/base/sha256.h"
#include "paritas/judge/profiles.h"
#include "paritas/judge/toml_json.h"
#include "paritas/project/read_parts.h"
#include "paritas/task/spec_reader.h"

namespace paritas {
namespace {

constexpr uint64_t kLargestProject = 4 << 20;  // bytes

Status read_model(const Json& json, const std::string& where, ProjectModel& model) {
  PARITAS_ASSIGN(SpecReader reader, table(json, where));
  PARITAS_TRY(reader.require("reference"));
  PARITAS_TRY(reader.text("reference", model.reference));
  model.device = model.reference;
  PARITAS_TRY(reader.text("device", model.device));
  if (const Json* dims = reader.raw("dims")) {
    if (!dims->is_object()) return usage_error(where, "\"dims\" must be a table", "for example: dims = { batch = 1 }");
    for (const auto& [dim, value] : dims->items()) {
      if (!value.is_number_integer() || value.get<int64_t>() < 0)
        return usage_error(where, fmt::format("dims: \"{}\" must be a whole number, not negative", dim));
      model.dims[dim] = value.get<int64_t>();
    }
  }
  return reader.finish();
}

// name = { target, model, fed }
Status read_further_table(const Json& json, const std::string& where, NamedSide& further) {
  PARITAS_ASSIGN(SpecReader reader, table(json, where));
  PARITAS_TRY(reader.require("target"));
  PARITAS_TRY(reader.text("target", further.side.target));
  PARITAS_TRY(reader.text("model", further.model));
  PARITAS_TRY(reader.choice<Feed>(
      "fed", {{"declared", Feed::kDeclared}, {"float", Feed::kFloat}, {"dequantised", Feed::kDequantised}},
      further.feed));
  return reader.finish();
}

// [targets.further]: name = target, or a table.
Status read_further(const Json& json, Project& project) {
  const std::string where = project.subject + ", [targets.further]";
  if (!json.is_object()) return usage_error(where, "must be a table", "for example: builtin = \"tflite:builtin\"");
  for (const auto& [name, target] : json.items()) {
    if (name == "reference" || name == "device")
      return usage_error(where, fmt::format("\"{}\" stands under [targets]", name));
    NamedSide further;
    further.name = name;
    if (target.is_object())
      PARITAS_TRY(read_further_table(target, fmt::format("{}, [targets.further.{}]", project.subject, name), further));
    else if (target.is_string())
      further.side.target = target.get<std::string>();
    if (further.side.target.empty())
      return usage_error(where, fmt::format("\"{}\" must be a target", name),
                         "for example: \"tflite:builtin\", or { target = \"tflite:ref\", model = \"float.tflite\" }");
    project.further.push_back(std::move(further));
  }
  return {};
}

// [targets] and [recordings] together: each side stands in exactly one of them.
Status read_sides(SpecReader& root, Project& project) {
  const std::pair<const char*, ProjectSide*> sides[] = {{"reference", &project.reference}, {"device", &project.device}};
  if (const Json* targets = root.raw("targets")) {
    const std::string where = project.subject + ", [targets]";
    PARITAS_ASSIGN(SpecReader reader, table(*targets, where));
    for (const auto& [key, side] : sides) PARITAS_TRY(reader.text(key, side->target));
    PARITAS_TRY(reader.texts("marks", project.marks));
    if (const Json* further = reader.raw("further")) PARITAS_TRY(read_further(*further, project));
    PARITAS_TRY(reader.finish());
  }
  if (const Json* recordings = root.raw("recordings")) {
    const std::string where = project.subject + ", [recordings]";
    PARITAS_ASSIGN(SpecReader reader, table(*recordings, where));
    for (const auto& [key, side] : sides)
      if (const Json* json = reader.raw(key)) {
        PARITAS_ASSIGN(side->recording,
                       read_recording(*json, fmt::format("{}, [recordings.{}]", project.subject, key)));
      }
    PARITAS_TRY(reader.finish());
  }
  for (const auto& [key, side] : sides) {
    if (!side->target.empty() && side->recording)
      return usage_error(project.subject, fmt::format("the {} is both a target and a recording", key),
                         "leave it out of [targets] or of [recordings]");
    if (side->target.empty() && !side->recording)
      return usage_error(
          project.subject, fmt::format("the {} is missing", key),
          fmt::format("name it under [targets] ({} = \"cpu\") or [recordings] ({} = \"FOLDER\")", key, key));
  }
  return {};
}

// [exec.NAME]: commands that the user calls boards.
Status read_boards(const Json& json, Project& project) {
  if (!json.is_object()) return usage_error(project.subject + ", [exec]", "must be a table of tables", "[exec.board]");
  for (const auto& [name, entry] : json.items()) {
    if (name.empty() || is_board_file(name))
      return usage_error(fmt::format("{}, [exec.{}]", project.subject, name), "is no name of a board",
                         "a name that ends with .toml is that of a file");
    PARITAS_ASSIGN(Board board, board_from_json(entry, fmt::format("{}, [exec.{}]", project.subject, name)));
    board.target = "exec:" + name;
    board.table = fmt::format("exec.{}.outputs", name);
    project.boards.emplace(name, std::move(board));
  }
  return {};
}

// A board that no side names would be a command that someone believes to have been run.
Status check_boards(const Project& project) {
  std::vector<std::string> targets = {project.reference.target, project.device.target};
  for (const NamedSide& further : project.further) targets.push_back(further.side.target);
  for (const std::string& target : targets)
    if (const auto name = board_of_target(target); name && !is_board_file(*name) && project.boards.count(*name) == 0)
      return usage_error(project.subject, fmt::format("there is no board \"{}\"", *name),
                         fmt::format("declare it under [exec.{}], or name a file: exec:{}.toml", *name, *name));
  for (const auto& [name, board] : project.boards)
    if (std::find(targets.begin(), targets.end(), board.target) == targets.end())
      return usage_error(board.subject, "no side is run on it", fmt::format("name it: device = \"exec:{}\"", name));
  return {};
}

Status read_outputs(const Json& json, Project& project) {
  if (!json.is_object()) return usage_error(project.subject + ", [outputs]", "must be a table of tables");
  for (const auto& [name, entry] : json.items()) {
    const std::string where = fmt::format("{}, [outputs.{}]", project.subject, name);
    PARITAS_ASSIGN(SpecReader reader, table(entry, where));
    ProjectOutput output;
    output.name = name;
    PARITAS_TRY(reader.text("role", output.role));
    if (!output.role.empty() &&
        std::find(known_roles().begin(), known_roles().end(), output.role) == known_roles().end())
      return usage_error(where, fmt::format("\"{}\" is not a role", output.role), "roles are " + joined(known_roles()));
    PARITAS_TRY(reader.quantisation("quantisation", output.quantisation));
    PARITAS_TRY(reader.text("meaning", output.meaning));
    PARITAS_TRY(reader.finish());
    if (output.role.empty() && !output.quantisation && output.meaning.empty())
      return usage_error(where, "declares nothing", "give it a role, a quantisation or a meaning, or leave it out");
    project.outputs.push_back(std::move(output));
  }
  return {};
}

Status read_ranked(const Json& json, const std::string& where, std::vector<RankedPair>& ranked) {
  if (!json.is_array())
    return usage_error(where, "\"ranked\" must be a list",
                       "for example: ranked = [{ scores = \"scores\", ids = \"labels\" }]");
  for (const Json& entry : json) {
    PARITAS_ASSIGN(SpecReader reader, table(entry, where + ", ranked"));
    RankedPair pair;
    PARITAS_TRY(reader.require("scores"));
    PARITAS_TRY(reader.require("ids"));
    PARITAS_TRY(reader.text("scores", pair.scores));
    PARITAS_TRY(reader.text("ids", pair.ids));
    PARITAS_TRY(reader.finish());
    ranked.push_back(std::move(pair));
  }
  return {};
}

Status read_pairing(const Json& json, Project& project) {
  const std::string where = project.subject + ", [pairing]";
  PARITAS_ASSIGN(SpecReader reader, table(json, where));
  PARITAS_TRY(reader.choice<bool>("names", {{"exact", false}, {"normalised", true}}, project.pairing.normalised));
  if (const Json* aliases = reader.raw("aliases")) {
    if (!aliases->is_object())
      return usage_error(where, "\"aliases\" must be a table",
                         "for example: aliases = { \"reference name\" = \"device name\" }");
    for (const auto& [name, alias] : aliases->items()) {
      if (!alias.is_string()) return usage_error(where, fmt::format("aliases: \"{}\" must be a text", name));
      project.pairing.aliases[name] = alias.get<std::string>();
    }
  }
  if (const Json* ranked = reader.raw("ranked")) PARITAS_TRY(read_ranked(*ranked, where, project.ranked));
  PARITAS_TRY(flag(reader, "inputs_unverified", project.inputs_unverified));
  return reader.finish();
}

Status read_positions(SpecReader& root, Project& project) {
  if (const Json* cuts = root.raw("cuts")) {
    const std::string where = project.subject + ", [cuts]";
    PARITAS_ASSIGN(SpecReader reader, table(*cuts, where));
    for (const auto& [name, value] : cuts->items()) {
      NamedPositions cut;
      cut.name = name;
      PARITAS_TRY(reader.texts(name.c_str(), cut.tensors));
      if (cut.tensors.empty()) return usage_error(where, fmt::format("\"{}\" lists no tensor", name));
      project.cuts.push_back(std::move(cut));
    }
  }
  if (const Json* probes = root.raw("probes")) {
    PARITAS_ASSIGN(SpecReader reader, table(*probes, project.subject + ", [probes]"));
    PARITAS_TRY(reader.require("positions"));
    PARITAS_TRY(reader.texts("positions", project.probes));
    PARITAS_TRY(reader.finish());
  }
  return {};
}

// [gates] and the [[gate]] tables. The hash covers what the gates are, not how the file is laid out, and the text of
// the profiles that it names.
Status read_gates(SpecReader& root, Project& project) {
  const Json* settings = root.raw("gates");
  const Json* list = root.raw("gate");
  if (settings == nullptr && list == nullptr) return {};
  const std::string where = project.subject + ", gates";
  Json json = settings == nullptr ? Json::object() : *settings;
  if (!json.is_object()) return usage_error(where, "must be a table", "write gates as [[gate]] tables");
  if (list != nullptr) {
    if (json.contains("gate")) return usage_error(where, "[[gate]] and [[gates.gate]] are one list", "use [[gate]]");
    json["gate"] = *list;
  }
  PARITAS_ASSIGN(project.gates, gates_from_json(json, where));
  if (project.gates.empty()) return {};
  std::string text = dump_json(json, -1) + "\n";
  if (auto profiles = json.find("profiles"); profiles != json.end())
    for (const Json& wanted : *profiles) text += find_profile(wanted.get<std::string>())->toml + "\n";
  project.gates.sha256 = sha256_hex(std::as_bytes(std::span(text)));
  return {};
}

// [package]: gates of the CPU parts are read here, before anything that could be looked at.
Status read_package(const Json& json, Project& project) {
  const std::string where = project.subject + ", [package]";
  ProjectPackage& package = project.package;
  package.declared = true;
  PARITAS_ASSIGN(SpecReader reader, table(json, where));
  PARITAS_TRY(reader.texts("cuts", package.cuts));
  PARITAS_TRY(reader.texts("boundary", package.boundary));
  if (const Json* gates = reader.raw("cpu_gates")) {
    PARITAS_ASSIGN(package.cpu_gates, gates_from_json(*gates, where + ", cpu_gates"));
    const std::string text = dump_json(*gates, -1);
    package.cpu_gates.sha256 = sha256_hex(std::as_bytes(std::span(text)));
  }
  if (const Json* parts = reader.raw("part")) {
    if (!parts->is_array()) return usage_error(where, "\"part\" must be a list of tables", "write [[package.part]]");
    for (const Json& entry : *parts) {
      PARITAS_ASSIGN(SpecReader part, table(entry, where + ", part"));
      ProjectPart made;
      for (const auto& [key, value] : {std::pair("name", &made.name), std::pair("target", &made.target)}) {
        PARITAS_TRY(part.require(key));
        PARITAS_TRY(part.text(key, *value));
      }
      PARITAS_TRY(part.finish());
      package.parts.push_back(std::move(made));
    }
  }
  return reader.finish();
}

Status check_consistent(const Project& p) {
  for (const std::string& name : p.package.cuts)
    if (std::none_of(p.cuts.begin(), p.cuts.end(), [&](const NamedPositions& cut) { return cut.name == name; }))
      return usage_error(p.subject + ", [package]", fmt::format("names the cut \"{}\", which [cuts] lacks", name),
                         fmt::format("declare it: [cuts] {} = [\"tensor\"]", name));
  if (p.runs_anything() && p.model.reference.empty())
    return usage_error(p.subject, "a target is to be run, but there is no model",
                       "add [model] reference = \"model.onnx\"");
  if (!p.runs_anything() && !p.marks.empty())
    return usage_error(p.subject + ", [targets]", "\"marks\" needs a side that is run");
  if (p.model.reference.empty() && (!p.cuts.empty() || !p.probes.empty()))
    return usage_error(p.subject, "cuts and probes are positions in a model, and there is none",
                       "add [model] reference = \"model.onnx\"");
  for (const ProjectStep& step : p.steps) {
    if (const auto* locate = std::get_if<LocateStep>(&step))
      for (const std::string& name : locate->cuts)
        if (std::none_of(p.cuts.begin(), p.cuts.end(), [&](const NamedPositions& cut) { return cut.name == name; }))
          return usage_error(p.subject,
                             fmt::format("the step \"locate\" names the cut \"{}\", which [cuts] lacks", name),
                             fmt::format("declare it: [cuts] {} = [\"tensor\"]", name));
    if (std::holds_alternative<LocateStep>(step) && (p.reference.target.empty() || p.device.target.empty()))
      return usage_error(p.subject, "the step \"locate\" runs the model on both sides, but one is a recording",
                         "name two targets, or leave the step out");
    if (std::holds_alternative<LocateStep>(step) && p.model.device != p.model.reference)
      return usage_error(p.subject, "the step \"locate\" needs one model for both sides",
                         "leave [model] device or the step out");
    if (std::holds_alternative<SizeProbeStep>(step) && p.reference.target.empty())
      return usage_error(p.subject, "the step \"size-probe\" runs the reference, but it is a recording",
                         "name a target as the reference, or leave the step out");
  }
  return {};
}

}  // namespace

const std::vector<std::string>& known_roles() {
  static const std::vector<std::string> roles = {"logits",  "probabilities", "scores",    "boxes", "labels",
                                                 "feature", "embedding",     "keypoints", "mask"};
  return roles;
}

Result<Project> parse_project(const std::string& text, const std::string& subject) {
  PARITAS_ASSIGN(const Json json, parse_toml(text, subject));
  PARITAS_ASSIGN(SpecReader root, table(json, subject));
  Project project;
  project.subject = subject;
  project.sha256 = sha256_hex(std::as_bytes(std::span(text)));
  std::string schema;
  PARITAS_TRY(root.text("schema", schema));
  if (schema.empty())
    return usage_error(subject, "the key \"schema\" is missing",
                       fmt::format("begin with schema = \"{}\"", kProjectSchema));
  if (schema != kProjectSchema)
    return usage_error(subject, fmt::format("schema \"{}\" is not known", schema),
                       fmt::format("this version reads \"{}\"", kProjectSchema));
  // Gates before anything that could be looked at.
  PARITAS_TRY(read_gates(root, project));
  if (const Json* model = root.raw("model")) PARITAS_TRY(read_model(*model, subject + ", [model]", project.model));
  if (const Json* inputs = root.raw("inputs")) {
    PARITAS_ASSIGN(project.inputs, read_inputs(*inputs, subject));
  }
  PARITAS_TRY(read_sides(root, project));
  if (const Json* boards = root.raw("exec")) PARITAS_TRY(read_boards(*boards, project));
  PARITAS_TRY(check_boards(project));
  if (const Json* outputs = root.raw("outputs")) PARITAS_TRY(read_outputs(*outputs, project));
  if (const Json* pairing = root.raw("pairing")) PARITAS_TRY(read_pairing(*pairing, project));
  if (const Json* tasks = root.raw("task")) {
    PARITAS_ASSIGN(project.tasks, read_tasks(*tasks, subject));
    project.tasks_json = *tasks;
  }
  PARITAS_TRY(read_positions(root, project));
  if (const Json* steps = root.raw("step")) {
    PARITAS_ASSIGN(project.steps, read_steps(*steps, subject));
  }
  if (const Json* package = root.raw("package")) PARITAS_TRY(read_package(*package, project));
  PARITAS_TRY(root.finish());
  PARITAS_TRY(check_consistent(project));
  return project;
}

Result<Project> load_project(const Path& file) {
  PARITAS_ASSIGN(const std::string text, read_text(file, kLargestProject));
  return parse_project(text, file.string());
}

}  // namespace paritas
