// Reader of the op trace that the QNN execution provider writes (qnn_op_trace.json, schema_version 2): which operations
// of the source graph each device operation was made from. Keys read: subgraph_traces[].op_mappings[].{dst_name,
// dst_qnn_op_type, node_group_type, sources[].{name, type}}.
#pragma once

#include <string>
#include <vector>

#include "paritas/base/files.h"

namespace paritas {

struct DeviceOp {
  std::string name;                  // on the device
  std::string op;                    // device op type, "Gelu"
  std::string group;                 // "OrtNodeUnit", "GeluFusion", ...
  std::vector<std::string> sources;  // node names of ONNX Runtime's optimised graph (entries of type OP)
};

struct OpTrace {
  std::string backend;  // "htp"
  std::string model_name;
  std::vector<DeviceOp> ops;
};

Result<OpTrace> read_qnn_op_trace(const Path& path);
Result<OpTrace> parse_qnn_op_trace(std::string_view text, const std::string& subject);

}  // namespace paritas
