#include "paritas/judge/metric_table.h"
#include "paritas/report/reports.h"

namespace paritas {
namespace {

Json side_json(const SideInfo& side) { return {{"dtype", name(side.dtype)}, {"shape", side.shape}}; }

Json comparison_json(const TensorComparison& t) {
  Json json = {{"name", t.name}, {"role", name(t.role)}, {"status", name(t.status)}, {"verdict", name(t.verdict)}};
  if (!t.sample.empty()) json["sample"] = t.sample;
  if (t.reference) json["reference"] = side_json(*t.reference);
  if (t.device) json["device"] = side_json(*t.device);
  if (t.metrics) json["metrics"] = to_json(*t.metrics);
  json["rule"] = t.rule;
  return json;
}

Json optional_number(const std::optional<double>& value) { return value ? json_number(*value) : Json(nullptr); }

Json storage_json(const StorageBaseline& s) {
  return {{"type", name(s.type)},
          {"max_abs", json_number(s.max_abs)},
          {"rms", json_number(s.rms)},
          {"overflowed", s.overflowed},
          {"subnormal", s.subnormal},
          {"flushed", s.flushed},
          {"max_over_limit", json_number(s.max_over_limit)},
          {"lost_energy", json_number(s.lost_energy)}};
}

Json local_json(const LocalError& local) {
  Json json = {{"metrics", to_json(local.metrics)}, {"island", local.island}, {"representable", local.representable}};
  const bool has_storage = local.metrics.storage.has_value();
  json["storage_baseline"] =
      has_storage && local.representable ? json_number(local.metrics.storage->max_abs) : Json(nullptr);
  json["storage"] = has_storage ? storage_json(*local.metrics.storage) : Json(nullptr);
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

Json decision_json(const DecisionReport& d) {
  return {{"node", d.node},   {"op", d.op},       {"tensor", d.tensor},
          {"count", d.count}, {"moved", d.moved}, {"picks", d.picks}};
}

Json output_json(const OutputRow& row) {
  Json json = comparison_json(row.pair);
  if (row.pair.metrics) {
    json["reference"]["max"] = json_number(row.pair.metrics->reference_max);
    json["device"]["max"] = json_number(row.pair.metrics->device_max);
  }
  json["behind_decision"] = row.behind_decision;
  return json;
}

}  // namespace

Json to_json(const CompareResult& result) {
  Json json = {{"schema", "paritas.compare/1"}, {"verdict", name(result.verdict)},
               {"reasons", result.reasons},     {"reference", result.reference},
               {"device", result.device},       {"samples", result.samples},
               {"gates", result.gate_texts},    {"gates_sha256", result.gates_sha256}};
  Json tensors = Json::array();
  for (const auto& t : result.tensors) tensors.push_back(comparison_json(t));
  json["tensors"] = std::move(tensors);
  json["unmatched"] = {{"reference", result.unmatched_reference}, {"device", result.unmatched_device}};
  const Coverage& c = result.coverage;
  json["coverage"] = {{"outputs", c.outputs},
                      {"outputs_compared", c.outputs_compared},
                      {"outputs_gated", c.outputs_gated},
                      {"intermediates", c.intermediates},
                      {"intermediates_compared", c.intermediates_compared}};
  json["notes"] = result.notes;
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
  fill("outputs", result.outputs, output_json);
  fill("nodes", result.nodes, node_json);
  json["ranked"] = result.ranked;
  json["first_divergence"] = result.first_divergence.empty() ? Json(nullptr) : Json(result.first_divergence);
  json["first_divergence_tensor"] =
      result.first_divergence_tensor.empty() ? Json(nullptr) : Json(result.first_divergence_tensor);
  fill("decisions", result.decisions, decision_json);
  json["forced"] = result.forced;
  json["placement"] = to_json(result.placement);
  json["probe_placement"] = to_json(result.probe_placement);
  fill("probe_effect", result.probe_effect, [](const ProbeEffect& e) {
    return Json{{"output", e.output},
                {"unmarked", json_number(e.unmarked)},
                {"marked", json_number(e.marked)},
                {"changed", e.changed}};
  });
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
