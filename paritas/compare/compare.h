// Comparison of two streams of samples, tensor by tensor, judged by gates.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "paritas/compare/input_gate.h"
#include "paritas/compare/judge_tensor.h"
#include "paritas/compare/pairing.h"
#include "paritas/compare/types.h"
#include "paritas/judge/gates.h"
#include "paritas/recording/sample_stream.h"

namespace paritas {

// Ids ranked by scores: ids with equal scores may come in any order. Names are the reference's.
struct RankedPair {
  std::string scores;
  std::string ids;
};

// Where the given samples stand in the whole.
struct Part {
  uint64_t first_sample = 0;
  uint64_t reference_samples = 0, device_samples = 0;  // of the whole
};

struct CompareOptions {
  GateSet gates;
  PairingRules pairing;
  std::map<std::string, std::string> roles;             // reference name -> declared role
  std::map<std::string, QuantisationRule> input_rules;  // by the reference's name of the input
  std::vector<RankedPair> ranked;
  bool inputs_unverified = false;  // judge although inputs are not recorded
  std::optional<Part> part;        // the streams are parts of longer ones: sample counts are checked on merging
  int threads = 1;
  bool quantiles = false;
  std::function<void(uint64_t done, uint64_t total)> progress;  // tensors; may be empty
};

// Metrics of one pair by name; fills status, sides and metrics, not the verdict. Integers count as they are.
Result<TensorComparison> compare_pair(const std::string& name, Role role, const Tensor& reference, const Tensor& device,
                                      MetricOptions options);

// The same with what is known about quantisation: real values are compared where a side has one, and steps are filled.
Result<TensorComparison> compare_pair(const std::string& name, Role role, const Tensor& reference, const Tensor& device,
                                      MetricOptions options, const std::optional<Quantisation>& reference_quantisation,
                                      const std::optional<Quantisation>& device_quantisation);

// Every tensor compared and judged, nothing concluded: for those who have more to say before conclude() is called once.
Result<CompareResult> compare_samples(SampleStream& reference, SampleStream& device, const CompareOptions& options);

// The same with its conclusion.
Result<CompareResult> compare_streams(SampleStream& reference, SampleStream& device, const CompareOptions& options);

// Same values bit by bit (type, shape and bytes), e.g. outputs with and without marks.
Result<bool> equal_bytes(const Tensor& a, const Tensor& b);

}  // namespace paritas
