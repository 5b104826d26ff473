// Which islands must the reference compute for the gates to hold? An experiment on the device itself: the network runs
// as a hybrid of both, and every set is judged by the declared gates on every given sample.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "paritas/judge/gates.h"
#include "paritas/locate/prepare.h"
#include "paritas/locate/types.h"
#include "paritas/runtime/runner.h"

namespace paritas {

struct RestoreRequest {
  const Prepared* prepared = nullptr;
  std::vector<onnx_model::Island> islands;  // graph order
  std::vector<std::string> suspects;        // tensors whose islands are tried first, together
  const GateSet* gates = nullptr;           // must hold gates on outputs
  struct Sample {
    std::string id;
    NamedTensors inputs;
    std::unordered_map<std::string, Tensor> reference;  // graph outputs
  };
  std::vector<Sample> samples;
  std::optional<DType> storage;
  int max_sessions = 60;  // device sessions
  double seconds = 600;
  int threads = 1;
  std::function<void(const std::string& stage)> progress;  // may be empty
};

Result<RestoreSearch> search_restored_islands(Runner& reference, Runner& device, const RestoreRequest& request);

}  // namespace paritas
