#include "paritas/recording/provenance.h"
#include "paritas/recording/placement_counts_json.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace paritas {
namespace {

constexpr std::array<std::string_view, 3> kRoleNames = {"input", "output", "intermediate"};

std::string text_or_empty(const Json& object, const char* key) {
  auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
}

std::vector<std::string> texts_or_empty(const Json& object, const char* key) {
  std::vector<std::string> texts;
  auto it = object.find(key);
  if (it != object.end() && it->is_array())
    for (const Json& entry : *it)
      if (entry.is_string()) texts.push_back(entry.get<std::string>());
  return texts;
}

Json library_to_json(const LibraryRecord& library) {
  return {{"version", library.version},
          {"path", library.path},
          {"sha256_before", library.sha256_before},
          {"sha256_after", library.sha256_after}};
}

LibraryRecord library_from_json(const Json& object, const char* key) {
  auto it = object.find(key);
  if (it == object.end() || !it->is_object()) return {};
  return {text_or_empty(*it, "version"), text_or_empty(*it, "path"), text_or_empty(*it, "sha256_before"),
          text_or_empty(*it, "sha256_after")};
}

Json tensor_to_json(const TensorInfo& tensor) {
  Json entry = {{"name", tensor.name}, {"dtype", name(tensor.dtype)}, {"role", name(tensor.role)}};
  if (tensor.storage_type) entry["storage_type"] = name(*tensor.storage_type);
  if (!tensor.node.empty()) entry["node"] = tensor.node;
  if (!tensor.op.empty()) entry["op"] = tensor.op;
  if (tensor.quantisation) {
    Json q = {{"scale", tensor.quantisation->scale}, {"zero_point", tensor.quantisation->zero_point}};
    if (tensor.quantisation->axis) q["axis"] = *tensor.quantisation->axis;
    entry["quantisation"] = std::move(q);
  }
  return entry;
}

Result<Quantisation> quantisation_from_json(const Json& json, const std::string& subject) {
  Quantisation q;
  PARITAS_ASSIGN(const Json* scale, json_array(json, "scale", subject));
  PARITAS_ASSIGN(const Json* zero_point, json_array(json, "zero_point", subject));
  for (const Json& value : *scale) {
    if (!value.is_number()) return input_error(subject, "a quantisation scale is not a number");
    q.scale.push_back(value.get<double>());
  }
  for (const Json& value : *zero_point) {
    if (!value.is_number_integer()) return input_error(subject, "a zero point is not a whole number");
    q.zero_point.push_back(value.get<int64_t>());
  }
  if (q.scale.empty() || q.scale.size() != q.zero_point.size())
    return input_error(subject, "scale and zero_point must have the same length, at least 1");
  if (json.contains("axis")) {
    PARITAS_ASSIGN(int64_t axis, json_int(json, "axis", subject));
    if (axis < 0 || axis > 64) return input_error(subject, "quantisation axis out of range");
    q.axis = static_cast<int>(axis);
  }
  return q;
}

Result<DType> dtype_member(const Json& json, const char* key, const std::string& subject) {
  PARITAS_ASSIGN(std::string text, json_string(json, key, subject));
  auto dtype = dtype_from_name(text);
  if (!dtype) return input_error(subject, fmt::format("unknown element type \"{}\"", text));
  return *dtype;
}

Result<TensorInfo> tensor_from_json(const Json& json, const std::string& subject) {
  TensorInfo tensor;
  PARITAS_ASSIGN(tensor.name, json_string(json, "name", subject));
  PARITAS_ASSIGN(tensor.dtype, dtype_member(json, "dtype", subject));
  PARITAS_ASSIGN(std::string role, json_string(json, "role", subject));
  auto known = role_from_name(role);
  if (!known) return input_error(subject, fmt::format("unknown role \"{}\"", role));
  tensor.role = *known;
  tensor.node = text_or_empty(json, "node");
  tensor.op = text_or_empty(json, "op");
  if (json.contains("storage_type")) {
    PARITAS_ASSIGN(tensor.storage_type, dtype_member(json, "storage_type", subject));
  }
  if (json.contains("quantisation")) {
    PARITAS_ASSIGN(tensor.quantisation, quantisation_from_json(json["quantisation"], subject));
  }
  return tensor;
}

Json plan_to_json(const std::vector<PlannedPart>& plan) {
  Json array = Json::array();
  for (const PlannedPart& part : plan) array.push_back({{"where", part.where}, {"nodes", part.nodes}});
  return array;
}

Result<std::vector<PlannedPart>> plan_from_json(const Json& json, const std::string& subject) {
  PARITAS_ASSIGN(const Json* array, json_array(json, "plan", subject));
  std::vector<PlannedPart> plan;
  for (const Json& entry : *array) {
    PlannedPart part;
    PARITAS_ASSIGN(part.where, json_string(entry, "where", subject));
    part.nodes = texts_or_empty(entry, "nodes");
    plan.push_back(std::move(part));
  }
  return plan;
}

}  // namespace

Result<PlacementCounts> placement_from_json(const Json& json, const std::string& subject) {
  PlacementCounts placement;
  PARITAS_ASSIGN(placement.requested, json_string(json, "requested", subject));
  PARITAS_ASSIGN(const Json* nodes, json_object(json, "nodes", subject));
  for (const auto& [provider, count] : nodes->items()) {
    if (!count.is_number_unsigned()) return input_error(subject, "a node count is not a whole number");
    placement.nodes.emplace_back(provider, count.get<uint64_t>());
  }
  PARITAS_ASSIGN(placement.partitions, json_uint(json, "partitions", subject));
  placement.evidence = texts_or_empty(json, "evidence");
  return placement;
}

std::string_view name(Role role) { return kRoleNames[static_cast<size_t>(role)]; }

std::optional<Role> role_from_name(std::string_view text) {
  for (size_t i = 0; i < kRoleNames.size(); ++i)
    if (kRoleNames[i] == text) return static_cast<Role>(i);
  return std::nullopt;
}

uint64_t PlacementCounts::total() const {
  uint64_t sum = 0;
  for (const auto& [provider, count] : nodes) sum += count;
  return sum;
}

uint64_t PlacementCounts::on(const std::string& provider) const {
  for (const auto& [name, count] : nodes)
    if (name == provider) return count;
  return 0;
}

double PlacementCounts::device_share() const {
  const uint64_t all = total();
  return all == 0 ? 0.0 : static_cast<double>(on(requested)) / static_cast<double>(all);
}

const TensorInfo* RunInfo::find(const std::string& wanted) const {
  auto it = std::find_if(tensors.begin(), tensors.end(), [&](const TensorInfo& t) { return t.name == wanted; });
  return it == tensors.end() ? nullptr : &*it;
}

Json to_json(const PlacementCounts& placement) {
  Json nodes = Json::object();
  for (const auto& [provider, count] : placement.nodes) nodes[provider] = count;
  return {{"requested", placement.requested},
          {"nodes", std::move(nodes)},
          {"device_share", json_number(placement.device_share())},
          {"partitions", placement.partitions},
          {"evidence", placement.evidence}};
}

Json to_json(const RunInfo& info) {
  Json json = {{"schema", "paritas.run/1"}, {"tool_version", info.tool_version}};
  json["model"] = {{"path", info.model_path},
                   {"sha256", info.model_sha256},
                   {"ir_version", info.ir_version},
                   {"opsets", info.opsets},
                   {"producer", info.producer}};
  if (!info.model_sha256_after.empty()) json["model"]["sha256_after"] = info.model_sha256_after;
  json["target"] = info.target;
  json["provider"] = info.provider;
  json["options"] = info.options;
  json["optimisation"] = info.optimisation;
  json["threads"] = info.threads;
  json["runtime"] = library_to_json(info.runtime);
  json["provider_library"] = library_to_json(info.provider_library);
  json["marks"] = info.marks;
  json["pinned"] = info.pinned;
  json["notes"] = info.notes;
  if (!info.sample_names.empty()) json["sample_names"] = info.sample_names;
  json["host"] = info.host;
  json["start"] = info.start;
  json["seconds"] = info.seconds;
  if (info.placement) json["placement"] = to_json(*info.placement);
  if (!info.plan.empty()) json["plan"] = plan_to_json(info.plan);
  if (info.steps > 0) json["steps"] = info.steps;
  Json tensors = Json::array();
  for (const TensorInfo& tensor : info.tensors) tensors.push_back(tensor_to_json(tensor));
  json["tensors"] = std::move(tensors);
  return json;
}

Result<RunInfo> run_info_from_json(const Json& json, const std::string& subject) {
  PARITAS_ASSIGN(std::string schema, json_string(json, "schema", subject));
  if (schema != "paritas.run/1")
    return input_error(subject, fmt::format("schema \"{}\" is not paritas.run/1", schema),
                       "record it again with this version");
  RunInfo info;
  info.tool_version = text_or_empty(json, "tool_version");
  PARITAS_ASSIGN(const Json* model, json_object(json, "model", subject));
  info.model_path = text_or_empty(*model, "path");
  info.model_sha256 = text_or_empty(*model, "sha256");
  info.model_sha256_after = text_or_empty(*model, "sha256_after");
  info.producer = text_or_empty(*model, "producer");
  if (model->contains("ir_version")) {
    PARITAS_ASSIGN(info.ir_version, json_int(*model, "ir_version", subject));
  }
  if (auto it = model->find("opsets"); it != model->end() && it->is_object())
    for (const auto& [domain, version] : it->items())
      if (version.is_number_integer()) info.opsets[domain] = version.get<int64_t>();
  info.target = text_or_empty(json, "target");
  info.provider = text_or_empty(json, "provider");
  if (auto it = json.find("options"); it != json.end() && it->is_object())
    for (const auto& [key, value] : it->items())
      if (value.is_string()) info.options[key] = value.get<std::string>();
  info.optimisation = text_or_empty(json, "optimisation");
  if (json.contains("threads")) {
    PARITAS_ASSIGN(int64_t threads, json_int(json, "threads", subject));
    info.threads = static_cast<int>(std::clamp<int64_t>(threads, 0, 4096));
  }
  info.runtime = library_from_json(json, "runtime");
  info.provider_library = library_from_json(json, "provider_library");
  info.marks = text_or_empty(json, "marks");
  info.pinned = texts_or_empty(json, "pinned");
  info.notes = texts_or_empty(json, "notes");
  info.sample_names = texts_or_empty(json, "sample_names");
  info.host = text_or_empty(json, "host");
  info.start = text_or_empty(json, "start");
  if (auto it = json.find("seconds"); it != json.end() && it->is_number()) info.seconds = it->get<double>();
  if (json.contains("placement")) {
    PARITAS_ASSIGN(info.placement, placement_from_json(json["placement"], subject));
  }
  if (json.contains("plan")) {
    PARITAS_ASSIGN(info.plan, plan_from_json(json, subject));
  }
  if (json.contains("steps")) {
    PARITAS_ASSIGN(info.steps, json_uint(json, "steps", subject));
  }
  PARITAS_ASSIGN(const Json* tensors, json_array(json, "tensors", subject));
  for (const Json& entry : *tensors) {
    PARITAS_ASSIGN(TensorInfo tensor, tensor_from_json(entry, subject));
    info.tensors.push_back(std::move(tensor));
  }
  return info;
}

}  // namespace paritas
