// Reader of the op trace that the QNN execution provider writes (qnn_op_trace.json, schema_version 2): which operations
// of the source graph each device operation was made from. Keys read: subgraph_traces[].{graph_name,
// op_mappings[].{dst_name, dst_qnn_op_type, node_group_type, sources[].{name, type}}}, unsupported_nodes[].{node_name,
// op_type, reason}, summary.supported_nodes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paritas/base/files.h"

namespace paritas {

struct DeviceOp {
  std::string name;                  // on the device
  std::string op;                    // device op type, "Gelu"
  std::string group;                 // "OrtNodeUnit", "GeluFusion", ...
  std::vector<std::string> sources;  // node names of ONNX Runtime's optimised graph (entries of type OP)
  size_t graph = 0;                  // index into OpTrace::graphs
};

// A node that the provider looked at and left to others.
struct LeftNode {
  std::string name;
  std::string op;
  std::string reason;
};

struct OpTrace {
  std::string backend;  // "htp"
  std::string model_name;
  std::vector<DeviceOp> ops;
  std::vector<std::string> graphs = {};   // names of the compiled partitions
  std::vector<LeftNode> left = {};        // nodes that the provider did not take
  std::optional<uint64_t> taken_nodes{};  // of the optimised graph; absent in files that do not tell
};

Result<OpTrace> read_qnn_op_trace(const Path& path);
Result<OpTrace> parse_qnn_op_trace(std::string_view text, const std::string& subject);

}  // namespace paritas
