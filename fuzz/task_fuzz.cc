// Any bytes as a declared task, as the output of an evaluation command, as labels, and as the outputs of a classifier
// and of a detector. What is accepted must give figures that are numbers, and no figure of pairs beside a lost box.
#include <cmath>
#include <cstring>

#include "fuzz/memory_file.h"
#include "paritas/task/classification.h"
#include "paritas/task/command_hook.h"
#include "paritas/task/detection.h"

namespace {

using namespace paritas;

void check_outcome(const TaskOutcome& outcome) {
  for (const TaskFigure& figure : outcome.figures) require(!std::isnan(figure.value) && !figure.name.empty());
  for (const AbsentFigure& absent : outcome.absent) {
    require(absent.verdict != Verdict::kPass && !absent.reason.empty());
    require(outcome.find(absent.name) == nullptr);
  }
  for (const TaskIssue& issue : outcome.issues) require(issue.verdict != Verdict::kPass && !issue.text.empty());
  require(!dump_json(to_json(outcome)).empty());
}

void read_text_forms(const std::string& text, const uint8_t* data, size_t size) {
  if (const auto outcome = parse_command_output(text, "value", "command"))
    check_outcome(*outcome);
  else
    require(!outcome.error().cause.empty());
  if (const auto json = parse_json(text, "task")) {
    if (const auto spec = classification_from_json(*json, "task")) require(spec->k >= 1 && !spec->output.empty());
    if (const auto spec = detection_from_json(*json, "task")) require(spec->threshold >= 0 && spec->threshold < 1);
    if (const auto spec = command_from_json(*json, "task")) require(!spec->command.empty());
  }
  const MemoryFile file(data, size);
  if (const auto labels = read_labels(file.path())) require(!labels->empty());
}

Sample sample_of(std::vector<std::pair<std::string, Tensor>> tensors) {
  Sample sample;
  sample.id = "s";
  sample.tensors = std::move(tensors);
  return sample;
}

// The first half of the values is the reference's, the second the device's.
void classify(const std::vector<float>& values) {
  ClassificationSpec spec;
  spec.output = "y";
  spec.k = 2;
  const size_t half = values.size() / 8 * 4;
  const auto rows = static_cast<int64_t>(half / 4);
  const std::vector<float> x(values.begin(), values.begin() + half),
      y(values.begin() + half, values.begin() + 2 * half);
  for (const ClassValues kind : {ClassValues::kLogits, ClassValues::kProbabilities}) {
    spec.values = kind;
    auto sample = classify_sample(spec, sample_of({{"y", tensor_from_values(DType::kF32, {rows, 4}, x)}}), {},
                                  sample_of({{"y", tensor_from_values(DType::kF32, {rows, 4}, y)}}), {}, {});
    if (!sample) continue;
    std::vector<ClassificationSample> samples;
    samples.push_back(std::move(*sample));
    check_outcome(conclude_classification(spec, std::move(samples)).outcome);
  }
}

Sample detector_outputs(const float* values, int64_t rows) {
  std::vector<float> boxes, scores, labels;
  for (int64_t r = 0; r < rows; ++r) {
    boxes.insert(boxes.end(), values + r * 6, values + r * 6 + 4);
    scores.push_back(values[r * 6 + 4]);
    labels.push_back(values[r * 6 + 5]);
  }
  return sample_of({{"b", tensor_from_values(DType::kF32, {rows, 4}, boxes)},
                    {"s", tensor_from_values(DType::kF32, {rows}, scores)},
                    {"l", tensor_from_values(DType::kF32, {rows}, labels)}});
}

void detect(const std::vector<float>& values, size_t form) {
  DetectionSpec spec;
  spec.boxes = "b";
  spec.scores = "s";
  if (form % 2 == 0) spec.labels = "l";
  spec.format = static_cast<BoxFormat>(form / 2 % 4);
  const auto rows = static_cast<int64_t>(std::min<size_t>(values.size() / 12, 200));
  auto sample = detect_sample(spec, detector_outputs(values.data(), rows), {},
                              detector_outputs(values.data() + rows * 6, rows), {});
  if (!sample) return;
  std::vector<DetectionSample> samples;
  samples.push_back(std::move(*sample));
  const DetectionResult result = conclude_detection(spec, std::move(samples));
  check_outcome(result.outcome);
  require(result.matched + result.unmatched_reference == result.reference_boxes);
  require(result.matched + result.unmatched_device == result.device_boxes);
  const TaskFigure* lost = result.outcome.find("unmatched_beyond_near");
  if (result.outcome.find("matched_iou_min") != nullptr)
    require(lost != nullptr && lost->value == 0 && result.matched > 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  read_text_forms(std::string(reinterpret_cast<const char*>(data), size), data, size);
  if (size < 1) return 0;
  std::vector<float> values((size - 1) / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), data + 1, values.size() * sizeof(float));
  classify(values);
  detect(values, data[0]);
  return 0;
}
