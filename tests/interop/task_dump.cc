// Prints what the task checks say, for task_numpy.py.
//
//   paritas-task-dump MANIFEST.json
//
// MANIFEST.json is a list of cases: {"task": declaration as in a project file, "reference": {tensor: file.npy},
// "device": {...}, "labels": file (optional)}. A JSON object per case goes to standard output, a line each: the result,
// or {"error": sentence}.
#include <fmt/format.h>

#include "paritas/task/classification.h"
#include "paritas/task/detection.h"
#include "paritas/tensor/npy.h"

namespace paritas {
namespace {

Result<Sample> read_side(const Json& files) {
  Sample sample;
  sample.id = "sample-000000";
  for (const auto& [name, file] : files.items()) {
    PARITAS_ASSIGN(Tensor tensor, read_npy(file.get<std::string>()));
    sample.tensors.emplace_back(name, std::move(tensor));
  }
  return sample;
}

Result<Json> run_case(const Json& entry) {
  PARITAS_ASSIGN(const Sample x, read_side(entry.at("reference")));
  PARITAS_ASSIGN(const Sample y, read_side(entry.at("device")));
  if (entry.at("task").at("type") == "detection") {
    PARITAS_ASSIGN(const DetectionSpec spec, detection_from_json(entry.at("task"), "task"));
    std::vector<DetectionSample> samples(1);
    PARITAS_ASSIGN(samples[0], detect_sample(spec, x, {}, y, {}));
    return to_json(conclude_detection(spec, std::move(samples)));
  }
  PARITAS_ASSIGN(const ClassificationSpec spec, classification_from_json(entry.at("task"), "task"));
  std::vector<int64_t> labels;
  if (entry.contains("labels")) {
    PARITAS_ASSIGN(labels, read_labels(entry.at("labels").get<std::string>()));
  }
  std::vector<ClassificationSample> samples(1);
  PARITAS_ASSIGN(samples[0], classify_sample(spec, x, {}, y, {}, labels));
  return to_json(conclude_classification(spec, std::move(samples)));
}

int run(const char* manifest) {
  const auto text = read_text(manifest);
  const auto cases = text ? parse_json(*text, manifest) : tl::make_unexpected(text.error());
  if (!cases) {
    fmt::print(stderr, "{}\n", cases.error().message());
    return 2;
  }
  for (const Json& entry : *cases) {
    const auto result = run_case(entry);
    fmt::print("{}\n", dump_json(result ? *result : Json{{"error", result.error().message()}}, -1));
  }
  return 0;
}

}  // namespace
}  // namespace paritas

int main(int argc, char** argv) { return argc == 2 ? paritas::run(argv[1]) : 2; }
