// Where does a deployed network stop computing what its reference computes?
#pragma once

#include <functional>
#include <map>
#include <string>

#include "paritas/judge/gates.h"
#include "paritas/locate/cuts.h"
#include "paritas/locate/islands.h"
#include "paritas/locate/types.h"
#include "paritas/runtime/runner.h"
#include "paritas/runtime/target.h"
#include "paritas/runtime/worker.h"

namespace paritas {

struct LocateRequest {
  Path model;
  NamedTensors inputs;
  std::map<std::string, int64_t> dims;  // --dim NAME=N
  Target reference;
  Target device;
  GateSet gates;
  WorkerOptions worker;  // executable, library, timeout; scratch is set per worker
  Path scratch_root;
  uint64_t memory_budget = uint64_t{1} << 30;  // bytes of tensors that workers hold at a time
  int threads = 1;                             // of the comparison itself
  // Which islands must the reference compute for the gates to hold, on the inputs above and on these further samples?
  struct Search {
    std::string sample = "sample-000000";  // what the inputs above are called
    std::vector<std::pair<std::string, NamedTensors>> further_samples;
    int max_sessions = 60;  // of the device
    double seconds = 600;
  };
  std::optional<Search> search;
  std::optional<double> injection_seconds;  // default: 2 s, or half of what the runs took when that is more
  std::optional<int> injection_runs;        // instead: so many runs, however long they take
  CutRequest cuts;                          // see cross_matrix.h
  IslandChoice islands;                     // what is probed together
  std::vector<GroupRequest> groups;         // errors by groups: LocateResult::groups
  bool probe_checks = false;                // local probes in depth: LocateResult::probe_checks
  bool consistency = false;                 // noise floors first: LocateResult::consistency
  bool few_marks = false;                   // a run with few marks too: LocateResult::probe_effect
  int marks_per_session = 0;                // accumulated figures with so many marks a session; 0: as many as fit
  // Inject the largest local errors one by one, whether an output deviates or not: NodeRow::sensitivity.
  bool inject_largest = false;
  std::string tool_version;
  std::function<void(const std::string& stage)> progress;  // may be empty
};

// What is wrong with a request for a search, before anything runs.
Status check_search(const LocateRequest& request);

Result<LocateResult> locate(const LocateRequest& request);

// What runs models. Two workers for the device: marked runs and local probes go side by side.
struct LocateRunners {
  ScratchFolder scratch;
  Runner reference;
  Runner device;
  Runner probes;
};
Result<LocateRunners> start_runners(const LocateRequest& request);
// With runners that were started for a request of the same targets: for many samples of one model.
Result<LocateResult> locate_with(LocateRunners& runners, const LocateRequest& request);

}  // namespace paritas
