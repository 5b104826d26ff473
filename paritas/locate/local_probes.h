// Local probes: every island fed with reference tensors, as many islands as possible in one session.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "paritas/locate/islands.h"
#include "paritas/locate/prepare.h"
#include "paritas/onnx/edit.h"
#include "paritas/placement/node_table.h"
#include "paritas/runtime/runner.h"

namespace paritas {

// Islands to probe: the given groups, and every other node by itself. Nodes that make no float tensor have none. A
// group that is not convex (a path leaves it and comes back) is probed node by node; `refused` receives its name.
std::vector<onnx_model::Island> choose_islands(const Prepared& prepared, const std::vector<IslandGroup>& groups,
                                               const std::unordered_map<std::string, onnx_model::TensorType>& types,
                                               std::vector<std::string>* refused);

struct ProbeRequest {
  const Prepared* prepared = nullptr;
  std::vector<onnx_model::Island> islands;
  const std::unordered_map<std::string, Tensor>* reference = nullptr;  // inputs and value-dependent tensors
  uint64_t memory_budget = uint64_t{1} << 30;
  int max_sessions = 40;
  // Round what enters each island (fed tensors and constants) to this type first: the input baseline.
  std::optional<DType> round_inputs;
};

struct Probes {
  std::unordered_map<std::string, Tensor> local;        // reference tensor's name -> the island's own result
  std::map<std::string, std::string> not_probed;        // island name -> reason
  std::unordered_map<std::string, std::string> ran_on;  // island name -> provider, where known
  PlacementCounts placement;
  int sessions = 0;
  double seconds = 0;
};

// Never fails for an island that the runtime refuses: it lands in not_probed. Islands of which a node ran elsewhere
// than on the requested provider are not probed either: the CPU's result says nothing about the device.
Result<Probes> run_probes(Runner& runner, const ProbeRequest& request);

}  // namespace paritas
