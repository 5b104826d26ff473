// For tests: detections written down as rows, and their check.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "paritas/task/detection.h"

namespace paritas {

struct TestRow {
  std::vector<float> box;  // four numbers
  float score = 0;
  int64_t label = 0;
};

inline Sample detections(const std::vector<TestRow>& rows, const std::string& id = "sample-000000") {
  std::vector<float> boxes, scores;
  std::vector<int64_t> labels;
  for (const TestRow& row : rows) {
    boxes.insert(boxes.end(), row.box.begin(), row.box.end());
    scores.push_back(row.score);
    labels.push_back(row.label);
  }
  const auto n = static_cast<int64_t>(rows.size());
  Sample sample;
  sample.id = id;
  sample.tensors.emplace_back("boxes", tensor_from_values(DType::kF32, {1, n, 4}, boxes));
  sample.tensors.emplace_back("scores", tensor_from_values(DType::kF32, {1, n}, scores));
  sample.tensors.emplace_back("labels", tensor_from_values(DType::kI64, {1, n}, labels));
  return sample;
}

inline DetectionSpec test_spec() {
  DetectionSpec spec;
  spec.boxes = "boxes";
  spec.scores = "scores";
  spec.labels = "labels";
  return spec;
}

inline DetectionResult check_samples(const DetectionSpec& spec, const Sample& x, const Sample& y) {
  std::vector<DetectionSample> samples;
  samples.push_back(detect_sample(spec, x, {}, y, {}).value());
  return conclude_detection(spec, std::move(samples));
}

inline DetectionResult check_rows(const std::vector<TestRow>& x, const std::vector<TestRow>& y) {
  return check_samples(test_spec(), detections(x), detections(y));
}

inline double figure(const DetectionResult& result, const std::string& name) {
  const TaskFigure* f = result.outcome.find(name);
  return f == nullptr ? std::nan("") : f->value;
}

// kPass: the figure is not absent.
inline Verdict absent(const DetectionResult& result, const std::string& name) {
  const AbsentFigure* f = result.outcome.find_absent(name);
  return f == nullptr ? Verdict::kPass : f->verdict;
}

inline Verdict worst_issue(const DetectionResult& result) {
  Verdict worst = Verdict::kPass;
  for (const TaskIssue& issue : result.outcome.issues) worst = worse(worst, issue.verdict);
  return worst;
}

// Three boxes far apart, in pixels.
inline std::vector<TestRow> three() {
  return {{{0, 0, 10, 10}, 0.9F, 1}, {{100, 0, 120, 20}, 0.8F, 2}, {{0, 100, 30, 130}, 0.7F, 1}};
}

// The message of an error.
inline std::string error(const DetectionSpec& spec, const Sample& x) {
  auto result = detect_sample(spec, x, {}, x, {});
  return result ? "no error" : result.error().message();
}

}  // namespace paritas
