#include "paritas/report/consistency_report.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace paritas {
namespace {

constexpr size_t kFloors = 6;

Json figures_json(bool shape_changed, const PairMetrics& m) {
  Json json = {{"shape_changed", shape_changed}};
  if (shape_changed) return json;
  json["count"] = m.count;
  json["differing"] = m.differing;
  json["max_abs"] = json_number(m.max_abs);
  json["nmse"] = json_number(m.nmse);
  json["sqnr_db"] = json_number(m.sqnr_db);
  json["cosine"] = json_number(m.cosine);
  return json;
}

Json check_json(const NoiseCheck& check) {
  Json json = {{"check", name(check.source)},
               {"status", name(check.status)},
               {"reason", check.reason.empty() ? Json(nullptr) : Json(check.reason)},
               {"setting", check.setting.empty() ? Json(nullptr) : Json(check.setting)},
               {"runs", check.runs},
               {"outputs", Json::array()},
               {"shows", shows(check.source)},
               {"does_not_show", does_not_show(check.source)}};
  for (const NoiseFigure& figure : check.outputs) {
    Json entry = figures_json(figure.shape_changed, figure.metrics);
    entry["output"] = figure.output;
    json["outputs"].push_back(std::move(entry));
  }
  return json;
}

Json precision_json(const DeclaredPrecision& p) {
  return {
      {"format", p.format}, {"computed", p.computed}, {"nodes", p.nodes}, {"constants", p.constants}, {"ops", p.ops}};
}

std::string precision_line(const std::vector<DeclaredPrecision>& precisions) {
  std::string text;
  for (const DeclaredPrecision& p : precisions) {
    if (!text.empty()) text += "; ";
    if (p.computed)
      text += fmt::format("the graph prescribes {} at {} node{}", p.format, p.nodes, p.nodes == 1 ? "" : "s");
    else
      text += fmt::format("{} constant{} kept in {}", p.constants, p.constants == 1 ? " is" : "s are", p.format);
  }
  return text;
}

bool changes(const ProbeEffect& effect) {
  return std::any_of(effect.graphs.begin(), effect.graphs.end(), [](const MarkedOutput& o) { return o.changed; });
}

// Marks move some output: then it matters which graph a figure comes from.
bool changes(const LocateResult& result) {
  return std::any_of(result.probe_effect.begin(), result.probe_effect.end(),
                     [](const ProbeEffect& effect) { return changes(effect); });
}

}  // namespace

Json noise_floor_json(const Consistency& consistency, const std::string& output) {
  const NoiseFloor* floor = consistency.floor_of(output);
  if (floor == nullptr) return nullptr;
  Json json = figures_json(floor->shape_changed, floor->metrics);
  json["check"] = name(floor->source);
  return json;
}

Json to_json(const Consistency& consistency) {
  Json json = {{"checks", Json::array()},
               {"reference_precision", Json::array()},
               {"device_sessions", consistency.device_sessions},
               {"seconds", json_number(consistency.seconds)}};
  for (const NoiseCheck& check : consistency.checks) json["checks"].push_back(check_json(check));
  for (const DeclaredPrecision& p : consistency.reference_precision)
    json["reference_precision"].push_back(precision_json(p));
  return json;
}

std::string consistency_block(const Consistency& consistency, const Style& style) {
  const std::string indent(15, ' ');
  std::string equal;
  for (const NoiseCheck& check : consistency.checks)
    if (check.status == NoiseCheck::Status::kMeasured &&
        std::none_of(check.outputs.begin(), check.outputs.end(), [](const NoiseFigure& f) { return f.moves(); }))
      equal += (equal.empty() ? "" : ", ") + std::string(name(check.source));
  std::string out = bold(style, "Noise floor") + "    ";
  out += consistency.floors.empty() ? "no output moves by itself\n" : "what outputs move by themselves, at worst:\n";
  Table table({"output", "check", "max abs", "SQNR", "cosine", "differing"}, {false, false, true, true, true, true});
  size_t shown = 0;
  for (const NoiseFloor& floor : consistency.floors) {
    if (shown == kFloors && !style.verbose) break;
    ++shown;
    const PairMetrics& m = floor.metrics;
    if (floor.shape_changed)
      table.row({floor.output, std::string(name(floor.source)), "-", "-", "-", "shape"});
    else
      table.row({floor.output, std::string(name(floor.source)), number(m.max_abs, 3),
                 fmt::format("{:.1f} dB", m.sqnr_db), number(m.cosine, 4),
                 fmt::format("{} of {}", m.differing, m.count)});
  }
  if (!table.empty()) out += table.render(style, "  ");
  if (shown < consistency.floors.size()) out += fmt::format("  ... {} more\n", consistency.floors.size() - shown);
  if (!equal.empty()) out += wrap("equal to the bit: " + equal, indent, indent, style.width);
  for (const NoiseCheck& check : consistency.checks)
    if (check.status != NoiseCheck::Status::kMeasured)
      out += wrap(fmt::format("{}: {}: {}", name(check.source), name(check.status), check.reason), indent, indent,
                  style.width);
  if (!consistency.reference_precision.empty())
    out += wrap("below float32: " + precision_line(consistency.reference_precision), indent, indent, style.width);
  return out;
}

std::string graphs_block(const LocateResult& result, const Style& style) {
  std::string out;
  for (const ProbeEffect& effect : result.probe_effect) {
    if (!changes(effect) || effect.graphs.size() < 3) continue;
    std::string text = effect.output + ": largest";
    for (size_t i = 0; i < effect.graphs.size(); ++i)
      text += fmt::format("{} {} {}", i == 0 ? "" : ",", number(effect.graphs[i].max),
                          i == 0 ? "unmarked" : "with " + effect.graphs[i].graph);
    out += wrap(text, out.empty() ? bold(style, "Probe effect") + "   " : std::string(15, ' '), std::string(15, ' '),
                style.width);
  }
  std::set<std::string> graphs;
  for (const NodeRow& row : result.nodes)
    if (row.accumulated) graphs.insert(row.accumulated_graph);
  if (graphs.size() > 1 && changes(result))
    out += wrap(fmt::format("outputs: unmarked; accumulated: {} graphs with some tensors marked each; local: every "
                            "island by itself",
                            graphs.size()),
                bold(style, "Figures from") + "   ", std::string(15, ' '), style.width);
  return out;
}

}  // namespace paritas
