#include <fmt/format.h>

#include "paritas/compare/result_json.h"
#include "paritas/report/locate_json.h"
#include "paritas/report/reports.h"

namespace paritas {
namespace {

Json experiment_json(const InjectionExperiment& experiment) {
  Json json = {{"injected", Json::array()},
               {"verdict", name(experiment.verdict)},
               {"equal", experiment.equal},
               {"outputs", Json::array()},
               {"decisions", Json::array()}};
  for (const InjectedTensor& t : experiment.injected)
    json["injected"].push_back({{"tensor", t.tensor},
                                {"node", t.node},
                                {"mode", t.mode},
                                {"nmse", json_number(t.nmse)},
                                {"max_abs", json_number(t.max_abs)},
                                {"nonfinite", t.nonfinite}});
  for (const OutputRow& row : experiment.outputs) json["outputs"].push_back(to_json(row));
  for (const DecisionReport& decision : experiment.decisions) json["decisions"].push_back(to_json(decision));
  return json;
}

std::string moved_text(const InjectionExperiment& experiment, bool fed) {
  if (fed) return "fed";
  size_t changed = 0;
  for (const DecisionReport& decision : experiment.decisions) changed += decision.changed();
  return fmt::format("{} of {}", changed, experiment.decisions.size());
}

std::string size_text(const InjectionExperiment& experiment) {
  double largest = 0;
  for (const InjectedTensor& t : experiment.injected) {
    if (t.nonfinite > 0) return "nan/inf";
    largest = std::max(largest, t.nmse);
  }
  return scientific(largest);
}

// "scores 0.9620 -> 0.1002 (cosine 0.5249)" for each float output.
std::string outcome_text(const InjectionExperiment& experiment) {
  if (experiment.equal) return "equal to the bit";
  std::string out;
  for (const OutputRow& row : experiment.outputs) {
    if (!row.pair.metrics || row.class_ids() || row.pair.metrics->differing == 0) continue;
    const PairMetrics& m = *row.pair.metrics;
    out += (out.empty() ? "" : "; ") + fmt::format("{}: cosine {}, max {} -> {}", row.pair.name, number(m.cosine, 4),
                                                   number(m.reference_max), number(m.device_max));
  }
  return out.empty() ? "only integers differ" : out;
}

}  // namespace

Json to_json(const InjectResult& result) {
  Json json = {{"schema", "paritas.inject/1"},
               {"model", result.model},
               {"reference", result.reference},
               {"device", result.device.empty() ? Json(nullptr) : Json(result.device)},
               {"gates", result.gate_texts},
               {"gates_sha256", result.gates_sha256},
               {"fed_decisions", result.fed_decisions},
               {"observed", Json::array()},
               {"experiments", Json::array()},
               {"findings", Json::array()},
               {"notes", result.notes},
               {"seconds", result.seconds},
               {"provenance", {{"reference", to_json(result.reference_info)}}}};
  for (const OutputRow& row : result.observed) json["observed"].push_back(to_json(row));
  for (const InjectionExperiment& e : result.experiments) json["experiments"].push_back(experiment_json(e));
  for (const Finding& f : result.findings) json["findings"].push_back(to_json(f));
  return json;
}

std::string terminal(const InjectResult& result, const Style& style) {
  Table table({"injected at", "how", "error NMSE", "decisions moved", "gates", "outputs"},
              {false, false, true, true, false, false});
  for (const InjectionExperiment& e : result.experiments) {
    const std::string where = e.injected.size() == 1
                                  ? e.injected.front().tensor
                                  : fmt::format("{} and {} more", e.injected.front().tensor, e.injected.size() - 1);
    const bool broken = e.verdict == Verdict::kDeviates || e.verdict == Verdict::kInvalid;
    const bool gated = std::any_of(e.outputs.begin(), e.outputs.end(), [](const auto& row) { return row.pair.gated; });
    table.row({where, e.injected.front().mode, size_text(e), moved_text(e, result.fed_decisions),
               broken  ? "broken"
               : gated ? "hold"
                       : "none",
               outcome_text(e)});
  }
  std::string out = bold(style, "Injected into the reference") + fmt::format(" ({})\n", result.reference);
  out += table.render(style) + "\n";
  for (size_t i = 0; i < result.findings.size() && (i < 5 || style.verbose); ++i) {
    const Finding& f = result.findings[i];
    const std::string pad(26, ' ');
    out += wrap(f.text, bold(style, "Note   ") + "   ", std::string(10, ' '), style.width);
    out += wrap(f.shows, "          shows           ", pad, style.width);
    out += wrap(f.does_not_show, "          does not show   ", pad, style.width);
  }
  if (result.findings.size() > 5 && !style.verbose)
    out += dim(style, fmt::format("... {} more experiments (--verbose)\n", result.findings.size() - 5));
  for (const std::string& note : result.notes) out += dim(style, "note: " + note) + "\n";
  return out;
}

}  // namespace paritas
