// What stays of the diagnosis of one sample when the next one begins: scalars and words, no tensors. As JSON it is what
// a killed run leaves for its continuation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paritas/locate/types.h"

namespace paritas {

struct RecordedFigures {
  double nmse = 0;
  double cosine = 1;
  double max_abs = 0;             // unit of the tensor
  uint64_t device_nonfinite = 0;  // elements that only the device has as NaN or infinity
};

struct RecordedNode {
  std::string name, op, tensor;
  std::optional<RecordedFigures> accumulated, forced, local;
  std::optional<double> x_baseline;
  std::optional<double> sensitivity;
  RangeViolation range = RangeViolation::kNone;
  bool consequential = false;
};

struct RecordedOutput {
  std::string name;
  Verdict verdict = Verdict::kNotJudged;
  std::string rule;
  std::optional<RecordedFigures> figures;  // absent: class ids, or not compared
};

struct RecordedDecision {
  std::string node, op, tensor;
  uint64_t count = 0, moved = 0;  // elements
};

// One combination of halves of a cut model.
struct RecordedCell {
  bool front_on_device = false, rear_on_device = false;
  catalogue::CellOutcome outcome = catalogue::CellOutcome::kFailed;
  Verdict verdict = Verdict::kNotJudged;
  std::string text;  // the deciding figure, or why it was not measured
  std::vector<RecordedOutput> outputs;
};

struct RecordedCut {
  std::string name;
  std::vector<std::string> tensors;
  SplitStatus split = SplitStatus::kNotMeasured;
  Verdict verdict = Verdict::kInvalid;
  std::vector<RecordedCell> cells;
};

struct SampleRecord {
  std::string id;
  Verdict verdict = Verdict::kInvalid;
  std::vector<std::string> reasons;
  std::vector<RecordedOutput> outputs;
  std::vector<RecordedNode> nodes;  // graph order; float tensors only
  std::vector<std::string> ranked;  // node names, worst first
  std::string first_divergence, first_divergence_tensor;
  std::vector<RecordedDecision> decisions;
  std::vector<RecordedCut> cuts;
  uint64_t on_device = 0, placed = 0;  // nodes of the optimised graph: on the device's provider, of all that are known
  std::vector<Finding> findings;
  std::vector<std::string> notes, pinned;
  Json provenance;  // of both sides
};

SampleRecord record_of(const LocateResult& result, const std::string& id);

Json to_json(const SampleRecord& record);
Result<SampleRecord> sample_record_from_json(const Json& json, const std::string& subject);

}  // namespace paritas
