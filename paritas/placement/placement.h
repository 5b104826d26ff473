// `paritas placement`: where did every node of a model run, and by which evidence?
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "paritas/judge/gates.h"
#include "paritas/placement/audit_types.h"
#include "paritas/recording/sample_stream.h"
#include "paritas/runtime/target.h"
#include "paritas/runtime/worker.h"

namespace paritas {

struct PlacementRequest {
  Path model;
  std::vector<std::string> requirements;  // see requirement.h
  std::vector<std::string> planned;       // patterns of nodes that are meant to run on the CPU
  std::vector<std::string> pins;          // "Softmax=CPU"; without a target they are only listed
  std::optional<Path> against;            // an older result
  std::optional<Path> context;            // the model with EPContext nodes that was made from `model`

  // From evidence files:
  std::optional<Path> profile, op_trace, cycles;
  std::string provider;  // that was asked for; empty: the one the files are of

  // Live:
  std::optional<Target> target;
  Target reference;     // for pins, and for sizes of tensors that the model does not declare
  NamedTensors inputs;  // empty: the session is opened but not run
  std::map<std::string, int64_t> dims;
  GateSet gates;  // on outputs, for pins
  WorkerOptions worker;
  Path scratch_root;
  uint64_t memory_budget = uint64_t{1} << 30;
  int threads = 1;
  std::string tool_version;
  std::function<void(const std::string& stage)> progress;  // may be empty
};

Result<PlacementResult> find_placement(const PlacementRequest& request);

}  // namespace paritas
