// Runs a model with many tensors marked as outputs: in as few sessions as the memory budget allows, and in more when a
// runtime refuses a session with certain marks.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "paritas/onnx/edit.h"
#include "paritas/recording/sample_stream.h"
#include "paritas/runtime/runner.h"

namespace paritas {

struct MarkedRequest {
  const onnx_model::Model* model = nullptr;
  NamedTensors inputs;
  std::vector<std::string> marks;              // graph order
  uint64_t memory_budget = uint64_t{1} << 30;  // bytes of tensors held by the worker at a time
  std::unordered_map<std::string, uint64_t>
      bytes;              // size of each mark, where known; else the session's shapes are used
  int max_sessions = 40;  // give up marking what is left after so many
};

struct MarkedRun {
  std::unordered_map<std::string, Tensor> tensors;  // marks and graph outputs
  std::map<std::string, std::string> failed;        // mark -> why it could not be taken
  std::vector<AssignedNode> assignment;             // of the first session
  int partitions = 0;
  std::string unoptimised_because;  // SessionInfo's, of the first session that has it
  int sessions = 0;
  double seconds = 0;  // opening and running
};

// Fails only when the model cannot be run even without marks.
Result<MarkedRun> run_marked(Runner& runner, const MarkedRequest& request);

}  // namespace paritas
