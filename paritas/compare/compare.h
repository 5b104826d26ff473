// Comparison of two streams of samples, tensor by tensor, judged by gates.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "paritas/judge/gates.h"
#include "paritas/judge/verdict.h"
#include "paritas/metrics/pair_metrics.h"
#include "paritas/recording/sample_stream.h"

namespace paritas {

enum class PairStatus {
  kCompared,
  kShapeDiffers,      // not compared
  kMissingReference,  // only the device has it
  kMissingDevice,     // only the reference has it
};
std::string_view name(PairStatus status);

struct SideInfo {
  DType dtype = DType::kF32;
  Shape shape;
};

// One tensor of one sample.
struct TensorComparison {
  std::string name;
  Role role = Role::kOutput;
  std::string sample;  // sample id
  PairStatus status = PairStatus::kCompared;
  std::optional<SideInfo> reference;
  std::optional<SideInfo> device;
  std::optional<PairMetrics> metrics;
  Verdict verdict = Verdict::kNotJudged;  // of this tensor alone
  std::string rule;                       // the gate or rule that accepted or refused it
};

struct Coverage {
  uint64_t outputs = 0, outputs_compared = 0, outputs_gated = 0;
  uint64_t intermediates = 0, intermediates_compared = 0;  // of the reference
};

struct CompareResult {
  Verdict verdict = Verdict::kInvalid;
  std::vector<std::string> reasons;  // deciding ones first
  std::string reference, device;     // subjects
  RunInfo reference_info, device_info;
  uint64_t samples = 0;
  std::vector<TensorComparison> tensors;  // sample by sample, outputs first, in the reference's order
  std::vector<std::string> unmatched_reference, unmatched_device;
  Coverage coverage;
  std::string gates_sha256;
  std::vector<std::string> gate_texts;
  std::vector<std::string> notes;  // "contents not re-hashed" and the like
};

struct CompareOptions {
  GateSet gates;
  int threads = 1;
  bool quantiles = false;
  std::function<void(uint64_t done, uint64_t total)> progress;  // tensors; may be empty
};

// Judges one pair whose metrics are known. `role` decides what an ungated tensor means: an ungated output keeps the
// verdict at "not judged", an ungated intermediate has no say (its verdict is "pass" with the rule "not gated"). Inputs
// are judged by equality: any difference makes the pairing invalid; of the gates only those that name them exactly
// apply.
void judge_tensor(const GateSet& gates, TensorComparison& tensor);

// Metrics of one pair by name; fills status, sides and metrics, not the verdict.
Result<TensorComparison> compare_pair(const std::string& name, Role role, const Tensor& reference, const Tensor& device,
                                      MetricOptions options);

Result<CompareResult> compare_streams(SampleStream& reference, SampleStream& device, const CompareOptions& options);

// Same values bit by bit (type, shape and bytes), e.g. outputs with and without marks.
Result<bool> equal_bytes(const Tensor& a, const Tensor& b);

}  // namespace paritas
