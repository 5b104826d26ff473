// Self-consistency: before a difference between two sides is believed, how far does each of them move by itself?
#pragma once

#include "paritas/judge/gates.h"
#include "paritas/locate/consistency_types.h"
#include "paritas/locate/locate.h"
#include "paritas/recording/sample_stream.h"
#include "paritas/runtime/runner.h"

namespace paritas {

struct ConsistencyRequest {
  const onnx_model::Model* given = nullptr;   // with its free dimensions
  const onnx_model::Model* pinned = nullptr;  // as it is compared
  NamedTensors inputs;
  const NamedTensors* device_outputs = nullptr;                                // of the device run that is judged
  const std::unordered_map<std::string, Tensor>* reference_outputs = nullptr;  // of the reference run that is judged
  Target reference;
  WorkerOptions worker;  // for the reference with another optimisation, in a folder of its own below `scratch`
  Path scratch;
  const GateSet* gates = nullptr;  // metrics get what these need
  std::optional<DType> storage;    // of the device
  bool optimisation_only = false;  // the reference's two answers, and nothing of the device
  int threads = 1;
};

// `device` is another worker than the one that made the device's outputs. What cannot be measured is part of the
// result; an error is one of this machine.
Result<Consistency> measure_consistency(const ConsistencyRequest& request, Runner& reference, Runner& device);

// Takes the worst of every output's checks.
std::vector<NoiseFloor> noise_floors(const std::vector<NoiseCheck>& checks);

}  // namespace paritas
