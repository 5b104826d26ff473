#include "paritas/runtime/protocol.h"

#include <algorithm>
#include <cassert>
#include <map>

#include <fmt/format.h>

namespace paritas::protocol {
namespace {

constexpr const char* kSubject = "worker message";

Json encode_map(const std::map<std::string, std::string>& values) {
  Json json = Json::object();
  for (const auto& [key, value] : values) json[key] = value;
  return json;
}

Result<std::map<std::string, std::string>> decode_map(const Json& object, const char* key) {
  PARITAS_ASSIGN(const Json* json, json_object(object, key, kSubject));
  std::map<std::string, std::string> values;
  for (const auto& [name, value] : json->items()) {
    if (!value.is_string()) return runtime_error(kSubject, fmt::format("\"{}\" holds a value that is no string", key));
    values[name] = value.get<std::string>();
  }
  return values;
}

Result<bool> decode_bool(const Json& object, const char* key) {
  auto it = object.is_object() ? object.find(key) : object.end();
  if (it == object.end() || !it->is_boolean())
    return runtime_error(kSubject, fmt::format("\"{}\" is not true or false", key));
  return it->get<bool>();
}

Result<double> decode_number(const Json& object, const char* key) {
  auto it = object.is_object() ? object.find(key) : object.end();
  if (it == object.end() || !it->is_number()) return runtime_error(kSubject, fmt::format("\"{}\" is no number", key));
  return it->get<double>();
}

Json encode_ports(const std::vector<PortInfo>& ports) {
  Json array = Json::array();
  for (const PortInfo& port : ports)
    array.push_back({{"name", port.name}, {"dtype", port.dtype ? name(*port.dtype) : ""}, {"dims", port.dims}});
  return array;
}

Result<std::vector<PortInfo>> decode_ports(const Json& object, const char* key) {
  PARITAS_ASSIGN(const Json* array, json_array(object, key, kSubject));
  std::vector<PortInfo> ports;
  for (const Json& json : *array) {
    PortInfo port;
    PARITAS_ASSIGN(port.name, json_string(json, "name", kSubject));
    PARITAS_ASSIGN(const std::string dtype, json_string(json, "dtype", kSubject));
    port.dtype = dtype_from_name(dtype);
    PARITAS_ASSIGN(const Json* dims, json_array(json, "dims", kSubject));
    PARITAS_ASSIGN(port.dims, decode_shape(*dims));
    ports.push_back(std::move(port));
  }
  return ports;
}

Result<std::vector<AssignedNode>> decode_assignment(const Json& object) {
  PARITAS_ASSIGN(const Json* array, json_array(object, "assignment", kSubject));
  std::vector<AssignedNode> nodes;
  nodes.reserve(array->size());
  for (const Json& row : *array) {
    if (!row.is_array() || row.size() != 4 || !row[0].is_string() || !row[1].is_string() || !row[2].is_string() ||
        !row[3].is_number_integer())
      return runtime_error(kSubject, "an assigned node is malformed");
    nodes.push_back(
        {row[0].get<std::string>(), row[1].get<std::string>(), row[2].get<std::string>(), row[3].get<int>()});
  }
  return nodes;
}

Json encode_pairs(const std::vector<std::pair<std::string, std::string>>& pairs) {
  Json array = Json::array();
  for (const auto& [first, second] : pairs) array.push_back(Json::array({first, second}));
  return array;
}

Result<std::vector<std::pair<std::string, std::string>>> decode_pairs(const Json& object, const char* key) {
  PARITAS_ASSIGN(const Json* array, json_array(object, key, kSubject));
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const Json& row : *array) {
    if (!row.is_array() || row.size() != 2 || !row[0].is_string() || !row[1].is_string())
      return runtime_error(kSubject, fmt::format("\"{}\" holds something else than pairs of names", key));
    pairs.emplace_back(row[0].get<std::string>(), row[1].get<std::string>());
  }
  return pairs;
}

}  // namespace

Json encode_names(const std::vector<std::string>& names) {
  Json array = Json::array();
  for (const std::string& each : names) array.push_back(each);
  return array;
}

Result<std::vector<std::string>> decode_names(const Json& object, const char* key) {
  PARITAS_ASSIGN(const Json* array, json_array(object, key, kSubject));
  std::vector<std::string> names;
  for (const Json& value : *array) {
    if (!value.is_string()) return runtime_error(kSubject, fmt::format("\"{}\" holds something else than names", key));
    names.push_back(value.get<std::string>());
  }
  return names;
}

Result<Shape> decode_shape(const Json& value) {
  Shape shape;
  if (!value.is_array()) return runtime_error(kSubject, "a shape is not an array");
  for (const Json& dimension : value) {
    if (!dimension.is_number_integer()) return runtime_error(kSubject, "a dimension is not a whole number");
    shape.push_back(dimension.get<int64_t>());
  }
  return shape;
}

Result<DType> decode_dtype(const Json& value) {
  const auto dtype = value.is_string() ? dtype_from_name(value.get_ref<const std::string&>()) : std::nullopt;
  if (!dtype) return runtime_error(kSubject, "unknown element type");
  return *dtype;
}

std::string_view name(RuntimeKind kind) {
  switch (kind) {
    case RuntimeKind::kOnnxRuntime:
      return "onnxruntime";
    case RuntimeKind::kTflite:
      return "tflite";
    case RuntimeKind::kLitert:
      return "litert";
  }
  return "";
}

Result<RuntimeKind> decode_runtime_kind(const Json& object) {
  PARITAS_ASSIGN(const std::string text, json_string(object, "runtime", kSubject));
  for (const RuntimeKind kind : {RuntimeKind::kOnnxRuntime, RuntimeKind::kTflite, RuntimeKind::kLitert})
    if (text == name(kind)) return kind;
  return runtime_error(kSubject, fmt::format("unknown runtime \"{}\"", text));
}

Json encode(const Target& target) {
  Json json = {{"text", target.spec.text},
               {"runtime", name(target.runtime)},
               {"kernels", target.kernels},
               {"accelerator", target.accelerator},
               {"xnnpack", target.xnnpack},
               {"provider", target.provider},
               {"provider_library", target.provider_library},
               {"provider_options", encode_map(target.provider_options)},
               {"session_entries", encode_map(target.session_entries)},
               {"threads", target.threads},
               {"inter_threads", target.inter_threads},
               {"parallel", target.parallel},
               {"optimisation", target.optimisation},
               {"device", target.capabilities.device},
               {"can_op_trace", target.capabilities.op_trace},
               {"can_cycle_profile", target.capabilities.cycle_profile}};
  return json;
}

Result<Target> decode_target(const Json& json) {
  Target target;
  PARITAS_ASSIGN(target.spec.text, json_string(json, "text", kSubject));
  PARITAS_ASSIGN(target.runtime, decode_runtime_kind(json));
  PARITAS_ASSIGN(target.kernels, json_string(json, "kernels", kSubject));
  PARITAS_ASSIGN(target.accelerator, json_string(json, "accelerator", kSubject));
  PARITAS_ASSIGN(target.xnnpack, decode_bool(json, "xnnpack"));
  PARITAS_ASSIGN(target.provider, json_string(json, "provider", kSubject));
  PARITAS_ASSIGN(target.provider_library, json_string(json, "provider_library", kSubject));
  PARITAS_ASSIGN(target.provider_options, decode_map(json, "provider_options"));
  PARITAS_ASSIGN(target.session_entries, decode_map(json, "session_entries"));
  PARITAS_ASSIGN(const int64_t threads, json_int(json, "threads", kSubject));
  target.threads = static_cast<int>(threads);
  PARITAS_ASSIGN(const int64_t inter_threads, json_int(json, "inter_threads", kSubject));
  target.inter_threads = static_cast<int>(inter_threads);
  PARITAS_ASSIGN(target.parallel, decode_bool(json, "parallel"));
  PARITAS_ASSIGN(target.optimisation, json_string(json, "optimisation", kSubject));
  PARITAS_ASSIGN(target.capabilities.device, decode_bool(json, "device"));
  PARITAS_ASSIGN(target.capabilities.op_trace, decode_bool(json, "can_op_trace"));
  PARITAS_ASSIGN(target.capabilities.cycle_profile, decode_bool(json, "can_cycle_profile"));
  return target;
}

Json encode(const SessionRequest& request) {
  return {{"model", request.model.string()},
          {"external_data_folder", request.external_data_folder.string()},
          {"target", encode(request.target)},
          {"fetch", encode_names(request.fetch)},
          {"op_trace", request.op_trace},
          {"as_application", request.as_application},
          {"profile_folder", request.profile_folder.string()}};
}

Result<SessionRequest> decode_session_request(const Json& json) {
  SessionRequest request;
  PARITAS_ASSIGN(request.model, json_string(json, "model", kSubject));
  PARITAS_ASSIGN(request.external_data_folder, json_string(json, "external_data_folder", kSubject));
  PARITAS_ASSIGN(const Json* target, json_object(json, "target", kSubject));
  PARITAS_ASSIGN(request.target, decode_target(*target));
  PARITAS_ASSIGN(request.fetch, decode_names(json, "fetch"));
  PARITAS_ASSIGN(request.op_trace, decode_bool(json, "op_trace"));
  PARITAS_ASSIGN(request.as_application, decode_bool(json, "as_application"));
  PARITAS_ASSIGN(request.profile_folder, json_string(json, "profile_folder", kSubject));
  return request;
}

Json encode(const SessionInfo& info) {
  Json assignment = Json::array();
  for (const AssignedNode& node : info.assignment)
    assignment.push_back(Json::array({node.name, node.op, node.provider, node.partition}));
  Json traces = Json::array();
  for (const Path& path : info.op_traces) traces.push_back(path.string());
  return {{"session", info.id},
          {"fully_accelerated", info.fully_accelerated ? Json(*info.fully_accelerated) : Json()},
          {"inputs", encode_ports(info.inputs)},
          {"outputs", encode_ports(info.outputs)},
          {"assignment", std::move(assignment)},
          {"partitions", info.partitions},
          {"op_traces", std::move(traces)},
          {"unoptimised_because", info.unoptimised_because},
          {"seconds", info.seconds},
          {"provider_seconds", info.provider_seconds}};
}

Result<SessionInfo> decode_session_info(const Json& json) {
  SessionInfo info;
  PARITAS_ASSIGN(const int64_t id, json_int(json, "session", kSubject));
  info.id = static_cast<int>(id);
  PARITAS_ASSIGN(info.inputs, decode_ports(json, "inputs"));
  PARITAS_ASSIGN(info.outputs, decode_ports(json, "outputs"));
  PARITAS_ASSIGN(info.assignment, decode_assignment(json));
  PARITAS_ASSIGN(const int64_t partitions, json_int(json, "partitions", kSubject));
  info.partitions = static_cast<int>(partitions);
  PARITAS_ASSIGN(const std::vector<std::string> traces, decode_names(json, "op_traces"));
  info.op_traces.assign(traces.begin(), traces.end());
  PARITAS_ASSIGN(info.unoptimised_because, json_string(json, "unoptimised_because", kSubject));
  const auto full = json.is_object() ? json.find("fully_accelerated") : json.end();
  if (full == json.end() || !(full->is_boolean() || full->is_null()))
    return runtime_error(kSubject, "\"fully_accelerated\" is not true, false or null");
  if (full->is_boolean()) info.fully_accelerated = full->get<bool>();
  PARITAS_ASSIGN(info.seconds, decode_number(json, "seconds"));
  PARITAS_ASSIGN(info.provider_seconds, decode_number(json, "provider_seconds"));
  return info;
}

namespace {

Json encode_chain(const std::vector<ChainLink>& chain) {
  Json array = Json::array();
  for (const ChainLink& link : chain)
    array.push_back(
        {{"session", link.session}, {"inputs", encode_pairs(link.inputs)}, {"outputs", encode_pairs(link.outputs)}});
  return array;
}

Result<std::vector<ChainLink>> decode_chain(const Json& array) {
  std::vector<ChainLink> chain;
  if (!array.is_array()) return runtime_error(kSubject, "a chain is not an array");
  for (const Json& json : array) {
    ChainLink link;
    PARITAS_ASSIGN(const int64_t session, json_int(json, "session", kSubject));
    link.session = static_cast<int>(session);
    PARITAS_ASSIGN(link.inputs, decode_pairs(json, "inputs"));
    PARITAS_ASSIGN(link.outputs, decode_pairs(json, "outputs"));
    chain.push_back(std::move(link));
  }
  return chain;
}

// "runs" of a reply: [[chain, stages...], ...]
Result<std::vector<TimedRun>> decode_runs(const Json& object) {
  PARITAS_ASSIGN(const Json* array, json_array(object, "runs", kSubject));
  std::vector<TimedRun> runs;
  runs.reserve(array->size());
  for (const Json& row : *array) {
    if (!row.is_array() || row.size() < 2 ||
        !std::all_of(row.begin(), row.end(), [](const Json& value) { return value.is_number(); }))
      return runtime_error(kSubject, "the times of a run are malformed");
    TimedRun run;
    run.chain = row[0].get<double>();
    for (size_t i = 1; i < row.size(); ++i) run.stages.push_back(row[i].get<double>());
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace

Json encode_calls(const std::vector<std::pair<std::string, uint64_t>>& calls) {
  Json array = Json::array();
  for (const auto& [place, count] : calls) array.push_back(Json::array({place, count}));
  return array;
}

Result<std::vector<std::pair<std::string, uint64_t>>> decode_calls(const Json& object) {
  PARITAS_ASSIGN(const Json* array, json_array(object, "calls", kSubject));
  std::vector<std::pair<std::string, uint64_t>> calls;
  for (const Json& row : *array) {
    if (!row.is_array() || row.size() != 2 || !row[0].is_string() || !row[1].is_number_unsigned())
      return runtime_error(kSubject, "a count of calls is malformed");
    calls.emplace_back(row[0].get<std::string>(), row[1].get<uint64_t>());
  }
  return calls;
}

Json encode(const TimeRequest& request) {
  return {{"chain", encode_chain(request.chain)},
          {"inputs", encode_tensors(request.inputs)},
          {"fetch", encode_names(request.fetch)},
          {"warm_up", request.warm_up},
          {"runs", request.runs},
          {"seconds", request.seconds},
          {"against", encode_tensors(request.against)}};
}

Result<TimeRequest> decode_time_request(const Json& json) {
  TimeRequest request;
  PARITAS_ASSIGN(const Json* chain, json_array(json, "chain", kSubject));
  PARITAS_ASSIGN(request.chain, decode_chain(*chain));
  PARITAS_ASSIGN(const Json* inputs, json_array(json, "inputs", kSubject));
  PARITAS_ASSIGN(request.inputs, decode_tensors(*inputs));
  PARITAS_ASSIGN(request.fetch, decode_names(json, "fetch"));
  PARITAS_ASSIGN(const int64_t warm_up, json_int(json, "warm_up", kSubject));
  request.warm_up = static_cast<int>(warm_up);
  PARITAS_ASSIGN(const int64_t runs, json_int(json, "runs", kSubject));
  request.runs = static_cast<int>(runs);
  PARITAS_ASSIGN(request.seconds, decode_number(json, "seconds"));
  PARITAS_ASSIGN(const Json* against, json_array(json, "against", kSubject));
  PARITAS_ASSIGN(request.against, decode_tensors(*against));
  return request;
}

Result<TimeReply> decode_time_reply(const Json& json) {
  TimeReply reply;
  PARITAS_ASSIGN(reply.runs, decode_runs(json));
  PARITAS_ASSIGN(reply.differing, json_uint(json, "differing", kSubject));
  if (const auto first = json.find("first_differing"); first != json.end() && first->is_number_unsigned())
    reply.first_differing = first->get<uint64_t>();
  PARITAS_ASSIGN(reply.resident_bytes, json_uint(json, "resident", kSubject));
  PARITAS_ASSIGN(reply.cpu_seconds, decode_number(json, "cpu_seconds"));
  return reply;
}

Json encode_error(const Error& error) {
  return {{"ok", false},
          {"kind", static_cast<int>(error.kind)},
          {"subject", error.subject},
          {"cause", error.cause},
          {"remedy", error.remedy},
          {"details", error.details}};
}

Error decode_error(const Json& json) {
  Error error;
  error.kind = ErrorKind::kRuntime;
  auto text = [&](const char* key) {
    auto value = json_string(json, key, kSubject);
    return value ? *value : std::string();
  };
  if (auto kind = json_int(json, "kind", kSubject);
      kind && *kind >= 0 && *kind <= static_cast<int>(ErrorKind::kRuntime))
    error.kind = static_cast<ErrorKind>(*kind);
  error.subject = text("subject");
  error.cause = text("cause");
  error.remedy = text("remedy");
  error.details = text("details");
  if (error.cause.empty()) error.cause = "the worker reported an error without a cause";
  return error;
}

Json encode_tensors(const std::vector<std::pair<std::string, Tensor>>& tensors) {
  Json array = Json::array();
  for (const auto& [label, tensor] : tensors) {
    assert(tensor.bytes.file() != nullptr);
    array.push_back({{"name", label},
                     {"dtype", name(tensor.dtype)},
                     {"shape", tensor.shape},
                     {"file", std::filesystem::absolute(tensor.bytes.file()->path()).string()},
                     {"offset", tensor.bytes.offset()},
                     {"bytes", tensor.bytes.size()}});
  }
  return array;
}

Result<std::vector<std::pair<std::string, Tensor>>> decode_tensors(const Json& array) {
  if (!array.is_array()) return runtime_error(kSubject, "tensors are not an array");
  std::vector<std::pair<std::string, Tensor>> tensors;
  std::map<std::string, std::shared_ptr<const File>> files;
  for (const Json& json : array) {
    PARITAS_ASSIGN(std::string label, json_string(json, "name", kSubject));
    PARITAS_ASSIGN(const std::string path, json_string(json, "file", kSubject));
    PARITAS_ASSIGN(const uint64_t offset, json_uint(json, "offset", kSubject));
    PARITAS_ASSIGN(const uint64_t size, json_uint(json, "bytes", kSubject));
    PARITAS_ASSIGN(const Json* dims, json_array(json, "shape", kSubject));
    PARITAS_ASSIGN(Shape shape, decode_shape(*dims));
    PARITAS_ASSIGN(const std::string code, json_string(json, "dtype", kSubject));
    PARITAS_ASSIGN(const DType dtype, decode_dtype(Json(code)));
    auto& file = files[path];
    if (file == nullptr) {
      PARITAS_ASSIGN(file, File::open(path));
    }
    if (offset > file->size() || size > file->size() - offset)
      return input_error(path, fmt::format("is shorter than the tensor \"{}\" needs", label),
                         "it changed while it was in use: run again");
    PARITAS_ASSIGN(Tensor tensor, make_tensor(dtype, std::move(shape), Bytes::in_file(file, offset, size), path));
    tensors.emplace_back(std::move(label), std::move(tensor));
  }
  return tensors;
}

}  // namespace paritas::protocol
