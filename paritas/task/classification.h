// Does a classifier on the device still give the answer of the reference? docs/task-checks.md has every formula.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "paritas/recording/sample_stream.h"
#include "paritas/task/intervals.h"
#include "paritas/task/outcome.h"
#include "paritas/task/top_classes.h"

namespace paritas {

enum class ClassValues { kLogits, kProbabilities };
std::string_view name(ClassValues values);

struct ClassificationSpec {
  std::string name;    // of the task, as gates call it
  std::string output;  // tensor
  ClassValues values = ClassValues::kLogits;
  int64_t k = 5;
  int64_t axis = -1;                         // dimension of the classes; those behind it must be 1
  std::vector<std::string> class_names;      // empty, or one per class
  std::optional<Quantisation> quantisation;  // of integer outputs whose recording has none
};

// Keys: type ("classification"), name, output, values, k, axis, class_names, quantisation {scale, zero_point, axis}.
Result<ClassificationSpec> classification_from_json(const Json& object, const std::string& subject);

struct ClassProbability {
  int64_t class_index = 0;
  double probability = 0;  // [0, 1]
};

enum class LabelHit { kRight, kTied, kWrong };  // kTied: the label shares the first place
std::string_view name(LabelHit hit);

// Why a row of one side is no answer; the first that applies.
enum class RowFault { kNone, kNonfinite, kNoDistribution };

struct ClassificationSide {
  RowFault fault = RowFault::kNone;
  bool constant = false;              // every class has the same value
  std::vector<ClassProbability> top;  // the first k, ties by index
  std::vector<int64_t> first;         // classes that share the first place (of all values equal: one entry)
  std::optional<LabelHit> hit;        // when the row has a label
  uint64_t digest = 0;                // of the row's values: equal rows have equal digests
};

// One row of a batch.
struct ClassificationRow {
  std::string sample;
  uint64_t row = 0;
  std::optional<int64_t> label;
  uint64_t classes = 0;
  ClassificationSide reference, device;
  // The rest holds only where both sides are free of faults.
  Agreement top1 = Agreement::kDifferent;
  Agreement topk = Agreement::kDifferent;
  bool same_order = false;                       // of the first k
  double max_probability_difference = 0;         // over the classes
  int64_t max_probability_difference_class = 0;  // the first one with it
  double mean_probability_difference = 0;        // over the classes
  double first_probability_difference = 0;       // at the reference's first class
  double kl_divergence = 0;                      // nats, of the device from the reference; may be infinite
  uint64_t device_only_infinite = 0;             // classes that are -inf on the device, finite on the reference
};

struct ClassificationSample {
  std::vector<ClassificationRow> rows;
  std::vector<TaskIssue> issues;  // the device has no such output, or one of another shape
};

struct AccuracyCount {
  uint64_t right = 0, tied = 0, wrong = 0;  // rows
  double share = 0;                         // right / rows
  Interval interval;                        // Wilson, 95 %
};

struct ClassificationResult {
  ClassificationSpec spec;
  std::vector<ClassificationRow> rows;
  uint64_t samples = 0;
  uint64_t judged = 0;  // rows whose reference is free of faults
  uint64_t top1_same = 0, top1_undecided = 0, topk_same = 0, topk_undecided = 0, order_same = 0;
  Interval top1_interval;  // of top1_same / judged
  std::optional<AccuracyCount> reference_accuracy, device_accuracy;
  uint64_t lost = 0,
           gained = 0;  // labelled rows right on one side only; a tie counts for the reference, not the device
  Interval drop_interval;
  TaskOutcome outcome;
};

// Every row of one sample. `labels`: empty, or one class per row. Errors: the declaration does not fit the reference
// (missing output, values that cannot be what is declared, labels out of range). What is wrong with the device is no
// error, but part of the result.
Result<ClassificationSample> classify_sample(const ClassificationSpec& spec, const Sample& reference,
                                             const RunInfo& reference_info, const Sample& device,
                                             const RunInfo& device_info, std::span<const int64_t> labels);

// Totals over samples in their order, however they were gathered: the same rows give the same bits.
ClassificationResult conclude_classification(const ClassificationSpec& spec, std::vector<ClassificationSample> samples);

// All samples of two streams. `labels`: empty, or one per row of all samples, in order.
Result<ClassificationResult> check_classification(const ClassificationSpec& spec, SampleStream& reference,
                                                  SampleStream& device, std::span<const int64_t> labels);

// Class labels: a text file with a whole number per line (blank lines and those that start with # are skipped), or an
// .npy file of integers.
Result<std::vector<int64_t>> read_labels(const Path& path);

Json to_json(const ClassificationResult& result);

}  // namespace paritas
