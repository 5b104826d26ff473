#include "paritas/compare/result_json.h"
#include "paritas/judge/metric_table.h"
#include "paritas/report/consistency_report.h"
#include "paritas/report/cross_matrix_report.h"
#include "paritas/report/groups_report.h"
#include "paritas/report/locate_json.h"
#include "paritas/report/probe_checks_report.h"
#include "paritas/report/reports.h"
#include "paritas/report/search_report.h"

namespace paritas {
namespace {

Json optional_number(const std::optional<double>& value) { return value ? json_number(*value) : Json(nullptr); }

Json local_json(const LocalError& local) {
  Json metrics = to_json(local.metrics);
  const Json storage = local.metrics.storage ? metrics["storage"] : Json(nullptr);
  metrics.erase("storage");  // stands beside the metrics
  Json json = {{"metrics", std::move(metrics)}, {"island", local.island}, {"representable", local.representable}};
  const bool has_storage = local.metrics.storage.has_value();
  json["storage_baseline"] =
      has_storage && local.representable ? json_number(local.metrics.storage->max_abs) : Json(nullptr);
  json["storage"] = storage;
  json["input_baseline"] = optional_number(local.input_baseline);
  json["x_baseline"] = optional_number(local.x_baseline);
  return json;
}

Json node_json(const NodeRow& row) {
  Json json = {{"name", row.name},
               {"op", row.op},
               {"tensor", row.tensor},
               {"dtype", name(row.dtype)},
               {"shape", row.shape},
               {"ran_on", row.ran_on},
               {"probe_ran_on", row.probe_ran_on}};
  if (!row.not_probed.empty()) json["not_probed"] = row.not_probed;
  json["graphs"] = {{"accumulated", row.accumulated ? Json(row.accumulated_graph) : Json(nullptr)},
                    {"accumulated_forced", row.accumulated_forced ? Json(row.forced_graph) : Json(nullptr)},
                    {"local", row.local ? Json("all-local") : Json(nullptr)}};
  json["accumulated"] = row.accumulated ? to_json(*row.accumulated) : Json(nullptr);
  json["accumulated_forced"] = row.accumulated_forced ? to_json(*row.accumulated_forced) : Json(nullptr);
  json["local"] = row.local ? local_json(*row.local) : Json(nullptr);
  json["inherited"] = row.inherited_nmse ? Json{{"nmse", json_number(*row.inherited_nmse)}} : Json(nullptr);
  json["sensitivity"] = optional_number(row.sensitivity);
  json["range_violation"] = row.range == RangeViolation::kNone ? Json(nullptr) : Json(name(row.range));
  if (!row.constant.empty()) json["constant_out_of_range"] = row.constant;
  json["consequential"] = row.consequential;
  json["decision"] = row.decision;
  return json;
}

Json probe_effect_json(const ProbeEffect& effect) {
  Json graphs = Json::array();
  for (const MarkedOutput& output : effect.graphs)
    graphs.push_back({{"graph", output.graph},
                      {"max", json_number(output.max)},
                      {"changed", output.changed},
                      {"nmse", json_number(output.nmse)}});
  return {{"output", effect.output},
          {"unmarked", json_number(effect.unmarked)},
          {"marked", json_number(effect.marked)},
          {"changed", effect.changed},
          {"graphs", std::move(graphs)}};
}

}  // namespace

Json to_json(const SuppressedBox& box) {
  return {{"batch", box.batch},
          {"class", box.of_class},
          {"box", box.box},
          {"kept", box.kept},
          {"score", json_number(box.score)},
          {"follows", box.follows},
          {"margin", optional_number(box.margin)},
          {"margin_of", box.margin_of.empty() ? Json(nullptr) : Json(box.margin_of)},
          {"competitor", box.competitor ? Json(*box.competitor) : Json(nullptr)}};
}

Json to_json(const DecisionReport& d) {
  Json json = {{"node", d.node},   {"op", d.op},       {"tensor", d.tensor},
               {"count", d.count}, {"moved", d.moved}, {"picks", d.picks}};
  if (d.tie)
    json["tie"] = {{"margin", optional_number(d.tie->margin)},
                   {"compared", d.tie->compared},
                   {"runner_up", optional_number(d.tie->runner_up)},
                   {"storage_step", optional_number(d.tie->storage_step)},
                   {"local_error", optional_number(d.tie->local_error)},
                   {"accumulated_error", optional_number(d.tie->accumulated_error)},
                   {"explained_by", d.tie->explained_by.empty() ? Json(nullptr) : Json(d.tie->explained_by)},
                   {"not_taken", d.tie->not_taken.empty() ? Json(nullptr) : Json(d.tie->not_taken)},
                   {"margin_of", d.tie->margin_of.empty() ? Json(nullptr) : Json(d.tie->margin_of)}};
  if (d.tie && d.op == "NonMaxSuppression") {
    json["tie"]["boxes"] = Json::array();
    for (const SuppressedBox& box : d.tie->boxes) json["tie"]["boxes"].push_back(to_json(box));
  }
  if (d.tie || !d.outputs.empty()) {
    json["gathers"] = d.gathers;
    json["outputs"] = d.outputs;
  }
  return json;
}

Json to_json(const OutputRow& row) {
  Json json = to_json(row.pair);
  if (row.class_ids()) {
    json["class_ids"] = true;
  } else if (row.pair.metrics) {
    json["reference"]["max"] = json_number(row.pair.metrics->reference_max);
    json["device"]["max"] = json_number(row.pair.metrics->device_max);
  }
  json["behind_decision"] = row.behind_decision;
  return json;
}

Json to_json(const LocateResult& result) {
  Json json = {{"schema", "paritas.locate/1"}, {"verdict", name(result.verdict)},     {"reasons", result.reasons},
               {"model", result.model},        {"reference", result.reference},       {"device", result.device},
               {"gates", result.gate_texts},   {"gates_sha256", result.gates_sha256}, {"pinned", result.pinned}};
  auto fill = [&json](const char* key, const auto& items, auto make) {
    Json array = Json::array();
    for (const auto& item : items) array.push_back(make(item));
    json[key] = std::move(array);
  };
  fill("outputs", result.outputs, [](const OutputRow& row) { return to_json(row); });
  for (Json& output : json["outputs"]) {
    output["graph"] = "unmarked";
    if (result.consistency) output["noise_floor"] = noise_floor_json(*result.consistency, output["name"]);
  }
  fill("nodes", result.nodes, node_json);
  json["ranked"] = result.ranked;
  json["first_divergence"] = result.first_divergence.empty() ? Json(nullptr) : Json(result.first_divergence);
  json["first_divergence_tensor"] =
      result.first_divergence_tensor.empty() ? Json(nullptr) : Json(result.first_divergence_tensor);
  fill("decisions", result.decisions, [](const DecisionReport& d) { return to_json(d); });
  json["forced"] = result.forced;
  json["placement"] = to_json(result.placement);
  json["probe_placement"] = to_json(result.probe_placement);
  fill("probe_effect", result.probe_effect, probe_effect_json);
  if (result.consistency) json["consistency"] = to_json(*result.consistency);
  if (result.probe_checks) json["probe_checks"] = to_json(*result.probe_checks);
  if (!result.groups.empty()) fill("groups", result.groups, [](const GroupReport& g) { return to_json(g); });
  if (result.search) json["search"] = to_json(*result.search);
  if (result.cross_matrices) {
    json["only_cuts"] = result.only_cuts;
    json["cross_matrix"] = cross_matrix_json(*result.cross_matrices);
    json["uncut"] = uncut_json(*result.cross_matrices);
  }
  fill("findings", result.findings, [](const Finding& f) { return to_json(f); });
  json["notes"] = result.notes;
  json["seconds"] = {{"reference", result.seconds_reference},
                     {"device", result.seconds_device},
                     {"probes", result.seconds_probes},
                     {"injection", result.seconds_injection},
                     {"total", result.seconds_total}};
  json["sessions"] = result.sessions;
  json["provenance"] = {{"reference", to_json(result.reference_info)}, {"device", to_json(result.device_info)}};
  return json;
}

}  // namespace paritas
