// Which node of the model ran where. Sources name nodes of ONNX Runtime's optimised graph; this maps them back.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "paritas/onnx/graph_index.h"
#include "paritas/recording/provenance.h"
#include "paritas/runtime/worker.h"
#include "paritas/vendor/qnn_op_trace.h"

namespace paritas {

// Rules by which names of the optimised graph lead back to the model's, in order:
//   exact name; a "_token_N" suffix taken off; "X/MatMulAddFusion" is node X and the Add that reads X's output.
// Returns indices into index.nodes(); empty when nothing fits (nodes that the optimiser made).
std::vector<int> source_nodes(const std::string& optimised_name, const onnx_model::GraphIndex& index);

struct NodeTable {
  PlacementCounts counts;              // of the optimised graph
  std::vector<std::string> provider;   // per node of the index; empty: not known (folded, fused or renamed)
  std::vector<std::string> unmapped;   // optimised nodes that lead to no source node
  std::vector<std::string> elsewhere;  // "Erf on CPUExecutionProvider: /enc/blocks.0/Erf" for nodes not on the device
};

NodeTable node_table(const std::string& requested, const std::vector<AssignedNode>& assignment, int partitions,
                     const onnx_model::GraphIndex& index);

// Groups of source nodes that the device runs as one operation (two nodes or more, all of them mapped by their own
// names), with the device op's type. Indices ascending; groups in graph order and disjoint.
struct FusedGroup {
  std::string kind;  // "GeluFusion"
  std::vector<int> nodes;
};
std::vector<FusedGroup> fused_groups(const OpTrace& trace, const onnx_model::GraphIndex& index);

}  // namespace paritas
