#include <fmt/format.h>

#include "paritas/monitor/monitor.h"

namespace paritas {
namespace {

Json json_of(const MonitoredLayer& layer) {
  Json metrics = Json::object();
  for (const MetricSummary& m : layer.metrics)
    metrics[m.metric] = {{"samples", m.samples},
                         {"median", json_number(m.median)},
                         {"p99", json_number(m.p99)},
                         {"worst", json_number(m.worst)},
                         {"worst_sample", m.worst_sample}};
  return {{"name", layer.name},
          {"device_name", layer.device_name},
          {"pairing", layer.pairing},
          {"node", layer.node},
          {"op", layer.op},
          {"block", layer.block},
          {"role", name(layer.role)},
          {"baseline", layer.baseline},
          {"samples", layer.samples},
          {"flagged_samples", layer.flagged},
          {"undecided_samples", layer.undecided},
          {"nonfinite_samples", layer.nonfinite},
          {"flag", layer.flag},
          {"flag_sample", layer.flag_sample},
          {"gated", layer.gated},
          {"verdict", name(layer.verdict)},
          {"rule", layer.rule},
          {"problems", layer.problems},
          {"metrics", metrics}};
}

Json json_of(const InputCoverage& input) {
  Json channels = Json::array();
  for (const ChannelRange& c : input.channels)
    channels.push_back({{"min", json_number(c.low)},
                        {"max", json_number(c.high)},
                        {"mean", json_number(c.mean)},
                        {"std", json_number(c.std)}});
  return {{"input", input.input},
          {"layout", input.channel_axis},
          {"channels", channels},
          {"constant_samples", input.constant},
          {"saturated_samples", input.saturated},
          {"normalisation", input.normalisation},
          {"normalisation_text", input.normalisation_text}};
}

Json json_of(const MonitorCoverage& coverage) {
  Json groups = Json::array(), inputs = Json::array();
  for (const GroupCount& group : coverage.groups)
    groups.push_back({{"class", group.index}, {"samples", group.samples}});
  for (const InputCoverage& input : coverage.inputs) inputs.push_back(json_of(input));
  return {{"groups_by", coverage.groups_by}, {"groups", groups}, {"inputs", inputs}};
}

Json json_of(const TaskResult& task) {
  Json gates = Json::array();
  for (const TaskGate& gate : task.gates)
    gates.push_back({{"gate", gate.gate}, {"text", gate.text}, {"verdict", name(gate.verdict)}});
  return {{"name", task.name},
          {"verdict", name(task.verdict)},
          {"reasons", task.reasons},
          {"gates", gates},
          {"result", to_json(std::get<ClassificationResult>(task.result))}};
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

}  // namespace

Json to_json(const MonitorResult& r) {
  Json layers = Json::array(), blocks = Json::array(), amplified = Json::array(), tasks = Json::array(),
       failed = Json::array();
  for (const MonitoredLayer& layer : r.layers) layers.push_back(json_of(layer));
  for (const MonitoredBlock& block : r.blocks)
    blocks.push_back({{"path", block.path},
                      {"layers", block.layers},
                      {"flagged", block.flagged},
                      {"worst_layer", block.worst_layer},
                      {"worst_median_nmse", json_number(block.worst_nmse)}});
  for (const Amplified& a : r.amplified)
    amplified.push_back({{"sample", a.sample},
                         {"output", a.output},
                         {"nmse", json_number(a.nmse)},
                         {"median_nmse", json_number(a.median)},
                         {"inner_layer", a.inner_layer},
                         {"inner_nmse", json_number(a.inner_nmse)},
                         {"inner_median_nmse", json_number(a.inner_median)}});
  for (const TaskResult& task : r.tasks) tasks.push_back(json_of(task));
  for (const auto& [sample, why] : r.failed) failed.push_back({{"sample", sample}, {"reason", why}});
  return {{"schema", "paritas.monitor/1"},
          {"verdict", name(r.verdict)},
          {"reasons", r.reasons},
          {"deciding", r.deciding},
          {"project", r.project},
          {"project_sha256", r.project_sha256},
          {"gates_sha256", r.gates_sha256},
          {"reference", {{"target", r.reference}, {"model", r.reference_model}, {"fed", r.reference_feed}}},
          {"device", {{"target", r.device}, {"model", r.device_model}, {"fed", r.device_feed}}},
          {"samples", r.samples},
          {"compared", r.compared},
          {"failed", failed},
          {"pairing",
           {{"reference_layers", r.reference_layers},
            {"paired", r.paired_layers},
            {"rules", r.pairing_rules},
            {"unmatched_reference", r.unmatched_reference},
            {"unmatched_device", r.unmatched_device}}},
          {"layers", layers},
          {"blocks", blocks},
          {"decisions", r.decisions},
          {"amplified", amplified},
          {"coverage", json_of(r.coverage)},
          {"tasks", tasks},
          {"files", r.files},
          {"notes", r.notes},
          {"run", {{"now", r.run_now}, {"taken_over", r.taken_over}, {"seconds", json_number(r.seconds)}}}};
}

std::string to_csv(const MonitorResult& result) {
  std::string csv = "layer,metric,median,p99,worst,sample\n";
  for (const MonitoredLayer& layer : result.layers)
    for (const MetricSummary& m : layer.metrics)
      csv += fmt::format("{},{},{},{},{},{}\n", csv_cell(layer.name), m.metric, m.median, m.p99, m.worst,
                         csv_cell(m.worst_sample));
  return csv;
}

}  // namespace paritas
