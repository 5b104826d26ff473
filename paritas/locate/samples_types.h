// What `locate` finds out over many samples, as plain data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paritas/locate/sample_record.h"

namespace paritas {

// One figure over the samples that have it. What is not a number is worst of all, and infinite comes next; both stand
// in line for the median as well. For cosine smaller is worse, else larger.
struct FigureOverSamples {
  uint64_t samples = 0;  // that have it
  double median = 0;     // the lower of the middle two, of `median_of` samples
  uint64_t median_of = 0;
  double worst = 0;
  std::string worst_sample;
};

struct FiguresOverSamples {
  FigureOverSamples nmse, cosine, max_abs;
  uint64_t nonfinite_samples = 0;  // samples with NaN or infinities that only the device has
  std::string nonfinite_sample;    // the first of them
};

struct NodeOverSamples {
  std::string name, op, tensor;
  uint64_t samples = 0;  // in which the tensor exists
  std::optional<FiguresOverSamples> accumulated, accumulated_forced, local;
  std::optional<FigureOverSamples> x_baseline, sensitivity;
  uint64_t overflow = 0, underflow = 0;  // samples in which its range is violated
  uint64_t consequential = 0;            // samples in which its error reaches an output that deviates
};

struct OutputOverSamples {
  std::string name;
  Verdict verdict = Verdict::kInvalid;                             // worst
  uint64_t invalid = 0, deviates = 0, not_judged = 0, passed = 0;  // samples
  std::string rule;                                                // in the worst sample
  std::optional<FiguresOverSamples> figures;
  std::string worst_sample;  // first with the worst verdict, the largest NMSE among them
};

// What one sample came to.
struct SampleOutcome {
  std::string id;
  std::string failure;  // why it could not be diagnosed; nothing below is filled then
  Verdict verdict = Verdict::kInvalid;
  std::string reason;  // the first
  std::string first_divergence, first_divergence_tensor;
  double nmse = 0;  // largest over its float outputs; inf: the device alone has NaN or infinities there
  uint64_t decisions_changed = 0;
  uint64_t on_device = 0, placed = 0;  // nodes
};

struct DecisionOverSamples {
  std::string node, op, tensor;
  uint64_t count = 0;    // elements of a sample
  uint64_t changed = 0;  // samples in which it changed
  uint64_t worst = 0;    // most elements that moved in one sample
  std::string worst_sample;
};

// One combination of the halves of a cut, over the samples on which the split is sound.
struct CellOverSamples {
  bool front_on_device = false, rear_on_device = false;
  uint64_t holds = 0, deviates = 0, not_judged = 0, failed = 0, drawn = 0;  // samples
  std::vector<OutputOverSamples> outputs;
  std::string text, worst_sample;  // deciding figure or failure there; empty: nothing decides
};

struct CutOverSamples {
  std::string name;
  std::vector<std::string> tensors;
  uint64_t samples = 0;                                  // that have its matrix
  std::vector<std::pair<SplitStatus, uint64_t>> splits;  // with samples; those that occur
  Verdict verdict = Verdict::kInvalid;                   // worst of the samples'
  std::vector<CellOverSamples> cells;                    // in the order of CrossMatrix::cells
};

// A finding that was made on one sample or more.
struct FindingOverSamples {
  Finding finding;  // as worded for all samples
  uint64_t holds = 0;
  std::vector<std::string> samples;  // on which it holds; the first 64
  std::string told_from;             // the sample whose numbers the text has
  bool in_worst = false, in_median = false;
};

struct SamplesResult {
  Verdict verdict = Verdict::kInvalid;
  std::vector<std::string> reasons;
  std::string model, reference, device;  // as given
  std::vector<std::string> gate_texts;
  std::string gates_sha256;
  std::string inputs_sha256;  // of all samples, in order
  std::vector<std::string> pinned;
  uint64_t asked = 0, diagnosed = 0;
  std::vector<SampleOutcome> samples;  // in order
  std::string worst_sample, median_sample;
  std::vector<OutputOverSamples> outputs;
  std::vector<NodeOverSamples> nodes;  // graph order of the first sample
  std::vector<std::string> ranked;     // consequential on most samples first
  std::vector<DecisionOverSamples> decisions;
  std::vector<CutOverSamples> cuts;
  std::vector<FindingOverSamples> findings;
  std::optional<RestoreSearch> search;  // on all samples, when asked for
  std::vector<std::string> notes;
  Json provenance;  // of both sides, of the first sample
  // Of this run, not of the result: an interrupted and continued one differs in these alone.
  uint64_t run_now = 0, taken_over = 0;
  int device_sessions = 0, reference_sessions = 0;
  double seconds_total = 0;
};

}  // namespace paritas
