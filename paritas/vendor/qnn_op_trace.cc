#include "paritas/vendor/qnn_op_trace.h"

#include <fmt/format.h>

#include "paritas/base/json.h"

namespace paritas {
namespace {

constexpr uint64_t kMaxTraceBytes = uint64_t{256} << 20;

Result<DeviceOp> parse_op(const Json& entry, const std::string& subject) {
  DeviceOp op;
  PARITAS_ASSIGN(op.name, json_string(entry, "dst_name", subject));
  PARITAS_ASSIGN(op.op, json_string(entry, "dst_qnn_op_type", subject));
  if (auto it = entry.find("node_group_type"); it != entry.end() && it->is_string()) op.group = it->get<std::string>();
  PARITAS_ASSIGN(const Json* sources, json_array(entry, "sources", subject));
  for (const Json& source : *sources) {
    PARITAS_ASSIGN(std::string type, json_string(source, "type", subject));
    if (type != "OP") continue;  // "TENSOR" entries name what flows between the sources
    PARITAS_ASSIGN(std::string name, json_string(source, "name", subject));
    op.sources.push_back(std::move(name));
  }
  return op;
}

// Absent in older files.
Status parse_left_nodes(const Json& json, const std::string& subject, OpTrace& trace) {
  if (json.contains("unsupported_nodes")) {
    PARITAS_ASSIGN(const Json* list, json_array(json, "unsupported_nodes", subject));
    for (const Json& entry : *list) {
      LeftNode node;
      PARITAS_ASSIGN(node.name, json_string(entry, "node_name", subject));
      PARITAS_ASSIGN(node.op, json_string(entry, "op_type", subject));
      if (auto it = entry.find("reason"); it != entry.end() && it->is_string()) node.reason = it->get<std::string>();
      trace.left.push_back(std::move(node));
    }
  }
  if (!json.contains("summary")) return {};
  PARITAS_ASSIGN(const Json* summary, json_object(json, "summary", subject));
  if (!summary->contains("supported_nodes")) return {};
  PARITAS_ASSIGN(trace.taken_nodes, json_uint(*summary, "supported_nodes", subject));
  return {};
}

}  // namespace

Result<OpTrace> parse_qnn_op_trace(std::string_view text, const std::string& subject) {
  PARITAS_ASSIGN(Json json, parse_json(text, subject));
  PARITAS_ASSIGN(int64_t version, json_int(json, "schema_version", subject));
  if (version != 2)
    return input_error(subject, fmt::format("op trace schema version {} is not known", version), "version 2 is read");
  OpTrace trace;
  PARITAS_ASSIGN(trace.backend, json_string(json, "backend_type", subject));
  PARITAS_ASSIGN(trace.model_name, json_string(json, "model_name", subject));
  PARITAS_ASSIGN(const Json* graphs, json_array(json, "subgraph_traces", subject));
  for (const Json& graph : *graphs) {
    if (!graph.is_object()) return input_error(subject, "expected an object in \"subgraph_traces\"", "write it again");
    trace.graphs.emplace_back();
    if (auto it = graph.find("graph_name"); it != graph.end() && it->is_string())
      trace.graphs.back() = it->get<std::string>();
    PARITAS_ASSIGN(const Json* mappings, json_array(graph, "op_mappings", subject));
    for (const Json& entry : *mappings) {
      PARITAS_ASSIGN(DeviceOp op, parse_op(entry, subject));
      op.graph = trace.graphs.size() - 1;
      trace.ops.push_back(std::move(op));
    }
  }
  PARITAS_TRY(parse_left_nodes(json, subject, trace));
  return trace;
}

Result<OpTrace> read_qnn_op_trace(const Path& path) {
  PARITAS_ASSIGN(std::string text, read_text(path, kMaxTraceBytes));
  return parse_qnn_op_trace(text, path.string());
}

}  // namespace paritas
