// Range preflight: would the values of this network fit a smaller format? Asked of reference runs, without a device.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "paritas/locate/preflight_types.h"
#include "paritas/recording/sample_stream.h"
#include "paritas/runtime/target.h"
#include "paritas/runtime/worker.h"

namespace paritas {

// Energy lost to values that are too small, from which on it is a finding (a signal 30 dB above what is lost).
inline constexpr double kMaxLostEnergy = 1e-3;

struct PreflightRequest {
  Path model;
  std::vector<NamedTensors> samples;
  std::map<std::string, int64_t> dims;  // --dim NAME=N
  Target reference;
  DType format =
      DType::kF16;       // kF16, kBF16, or kI8: symmetric, one scale a tensor, from the largest value of all samples
  WorkerOptions worker;  // scratch is set
  Path scratch_root;
  uint64_t memory_budget = uint64_t{1} << 30;  // bytes of tensors that the worker holds at a time
  int threads = 1;
  std::string tool_version;
  std::function<void(const std::string& stage)> progress;  // may be empty
};

// "fp16", "bf16", "int8", or the names of dtype.h.
Result<DType> parse_range_format(const std::string& text);

Result<PreflightResult> preflight(const PreflightRequest& request);

// What follows from the rows: marks those that violate and writes findings. `inputs_of` gives the tensors that a node
// reads, by the node's result. Part of preflight().
void judge_ranges(PreflightResult& result, const std::map<std::string, std::vector<std::string>>& inputs_of);

}  // namespace paritas
