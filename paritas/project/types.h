// What a check yields. Plain data; units as in the parts that it is made of.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "paritas/compare/many.h"
#include "paritas/image/pipeline.h"
#include "paritas/locate/types.h"
#include "paritas/task/classification.h"
#include "paritas/task/command_hook.h"
#include "paritas/task/detection.h"

namespace paritas {

// One tensor that was fed, and where it came from.
struct FrozenTensor {
  std::string file;           // as declared; empty for a declared value
  std::string file_sha256;    // of the file's bytes
  std::string tensor_sha256;  // of the tensor's bytes
  DType dtype = DType::kF32;
  Shape shape;
  std::optional<ImageRecord> image;
};

struct CheckedInput {
  std::string name;
  std::string fed;                    // "float" or "dequantised": what some sides were fed with instead; else empty
  std::vector<FrozenTensor> tensors;  // one for all samples, or one a sample
};

struct TaskGate {
  std::string gate;  // "task=detections: unmatched <= 0"
  std::string text;  // "unmatched 0 <= 0", or why it could not be judged
  Verdict verdict = Verdict::kNotJudged;
};

struct TaskResult {
  std::string name;
  std::variant<ClassificationResult, DetectionResult, CommandResult> result;
  std::vector<TaskGate> gates;
  Verdict verdict = Verdict::kNotJudged;  // of gates and issues
  std::vector<std::string> reasons;       // deciding ones first

  const TaskOutcome& outcome() const {
    return std::visit([](const auto& r) -> const TaskOutcome& { return r.outcome; }, result);
  }
};

// How coordinates moved when one element of the size input was doubled: shares of the coordinates that doubled and that
// stayed, of those that are not 0.
struct SizeResponse {
  double x_doubled = 0, x_stayed = 0, y_doubled = 0, y_stayed = 0;
};

struct SizeProbeResult {
  std::string input, boxes;
  std::string declared;       // "wh", "hw", or empty
  std::string found;          // "wh", "hw", or empty: cannot be told
  std::vector<int64_t> size;  // the two elements of the first run
  uint64_t boxes_used = 0;
  SizeResponse first, second;        // element 0, element 1 doubled
  std::string text;                  // in words
  Verdict verdict = Verdict::kPass;  // of the declared order; kPass without one
};

struct StepResult {
  std::string type;     // "locate", "size-probe"
  std::string skipped;  // why it did not run; empty: it ran
  std::optional<LocateResult> locate;
  std::optional<SizeProbeResult> size_probe;
};

// Every side of a check with more than two, and every pair of them.
struct CheckedSide {
  std::string name;     // "reference", "device", or as declared
  std::string subject;  // target as given, or path
  RunInfo info;
};

struct AllSides {
  std::map<std::string, std::string> files;    // of samples, by their ids: what they were made of
  std::vector<CheckedSide> sides;              // reference, device, then as declared
  ManyResult many;                             // of sides[i] and sides[k], in its order
  std::vector<std::vector<TaskResult>> tasks;  // of each pair
};

struct ProbeMatch {
  std::string position;  // as declared: a node, a tensor, or a pattern
  uint64_t matches = 0;  // nodes and tensors of the model
};

// One output of one sample under both answers of a quantised reference.
struct VariantMove {
  std::string output;
  std::string sample;
  bool shape_changed = false;  // then there are no metrics
  PairMetrics between;         // the declared reference as reference, the other as device
  std::optional<double> device_to_declared_db, device_to_other_db;  // SQNR
};

// Both answers of a reference with QDQ pairs: pairs computed in float, and fused into integer kernels.
struct ReferenceVariants {
  std::string declared, other;  // settings and what they mean
  std::string failed;           // why the other could not be run; empty: it ran
  std::vector<VariantMove> moves;
  std::vector<std::string> undecided;  // outputs whose gate cannot tell, with the reason
};
// Of each output the sample in which the reference moves most.
std::vector<const VariantMove*> worst_moves(const ReferenceVariants& variants);
std::string variant_text(const VariantMove& move);

struct CheckResult {
  Verdict verdict = Verdict::kInvalid;
  std::vector<std::string> reasons;  // deciding ones first
  uint64_t deciding = 0;             // reasons of the verdict's own kind
  std::string project;               // the file
  std::string project_sha256;
  std::string gates_sha256;       // empty without gates
  std::string reference, device;  // targets as given, or paths of recordings
  std::vector<CheckedInput> inputs;
  CompareResult comparison;
  std::vector<TaskResult> tasks;
  std::optional<AllSides> all_sides;                    // with further sides than reference and device
  std::optional<ReferenceVariants> reference_variants;  // of a reference with QDQ pairs on ONNX Runtime's CPU
  std::vector<StepResult> steps;
  std::vector<ProbeMatch> probes;  // declared positions and what they are in the model; in the user's order
  std::vector<std::string> notes;
  double seconds = 0;
};

}  // namespace paritas
