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
  // At most so many marks a session, however many would fit; 0: as many as fit. `max_sessions` then counts what comes
  // on top of the sessions that this takes.
  int marks_per_session = 0;
};

struct MarkedRun {
  std::unordered_map<std::string, Tensor> tensors;  // marks and graph outputs
  std::map<std::string, std::string> failed;        // mark -> why it could not be taken
  std::unordered_map<std::string, int> graph_of;    // tensor -> which of the graphs that ran it came from, from 1
  int graphs = 0;                                   // that ran
  std::vector<AssignedNode> assignment;             // of the first session
  int partitions = 0;
  std::string unoptimised_because;  // SessionInfo's, of the first session that has it
  int sessions = 0;
  double seconds = 0;  // opening and running
};

// "all marks" when one graph had them all, else "marks 3/12"; empty: the run has no such tensor.
std::string graph_of(const MarkedRun& run, const std::string& tensor);

// Fails only when the model cannot be run even without marks.
Result<MarkedRun> run_marked(Runner& runner, const MarkedRequest& request);

}  // namespace paritas
