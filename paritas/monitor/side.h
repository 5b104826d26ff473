// One side of a monitored pair: a model on its target, which hands out every tensor of a sample.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "paritas/recording/sample_stream.h"
#include "paritas/runtime/runner.h"

namespace paritas {

struct SideRequest {
  std::string role;  // "reference", "device": names the folder in scratch
  Path model;
  Target target;
  std::vector<std::string> marks;
  std::map<std::string, int64_t> dims;
  NamedTensors first;  // inputs of the first sample: free dimensions are pinned to them
  WorkerOptions worker;
  Path scratch;
  uint64_t memory_budget = uint64_t{1} << 30;
};

class MonitorSide {
 public:
  virtual ~MonitorSide() = default;
  // Outputs, then marks, in the model's order, described before anything runs.
  const std::vector<TensorInfo>& tensors() const { return info_.tensors; }
  const RunInfo& info() const { return info_; }
  // X -> what the quantiser behind X makes of it, dequantised: the tensor that later layers read.
  const std::unordered_map<std::string, std::string>& twins() const { return twins_; }
  // X -> the Clip or Relu that alone reads X.
  const std::unordered_map<std::string, std::string>& activations() const { return activations_; }
  // Size of a quantisation step of a tensor's values, the largest of its channels'; absent: not quantised, or not
  // known.
  const std::unordered_map<std::string, double>& steps() const { return steps_; }
  // "node: TopK".
  const std::vector<std::string>& decisions() const { return decisions_; }
  // Tensors that could not be taken are absent from the reply.
  virtual Result<NamedTensors> run(const NamedTensors& inputs) = 0;

 protected:
  RunInfo info_;
  std::unordered_map<std::string, std::string> twins_, activations_;
  std::unordered_map<std::string, double> steps_;
  std::vector<std::string> decisions_;
};

Result<std::unique_ptr<MonitorSide>> start_side(const SideRequest& request);

}  // namespace paritas
