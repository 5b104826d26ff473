// Everything that the runs of one `locate` produced, before any figure is made from it. Tensors stay in scratch files.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "paritas/locate/local_probes.h"
#include "paritas/locate/prepare.h"
#include "paritas/locate/types.h"
#include "paritas/placement/node_table.h"
#include "paritas/runtime/marked_run.h"

namespace paritas {

struct Evidence {
  std::optional<Prepared> prepared;
  std::unordered_map<std::string, Tensor> reference;  // model inputs and every value-dependent tensor
  NamedTensors device_outputs;                        // unmarked device run
  NodeTable placement;                                // of that run
  std::vector<FusedGroup> groups;                     // from its op trace
  MarkedRun marked;                                   // device, every tensor marked
  std::optional<MarkedRun> few;                       // device, few tensors marked
  size_t few_marks = 0;                               // so many
  std::vector<DecisionReport> decisions;
  std::vector<std::string> forced;  // decision tensors fed in the forced run
  std::optional<MarkedRun> marked_forced;
  std::vector<onnx_model::Island> islands;
  std::string island_kind = "inside the fused group of ";  // of nodes in an island of several
  Probes probes;
  std::unordered_map<std::string, StorageBaseline> bad_constants;  // float constants that the storage type cannot hold
  std::unordered_map<std::string, Tensor> rounded_inputs;          // reference's island results from rounded inputs
};

}  // namespace paritas
