#include "paritas/placement/placement_json.h"

#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "paritas/base/files.h"
#include "paritas/judge/metric_table.h"

namespace paritas {
namespace {

constexpr const char* kSchema = "paritas.placement/1";

template <class T>
Json optional_json(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

template <class Items, class Make>
Json array_of(const Items& items, Make make) {
  Json array = Json::array();
  for (const auto& item : items) array.push_back(make(item));
  return array;
}

Json source_names(const std::vector<EvidenceSource>& sources) {
  return array_of(sources, [](EvidenceSource source) { return Json(name(source)); });
}

Json node_json(const NodePlacement& node) {
  return {{"name", node.name},
          {"op", node.op},
          {"place", name(node.place)},
          {"provider", node.provider},
          {"partition", node.partition},
          {"evidence", source_names(node.evidence)},
          {"inferred", node.inferred},
          {"seen_as", node.seen_as},
          {"device_ops", node.device_ops},
          {"cycles", optional_json(node.cycles)},
          {"cycles_shared", node.cycles_shared},
          {"microseconds", optional_json(node.microseconds)}};
}

Json partition_json(const PartitionRow& row) {
  return {{"name", row.name},
          {"provider", row.provider},
          {"compiled_as", row.compiled_as},
          {"source_nodes", row.source_nodes},
          {"optimised_nodes", row.optimised_nodes},
          {"microseconds", optional_json(row.microseconds)},
          {"input_bytes", optional_json(row.input_bytes)},
          {"output_bytes", optional_json(row.output_bytes)}};
}

Json evidence_json(const EvidenceUse& use) {
  return {{"source", name(use.source)},
          {"file", use.file},
          {"names", use.names},
          {"mapped", use.mapped},
          {"says", use.says}};
}

Json totals_json(const PlacementAudit& audit) {
  const PlacementTotals& totals = audit.totals;
  Json places = Json::object();
  for (int i = 0; i < kPlaces; ++i) {
    std::string key(name(static_cast<Place>(i)));
    for (char& c : key)
      if (c == ' ') c = '_';
    places[key] = totals.by_place[static_cast<size_t>(i)];
  }
  Json optimised = Json::object();
  for (const auto& [provider, nodes] : audit.optimised) optimised[provider] = nodes;
  return {
      {"source_nodes", totals.source_nodes},
      {"places", std::move(places)},
      {"inferred", totals.inferred},
      {"optimised_nodes", optional_json(totals.optimised_nodes)},
      {"optimised", std::move(optimised)},
      {"device_share", json_number(audit.device_share())},
      {"device_share_by_time", totals.device_share_by_time ? json_number(*totals.device_share_by_time) : Json(nullptr)},
      {"profile_runs", totals.profile_runs},
      {"device_partitions", totals.device_partitions},
      {"device_cycles", optional_json(totals.device_cycles)},
      {"other_cycles", optional_json(totals.other_cycles)},
      {"crossings", totals.crossings},
      {"crossing_bytes", totals.crossing_bytes},
      {"crossings_of_unknown_size", totals.crossings_of_unknown_size}};
}

Json crossing_json(const Crossing& crossing) {
  return {{"tensor", crossing.tensor},
          {"from", crossing.from},
          {"to", crossing.to},
          {"bytes", optional_json(crossing.bytes)}};
}

Json contradiction_json(const Contradiction& contradiction) {
  return {{"sources", Json::array({name(contradiction.first), name(contradiction.second)})},
          {"nodes", contradiction.nodes},
          {"text", contradiction.text}};
}

Json audit_json(const PlacementAudit& audit) {
  return {{"requested", audit.requested},
          {"cpu_backend", audit.cpu_backend},
          {"totals", totals_json(audit)},
          {"traced_ops", audit.traced_ops},
          {"executed_ops", audit.executed_ops},
          {"evidence", array_of(audit.evidence, evidence_json)},
          {"contradictions", array_of(audit.contradictions, contradiction_json)},
          {"partitions", array_of(audit.partitions, partition_json)},
          {"crossings", array_of(audit.crossings, crossing_json)},
          {"nodes", array_of(audit.nodes, node_json)},
          {"unmapped", audit.unmapped},
          {"ambiguous", audit.ambiguous},
          {"made_up", audit.made_up},
          {"notes", audit.notes}};
}

Json output_json(const PinOutput& output) {
  return {{"name", output.name},
          {"before", output.cannot_tell ? Json(nullptr) : to_json(output.before)},
          {"after", output.cannot_tell ? Json(nullptr) : to_json(output.after)},
          {"agrees_before", output.cannot_tell ? Json(nullptr) : Json(output.agrees_before)},
          {"agrees_after", output.cannot_tell ? Json(nullptr) : Json(output.agrees_after)},
          {"rule", output.rule}};
}

Json pin_json(const PinExperiment& pin) {
  return {{"pins", pin.pins},
          {"touched_source", pin.touched_source},
          {"touched_optimised", pin.touched_optimised},
          {"ran", pin.ran},
          {"on_cpu_after", pin.on_cpu_after},
          {"moved_too", pin.moved_too},
          {"before", pin.ran ? audit_json(pin.before) : Json(nullptr)},
          {"outputs", array_of(pin.outputs, output_json)},
          {"deviated", pin.deviated},
          {"recovered", pin.recovered}};
}

Json change_json(const PlacementChange& change) {
  return {{"file", change.file},
          {"model_sha256", change.model_sha256},
          {"moved", array_of(change.moved,
                             [](const MovedNode& node) {
                               return Json{{"name", node.name}, {"op", node.op}, {"from", node.from}, {"to", node.to}};
                             })},
          {"only_before", change.only_before},
          {"only_after", change.only_after},
          {"partitions", Json::array({change.partitions_before, change.partitions_after})},
          {"crossings", Json::array({change.crossings_before, change.crossings_after})},
          {"device_share", Json::array({json_number(change.share_before), json_number(change.share_after)})}};
}

Json requirement_json(const RequirementOutcome& outcome) {
  return {{"text", outcome.text},
          {"met", outcome.met},
          {"share", json_number(outcome.share)},
          {"on_device", outcome.on_device},
          {"counted", outcome.counted},
          {"of", outcome.optimised ? "optimised graph" : "source graph"},
          {"missing", outcome.missing}};
}

Result<NodePlacement> stored_node(const Json& json, const std::string& subject) {
  NodePlacement node;
  PARITAS_ASSIGN(node.name, json_string(json, "name", subject));
  PARITAS_ASSIGN(node.op, json_string(json, "op", subject));
  PARITAS_ASSIGN(const std::string place, json_string(json, "place", subject));
  PARITAS_ASSIGN(node.provider, json_string(json, "provider", subject));
  const auto known = place_from_name(place);
  if (!known) return input_error(subject, fmt::format("the place \"{}\" is not known", place), "write the file again");
  node.place = *known;
  return node;
}

std::string where(const NodePlacement& node) {
  return node.provider.empty() ? std::string(name(node.place)) : node.provider;
}

}  // namespace

Json to_json(const PlacementResult& result) {
  Json json = {{"schema", kSchema},
               {"verdict", name(result.verdict)},
               {"reasons", result.reasons},
               {"model", result.model},
               {"model_sha256", result.model_sha256},
               {"target", result.target},
               {"pinned", result.pinned_dimensions},
               {"requirements", array_of(result.requirements, requirement_json)},
               {"findings", array_of(result.findings, [](const Finding& finding) { return to_json(finding); })},
               {"placement", audit_json(result.placement)}};
  json["pin"] = result.pin ? pin_json(*result.pin) : Json(nullptr);
  json["change"] = result.change ? change_json(*result.change) : Json(nullptr);
  json["info"] = result.info.provider.empty() ? Json(nullptr) : to_json(result.info);
  json["notes"] = result.notes;
  json["seconds"] = json_number(result.seconds_total);
  return json;
}

Result<StoredPlacement> read_stored_placement(const Path& path) {
  const std::string subject = path.string();
  PARITAS_ASSIGN(const std::string text, read_text(path, uint64_t{1} << 30));
  PARITAS_ASSIGN(const Json json, parse_json(text, subject));
  auto schema = json_string(json, "schema", subject);
  if (!schema || *schema != kSchema)
    return input_error(subject, "is no result of paritas placement",
                       "give a file that `paritas placement --json` wrote");
  StoredPlacement stored;
  stored.file = subject;
  PARITAS_ASSIGN(stored.model_sha256, json_string(json, "model_sha256", subject));
  PARITAS_ASSIGN(const Json* placement, json_object(json, "placement", subject));
  PARITAS_ASSIGN(const Json* totals, json_object(*placement, "totals", subject));
  PARITAS_ASSIGN(stored.partitions, json_uint(*totals, "device_partitions", subject));
  PARITAS_ASSIGN(stored.crossings, json_uint(*totals, "crossings", subject));
  const auto share = totals->find("device_share");
  const auto number = share == totals->end() ? std::nullopt : number_from_json(*share);
  if (!number) return input_error(subject, "\"device_share\" is no number", "write the file again");
  stored.share = *number;
  PARITAS_ASSIGN(const Json* nodes, json_array(*placement, "nodes", subject));
  for (const Json& entry : *nodes) {
    PARITAS_ASSIGN(NodePlacement node, stored_node(entry, subject));
    stored.nodes.push_back(std::move(node));
  }
  return stored;
}

PlacementChange compare_placements(const StoredPlacement& before, const PlacementAudit& after) {
  PlacementChange change;
  change.file = before.file;
  change.model_sha256 = before.model_sha256;
  change.partitions_before = before.partitions;
  change.partitions_after = after.totals.device_partitions;
  change.crossings_before = before.crossings;
  change.crossings_after = after.totals.crossings;
  change.share_before = before.share;
  change.share_after = after.device_share();
  std::unordered_map<std::string, const NodePlacement*> old;
  std::unordered_set<std::string> names;
  for (const NodePlacement& node : before.nodes) old.emplace(node.name, &node);
  for (const NodePlacement& node : after.nodes) {
    const auto it = old.find(node.name);
    names.insert(node.name);
    if (it == old.end()) {
      change.only_after.push_back(node.name);
      continue;
    }
    // A node about which one side knows nothing has not been seen to move.
    const bool known = it->second->place != Place::kUnknown && node.place != Place::kUnknown;
    if (known && (it->second->place != node.place || it->second->provider != node.provider))
      change.moved.push_back({node.name, node.op, where(*it->second), where(node)});
  }
  for (const NodePlacement& node : before.nodes)
    if (names.count(node.name) == 0) change.only_before.push_back(node.name);
  return change;
}

}  // namespace paritas
