// Where does a deployed network stop computing what its reference computes?
#pragma once

#include <functional>
#include <map>
#include <string>

#include "paritas/judge/gates.h"
#include "paritas/locate/cuts.h"
#include "paritas/locate/islands.h"
#include "paritas/locate/types.h"
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
    std::vector<NamedTensors> further_samples;
    int max_sessions = 60;  // of the device
    double seconds = 600;
  };
  std::optional<Search> search;
  std::optional<double> injection_seconds;  // default: 2 s, or half of what the runs took when that is more
  CutRequest cuts;                          // see cross_matrix.h
  IslandChoice islands;                     // what is probed together
  std::vector<GroupRequest> groups;         // errors by groups: LocateResult::groups
  bool probe_checks = false;                // local probes in depth: LocateResult::probe_checks
  std::string tool_version;
  std::function<void(const std::string& stage)> progress;  // may be empty
};

Result<LocateResult> locate(const LocateRequest& request);

}  // namespace paritas
