#include "paritas/project/read_parts.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace paritas {
namespace {

constexpr double kLargestExact = 9007199254740992.0;  // 2^53

Result<DType> dtype_of(const Json& json, const std::string& where) {
  const auto dtype = json.is_string() ? dtype_from_name(json.get<std::string>()) : std::nullopt;
  if (!dtype)
    return usage_error(where, fmt::format("{} is not a type", dump_json(json, -1)), "for example: \"float32\"");
  return *dtype;
}

Result<Shape> shape_of(const Json& json, const std::string& where) {
  const std::string wrong = "a shape must be a list of whole numbers, not negative";
  if (!json.is_array()) return usage_error(where, wrong, "for example: [1, 3, 224, 224]");
  Shape shape;
  for (const Json& dim : json) {
    if (!dim.is_number_integer() || dim.get<int64_t>() < 0)
      return usage_error(where, wrong, "for example: [1, 3, 224, 224]");
    shape.push_back(dim.get<int64_t>());
  }
  auto count = element_count(shape);
  if (!count) return usage_error(where, count.error().cause);
  return shape;
}

// A number, or a list of numbers.
Result<std::vector<double>> values_of(const Json& json, const std::string& where) {
  std::vector<double> values;
  for (const Json& entry : json.is_array() ? json : Json::array({json})) {
    if (!entry.is_number()) return usage_error(where, "\"value\" must be a number or a flat list of numbers");
    const double value = entry.get<double>();
    if (entry.is_number_integer() && std::fabs(value) >= kLargestExact)
      return usage_error(where, "\"value\" holds a whole number beyond 2^53", "keep the tensor in a file");
    values.push_back(value);
  }
  return values;
}

Status read_files(const char* one, const char* many, const Json* single, const Json* list, const std::string& where,
                  std::vector<std::string>& files) {
  const std::string wrong = list != nullptr ? fmt::format("\"{}\" must be a list of file names", many)
                                            : fmt::format("\"{}\" must be a file name", one);
  for (const Json& entry : list != nullptr ? *list : Json::array({*single})) {
    if (!entry.is_string() || entry.get_ref<const std::string&>().empty()) return usage_error(where, wrong);
    files.push_back(entry.get<std::string>());
  }
  if ((list != nullptr && !list->is_array()) || files.empty()) return usage_error(where, wrong);
  return {};
}

Status read_source(SpecReader& reader, const std::string& where, ProjectInput& input) {
  const Json* file = reader.raw("file");
  const Json* files = reader.raw("files");
  const Json* image = reader.raw("image");
  const Json* images = reader.raw("images");
  const Json* value = reader.raw("value");
  const int sources =
      (file != nullptr) + (files != nullptr) + (image != nullptr) + (images != nullptr) + (value != nullptr);
  if (sources > 1) return usage_error(where, "has several sources", "keep one of file, files, image, images and value");
  if (file != nullptr || files != nullptr) {
    input.source = InputSource::kFiles;
    return read_files("file", "files", file, files, where, input.files);
  }
  if (image != nullptr || images != nullptr) {
    input.source = InputSource::kImages;
    return read_files("image", "images", image, images, where, input.files);
  }
  if (value == nullptr) return {};
  input.source = InputSource::kValue;
  PARITAS_ASSIGN(input.values, values_of(*value, where));
  return {};
}

Status check_input(const ProjectInput& input, const std::string& where) {
  switch (input.source) {
    case InputSource::kNone:
      if (!input.quantisation)
        return usage_error(where, "has no source", "give it file, files, image, images or value");
      if (input.dtype || input.shape || input.steps) return usage_error(where, "dtype, shape and steps need a source");
      return {};
    case InputSource::kFiles:
      if (input.steps) return usage_error(where, "\"steps\" belong to an image", "write image = instead of file =");
      return {};
    case InputSource::kImages:
      if (!input.steps)
        return usage_error(where, "an image needs its steps",
                           fmt::format("add [inputs.{}.steps], see docs/images.md", input.name));
      if (input.dtype || input.shape) return usage_error(where, "type and shape of an image follow from its steps");
      return {};
    case InputSource::kValue:
      if (input.steps) return usage_error(where, "\"steps\" belong to an image");
      if (!input.dtype || !input.shape)
        return usage_error(where, "a value needs its type and shape",
                           "for example: value = [640, 480], dtype = \"int64\", shape = [1, 2]");
      return {};
  }
  return {};
}

Result<ProjectInput> read_input(const std::string& name, const Json& json, const std::string& where) {
  PARITAS_ASSIGN(SpecReader reader, table(json, where));
  ProjectInput input;
  input.name = name;
  PARITAS_TRY(read_source(reader, where, input));
  if (const Json* steps = reader.raw("steps")) {
    PARITAS_ASSIGN(input.steps, pipeline_from_json(*steps, fmt::format("{}, steps", where)));
  }
  if (const Json* dtype = reader.raw("dtype")) {
    PARITAS_ASSIGN(input.dtype, dtype_of(*dtype, where));
  }
  if (const Json* shape = reader.raw("shape")) {
    PARITAS_ASSIGN(input.shape, shape_of(*shape, where));
  }
  if (const Json* rule = reader.raw("quantisation")) {
    PARITAS_ASSIGN(input.quantisation, quantisation_rule_from_json(*rule, fmt::format("{}, quantisation", where)));
  }
  PARITAS_TRY(reader.text("meaning", input.meaning));
  PARITAS_TRY(reader.finish());
  PARITAS_TRY(check_input(input, where));
  return input;
}

// Labels and outputs are keys of the project file; the rest belongs to the task itself.
Result<ProjectTask> read_task(const Json& json, const std::string& where) {
  if (!json.is_object()) return usage_error(where, "must be a table");
  ProjectTask task;
  Json rest = json;
  const std::string type = json.contains("type") && json["type"].is_string() ? json["type"].get<std::string>() : "";
  if (type == "classification") {
    PARITAS_ASSIGN(SpecReader reader, table(json, where));
    PARITAS_TRY(reader.text("labels", task.labels));
    rest.erase("labels");
    PARITAS_ASSIGN(ClassificationSpec spec, classification_from_json(rest, where));
    task.name = spec.name;
    task.outputs = {spec.output};
    task.spec = std::move(spec);
  } else if (type == "detection") {
    PARITAS_ASSIGN(DetectionSpec spec, detection_from_json(rest, where));
    task.name = spec.name;
    task.outputs = {spec.boxes, spec.scores};
    for (const std::string& output : {spec.labels, spec.num_detections})
      if (!output.empty()) task.outputs.push_back(output);
    task.spec = std::move(spec);
  } else if (type == "command") {
    PARITAS_ASSIGN(SpecReader reader, table(json, where));
    PARITAS_TRY(reader.texts("outputs", task.outputs));
    rest.erase("outputs");
    PARITAS_ASSIGN(CommandSpec spec, command_from_json(rest, where));
    task.name = spec.name;
    task.spec = std::move(spec);
  } else {
    return usage_error(where,
                       type.empty() ? "\"type\" is missing" : fmt::format("\"{}\" is not the type of a task", type),
                       "types are classification, detection and command");
  }
  if (task.name.empty()) task.name = type;
  return task;
}

Result<LocateStep> read_locate(SpecReader& reader) {
  LocateStep step;
  int64_t sample = 0;
  PARITAS_TRY(reader.whole("sample", sample));
  if (sample < 0) return usage_error(reader.subject(), "\"sample\" must not be negative");
  step.sample = static_cast<uint64_t>(sample);
  PARITAS_TRY(reader.choice<bool>("when", {{"no pass", false}, {"always", true}}, step.always));
  PARITAS_TRY(reader.optional_number("injection_seconds", step.injection_seconds));
  if (step.injection_seconds && !(*step.injection_seconds >= 0 && *step.injection_seconds <= 1e6))
    return usage_error(reader.subject(), "\"injection_seconds\" must be in [0, 1e6]");
  PARITAS_TRY(reader.texts("cuts", step.cuts));
  if (const Json* only = reader.raw("only_cuts")) {
    if (!only->is_boolean()) return usage_error(reader.subject(), "\"only_cuts\" must be true or false");
    step.only_cuts = only->get<bool>();
  }
  if (step.only_cuts && step.cuts.empty())
    return usage_error(reader.subject(), "\"only_cuts\" needs cuts", "name some of [cuts]: cuts = [\"encoder\"]");
  PARITAS_TRY(reader.finish());
  return step;
}

Result<SizeProbeStep> read_size_probe(SpecReader& reader) {
  SizeProbeStep step;
  for (const char* key : {"input", "boxes", "format"}) PARITAS_TRY(reader.require(key));
  PARITAS_TRY(reader.text("input", step.input));
  PARITAS_TRY(reader.text("boxes", step.boxes));
  // Which coordinate is x decides the answer: it must be declared, not guessed.
  PARITAS_TRY(reader.choice<BoxFormat>("format",
                                       {{"xyxy", BoxFormat::kXyxy},
                                        {"xywh", BoxFormat::kXywh},
                                        {"cxcywh", BoxFormat::kCxcywh},
                                        {"yxyx", BoxFormat::kYxyx}},
                                       step.format));
  PARITAS_TRY(reader.choice<std::string>("order", {{"wh", "wh"}, {"hw", "hw"}}, step.order));
  PARITAS_TRY(reader.finish());
  return step;
}

}  // namespace

Result<SpecReader> table(const Json& json, const std::string& where) {
  if (!json.is_object()) return usage_error(where, "must be a table");
  return SpecReader::of(json, where);
}

Status flag(SpecReader& reader, const char* key, bool& value) {
  const Json* json = reader.raw(key);
  if (json == nullptr) return {};
  if (!json->is_boolean()) return usage_error(reader.subject(), fmt::format("\"{}\" must be true or false", key));
  value = json->get<bool>();
  return {};
}

std::string joined(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  return list;
}

Result<std::vector<ProjectInput>> read_inputs(const Json& json, const std::string& subject) {
  if (!json.is_object()) return usage_error(subject + ", [inputs]", "must be a table of tables");
  std::vector<ProjectInput> inputs;
  size_t samples = 1;
  for (const auto& [name, entry] : json.items()) {
    PARITAS_ASSIGN(ProjectInput input, read_input(name, entry, fmt::format("{}, [inputs.{}]", subject, name)));
    samples = std::max(samples, input.files.size());
    inputs.push_back(std::move(input));
  }
  for (const ProjectInput& input : inputs)
    if (input.files.size() > 1 && input.files.size() != samples)
      return usage_error(fmt::format("{}, [inputs.{}]", subject, input.name),
                         fmt::format("has {} files, another input {}", input.files.size(), samples),
                         "give each input one file, or one a sample");
  return inputs;
}

Result<ProjectRecording> read_recording(const Json& json, const std::string& where) {
  ProjectRecording recording;
  if (json.is_string()) {
    recording.path = json.get<std::string>();
    if (recording.path.empty()) return usage_error(where, "the path is empty");
    return recording;
  }
  PARITAS_ASSIGN(SpecReader reader, table(json, where));
  PARITAS_TRY(reader.require("path"));
  const std::pair<const char*, std::string*> texts[] = {
      {"path", &recording.path},   {"format", &recording.format}, {"runner", &recording.runner},
      {"model", &recording.model}, {"names", &recording.names},   {"input_list", &recording.input_list}};
  for (const auto& [key, value] : texts) PARITAS_TRY(reader.text(key, *value));
  if (const Json* dtype = reader.raw("dtype")) {
    PARITAS_ASSIGN(recording.dtype, dtype_of(*dtype, where));
  }
  if (const Json* dtypes = reader.raw("dtypes")) {
    if (!dtypes->is_object()) return usage_error(where, "\"dtypes\" must be a table");
    for (const auto& [name, value] : dtypes->items()) {
      PARITAS_ASSIGN(recording.dtypes[name], dtype_of(value, where));
    }
  }
  if (const Json* shapes = reader.raw("shapes")) {
    if (!shapes->is_object()) return usage_error(where, "\"shapes\" must be a table");
    for (const auto& [name, value] : shapes->items()) {
      PARITAS_ASSIGN(recording.shapes[name], shape_of(value, where));
    }
  }
  PARITAS_TRY(flag(reader, "outputs_only", recording.outputs_only));
  PARITAS_TRY(reader.finish());
  return recording;
}

Result<std::vector<ProjectTask>> read_tasks(const Json& json, const std::string& subject) {
  if (!json.is_array()) return usage_error(subject, "tasks must be [[task]] tables");
  std::vector<ProjectTask> tasks;
  for (size_t i = 0; i < json.size(); ++i) {
    const std::string where = fmt::format("{}, task {}", subject, i + 1);
    PARITAS_ASSIGN(ProjectTask task, read_task(json[i], where));
    for (const ProjectTask& other : tasks)
      if (other.name == task.name)
        return usage_error(where, fmt::format("a task is called \"{}\" already", task.name),
                           "give it a name of its own");
    tasks.push_back(std::move(task));
  }
  return tasks;
}

Result<std::vector<ProjectStep>> read_steps(const Json& json, const std::string& subject) {
  if (!json.is_array()) return usage_error(subject, "steps must be [[step]] tables");
  std::vector<ProjectStep> steps;
  for (size_t i = 0; i < json.size(); ++i) {
    const std::string where = fmt::format("{}, step {}", subject, i + 1);
    PARITAS_ASSIGN(SpecReader reader, table(json[i], where));
    PARITAS_TRY(reader.require("type"));
    std::string type;
    PARITAS_TRY(reader.text("type", type));
    if (type == "locate") {
      PARITAS_ASSIGN(LocateStep step, read_locate(reader));
      steps.emplace_back(step);
    } else if (type == "size-probe") {
      PARITAS_ASSIGN(SizeProbeStep step, read_size_probe(reader));
      steps.emplace_back(std::move(step));
    } else {
      return usage_error(where, fmt::format("\"{}\" is not the type of a step", type),
                         "types are locate and size-probe; the comparison and every task always run");
    }
  }
  return steps;
}

}  // namespace paritas
