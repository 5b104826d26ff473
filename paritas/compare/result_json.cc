#include "paritas/compare/result_json.h"

#include <fmt/format.h>

#include "paritas/base/sha256.h"
#include "paritas/judge/metric_table.h"

namespace paritas {
namespace {

constexpr uint64_t kLargestResult = uint64_t{4} << 30;  // bytes of a stored result that are read

// Over all that a later judgement rests on: it shows accidents and careless edits; it is no signature.
std::string tensors_hash(const Json& tensors, uint64_t first_sample, uint64_t samples) {
  const std::string text = fmt::format("{} {} {}", first_sample, samples, dump_json(tensors, -1));
  return sha256_hex(std::as_bytes(std::span(text)));
}

Json side_json(const SideInfo& side) { return {{"dtype", name(side.dtype)}, {"shape", side.shape}}; }

Json summary_json(const TensorSummary& summary) {
  Json metrics = Json::object();
  for (const MetricSummary& s : summary.metrics)
    metrics[s.metric] = {
        {"samples", s.samples},      {"mean", json_number(s.mean)},   {"median", json_number(s.median)},
        {"p99", json_number(s.p99)}, {"worst", json_number(s.worst)}, {"worst_sample", s.worst_sample}};
  return {{"name", summary.name}, {"metrics", std::move(metrics)}};
}

Json provenance_json(const RunInfo& info) {
  Json json = to_json(info);
  json.erase("tensors");
  return json;
}

Result<SideInfo> side_from_json(const Json& json, const std::string& subject) {
  SideInfo side;
  PARITAS_ASSIGN(const std::string type, json_string(json, "dtype", subject));
  const auto dtype = dtype_from_name(type);
  if (!dtype) return input_error(subject, fmt::format("\"{}\" is no element type", type));
  side.dtype = *dtype;
  PARITAS_ASSIGN(const Json* shape, json_array(json, "shape", subject));
  for (const Json& dim : *shape) {
    if (!dim.is_number_integer()) return input_error(subject, "a dimension is not a whole number");
    side.shape.push_back(dim.get<int64_t>());
  }
  return side;
}

std::optional<Verdict> verdict_from_name(const std::string& text) {
  for (Verdict v : {Verdict::kInvalid, Verdict::kDeviates, Verdict::kNotJudged, Verdict::kPass})
    if (name(v) == text) return v;
  return std::nullopt;
}

Result<std::vector<std::string>> strings(const Json& json, const char* key, const std::string& subject) {
  PARITAS_ASSIGN(const Json* array, json_array(json, key, subject));
  std::vector<std::string> texts;
  for (const Json& text : *array) {
    if (!text.is_string()) return input_error(subject, fmt::format("\"{}\" holds something else than texts", key));
    texts.push_back(text.get<std::string>());
  }
  return texts;
}

std::string text_or_empty(const Json& json, const char* key) {
  return json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : std::string();
}

bool flag(const Json& json, const char* key) { return json.contains(key) && json[key] == true; }

Result<TensorComparison> tensor_from_json(const Json& json, const std::string& subject) {
  TensorComparison t;
  PARITAS_ASSIGN(t.name, json_string(json, "name", subject));
  PARITAS_ASSIGN(const std::string role, json_string(json, "role", subject));
  PARITAS_ASSIGN(const std::string status, json_string(json, "status", subject));
  PARITAS_ASSIGN(const std::string verdict, json_string(json, "verdict", subject));
  PARITAS_ASSIGN(t.rule, json_string(json, "rule", subject));
  const auto known_role = role_from_name(role);
  const auto known_status = pair_status_from_name(status);
  const auto known_verdict = verdict_from_name(verdict);
  if (!known_role || !known_status || !known_verdict)
    return input_error(subject, fmt::format("tensor \"{}\": role, status or verdict is not known", t.name));
  t.role = *known_role;
  t.status = *known_status;
  t.verdict = *known_verdict;
  t.device_name = text_or_empty(json, "device_name");
  t.pairing = text_or_empty(json, "pairing");
  t.declared_role = text_or_empty(json, "declared_role");
  t.sample = text_or_empty(json, "sample");
  t.gated = flag(json, "gated");
  t.only_on_device = flag(json, "only_on_device");
  t.equal_up_to = text_or_empty(json, "equal_up_to");
  if (json.contains("agreement")) {
    PARITAS_ASSIGN(const std::string text, json_string(json["agreement"], "text", subject));
    t.agreement = InputAgreement{flag(json["agreement"], "equal"), text};
  }
  if (json.contains("reference")) {
    PARITAS_ASSIGN(t.reference, side_from_json(json["reference"], subject));
  }
  if (json.contains("device")) {
    PARITAS_ASSIGN(t.device, side_from_json(json["device"], subject));
  }
  if (json.contains("metrics")) {
    PARITAS_ASSIGN(t.metrics, pair_metrics_from_json(json["metrics"], fmt::format("{}: {}", subject, t.name)));
  }
  if (json.contains("notes")) {
    PARITAS_ASSIGN(t.notes, strings(json, "notes", subject));
  }
  const bool sound = !t.compared() || (t.metrics && t.reference && t.device);
  if (!sound) return input_error(subject, fmt::format("tensor \"{}\" is compared but has no figures", t.name));
  return t;
}

}  // namespace

Json to_json(const TensorComparison& t) {
  Json json = {{"name", t.name}, {"role", name(t.role)}, {"status", name(t.status)}, {"verdict", name(t.verdict)}};
  if (!t.device_name.empty()) json["device_name"] = t.device_name;
  if (!t.pairing.empty()) json["pairing"] = t.pairing;
  if (!t.declared_role.empty()) json["declared_role"] = t.declared_role;
  if (!t.sample.empty()) json["sample"] = t.sample;
  if (t.reference) json["reference"] = side_json(*t.reference);
  if (t.device) json["device"] = side_json(*t.device);
  if (t.metrics) json["metrics"] = to_json(*t.metrics);
  if (t.only_on_device) json["only_on_device"] = true;
  if (t.agreement) json["agreement"] = {{"equal", t.agreement->equal}, {"text", t.agreement->text}};
  if (!t.equal_up_to.empty()) json["equal_up_to"] = t.equal_up_to;
  json["gated"] = t.gated;
  json["rule"] = t.rule;
  if (!t.notes.empty()) json["notes"] = t.notes;
  return json;
}

Json to_json(const CompareResult& result) {
  Json json = {{"schema", "paritas.compare/1"},
               {"verdict", name(result.verdict)},
               {"reasons", result.reasons},
               {"reference", result.reference},
               {"device", result.device},
               {"first_sample", result.first_sample},
               {"samples", result.samples},
               {"reference_samples", result.reference_samples},
               {"device_samples", result.device_samples},
               {"part", result.part},
               {"inputs_unverified", result.inputs_unverified},
               {"allow_extra_outputs", result.allow_extra_outputs},
               {"gates", result.gate_texts},
               {"settings", result.settings},
               {"task_gates", result.task_gates},
               {"gates_sha256", result.gates_sha256},
               {"decided_afterwards", result.decided_afterwards}};
  const auto fill = [&json](const char* key, const auto& items, auto make) {
    Json array = Json::array();
    for (const auto& item : items) array.push_back(make(item));
    json[key] = std::move(array);
  };
  fill("tensors", result.tensors, [](const TensorComparison& t) { return to_json(t); });
  json["tensors_sha256"] = tensors_hash(json["tensors"], result.first_sample, result.samples);
  fill("summaries", result.summaries, summary_json);
  json["unmatched"] = {{"reference", result.unmatched_reference}, {"device", result.unmatched_device}};
  fill("proposals", result.proposals, [](const PairProposal& p) {
    return Json{{"reference", p.reference},
                {"device", p.device},
                {"nmse", json_number(p.nmse)},
                {"runner_up", p.runner_up},
                {"runner_up_nmse", json_number(p.runner_up_nmse)}};
  });
  const Coverage& c = result.coverage;
  json["coverage"] = {{"outputs", c.outputs},
                      {"outputs_compared", c.outputs_compared},
                      {"outputs_gated", c.outputs_gated},
                      {"intermediates", c.intermediates},
                      {"intermediates_compared", c.intermediates_compared}};
  json["notes"] = result.notes;
  json["provenance"] = {{"reference", provenance_json(result.reference_info)},
                        {"device", provenance_json(result.device_info)}};
  return json;
}

Result<CompareResult> compare_result_from_json(const Json& json, const std::string& subject) {
  const std::string schema = json.is_object() ? text_or_empty(json, "schema") : "";
  if (schema == "paritas.check/1")
    return input_error(subject,
                       "is a result of paritas check, whose tasks and steps belong to all samples: they can be neither "
                       "merged nor judged again",
                       "run paritas check on the whole recordings; parts are made with paritas compare --samples");
  if (schema != "paritas.compare/1")
    return input_error(subject, "is no result of paritas compare", "it must have the schema paritas.compare/1");
  if (json.contains("pairs"))
    return input_error(subject, "holds the comparison of more than two recordings", "compare two of them");
  CompareResult r;
  PARITAS_ASSIGN(r.reference, json_string(json, "reference", subject));
  PARITAS_ASSIGN(r.device, json_string(json, "device", subject));
  PARITAS_ASSIGN(r.first_sample, json_uint(json, "first_sample", subject));
  PARITAS_ASSIGN(r.samples, json_uint(json, "samples", subject));
  PARITAS_ASSIGN(r.reference_samples, json_uint(json, "reference_samples", subject));
  PARITAS_ASSIGN(r.device_samples, json_uint(json, "device_samples", subject));
  PARITAS_ASSIGN(r.gates_sha256, json_string(json, "gates_sha256", subject));
  PARITAS_ASSIGN(r.gate_texts, strings(json, "gates", subject));
  PARITAS_ASSIGN(r.settings, strings(json, "settings", subject));
  PARITAS_ASSIGN(r.task_gates, strings(json, "task_gates", subject));
  PARITAS_ASSIGN(r.notes, strings(json, "notes", subject));
  r.part = flag(json, "part");
  r.inputs_unverified = flag(json, "inputs_unverified");
  r.allow_extra_outputs = flag(json, "allow_extra_outputs");
  r.decided_afterwards = flag(json, "decided_afterwards");
  PARITAS_ASSIGN(const Json* tensors, json_array(json, "tensors", subject));
  PARITAS_ASSIGN(const std::string hash, json_string(json, "tensors_sha256", subject));
  if (hash != tensors_hash(*tensors, r.first_sample, r.samples))
    return input_error(subject, "its tensors were changed after it was written", "compare again");
  for (const Json& item : *tensors) {
    PARITAS_ASSIGN(TensorComparison t, tensor_from_json(item, subject));
    r.tensors.push_back(std::move(t));
  }
  PARITAS_ASSIGN(const Json* proposals, json_array(json, "proposals", subject));
  for (const Json& item : *proposals) {
    PairProposal p;
    PARITAS_ASSIGN(p.reference, json_string(item, "reference", subject));
    PARITAS_ASSIGN(p.device, json_string(item, "device", subject));
    p.runner_up = text_or_empty(item, "runner_up");
    p.nmse = number_from_json(item.value("nmse", Json())).value_or(0);
    p.runner_up_nmse = number_from_json(item.value("runner_up_nmse", Json())).value_or(0);
    r.proposals.push_back(std::move(p));
  }
  PARITAS_ASSIGN(const Json* provenance, json_object(json, "provenance", subject));
  for (auto [key, info] : {std::pair("reference", &r.reference_info), std::pair("device", &r.device_info)}) {
    PARITAS_ASSIGN(const Json* side, json_object(*provenance, key, subject));
    Json complete = *side;
    complete["tensors"] = Json::array();
    PARITAS_ASSIGN(*info, run_info_from_json(complete, subject));
  }
  return r;
}

Result<CompareResult> load_compare_result(const Path& file) {
  PARITAS_ASSIGN(const std::string text, read_text(file, kLargestResult));
  PARITAS_ASSIGN(const Json json, parse_json(text, file.string()));
  return compare_result_from_json(json, file.string());
}

}  // namespace paritas
