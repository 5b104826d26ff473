// paritas bench for other programs: JSON and CSV.
#include <fmt/format.h>

#include "paritas/compare/result_json.h"
#include "paritas/delivery/bench_history.h"
#include "paritas/report/bench_report.h"

namespace paritas {
namespace {

Json milliseconds(double seconds) { return json_number(1e3 * seconds); }

Json milliseconds(const std::optional<double>& seconds) { return seconds ? milliseconds(*seconds) : Json(nullptr); }

Json figures_json(const TimeFigures& figures) {
  return {{"runs", figures.runs},
          {"median_ms", milliseconds(figures.median)},
          {"p10_ms", milliseconds(figures.p10)},
          {"p90_ms", milliseconds(figures.p90)},
          {"p95_ms", milliseconds(figures.p95)},
          {"min_ms", milliseconds(figures.min)},
          {"max_ms", milliseconds(figures.max)}};
}

Json stage_json(const StageTimes& stage) {
  Json cycles = nullptr;
  if (stage.cycles)
    cycles = {{"accelerator", stage.cycles->accelerator},
              {"operations", stage.cycles->operations},
              {"runs", stage.cycles->runs}};
  return {{"name", stage.name},
          {"file", stage.file},
          {"target", stage.target},
          {"emulated", stage.emulated},
          {"edited", stage.edited},
          {"session_ms", milliseconds(stage.session)},
          {"provider_ms", milliseconds(stage.provider)},
          {"run", figures_json(stage.run)},
          {"placement",
           {{"requested", stage.placement.requested},
            {"on_requested", stage.placement.on_requested},
            {"total", stage.placement.total}}},
          {"options", Json(stage.options)},
          {"cycles", std::move(cycles)}};
}

Json conditions_json(const BenchConditions& c) {
  return {{"target", c.target},
          {"emulated", c.emulated},
          {"threads", c.threads},
          {"inter_threads", c.inter_threads},
          {"mode", c.mode},
          {"performance", c.performance},
          {"optimisation", c.optimisation},
          {"runtime", c.runtime},
          {"provider", c.provider},
          {"host", c.host},
          {"cpu", c.cpu},
          {"tool_version", c.tool_version},
          {"inputs_sha256", c.inputs_sha256}};
}

Json machine_json(const BenchSide& side) {
  const auto number = [](const std::optional<double>& value) { return value ? json_number(*value) : Json(nullptr); };
  return {{"seconds", json_number(side.use.seconds)},
          {"cores", side.use.cores},
          {"threads", side.use.threads},
          {"others_cores", number(side.use.others)},
          {"load_before", json_number(side.use.load_before)},
          {"load_after", json_number(side.use.load_after)},
          {"noise", name(side.noise.answer)},
          {"spread", json_number(side.noise.spread)},
          {"spread_limit", json_number(side.noise.spread_limit)},
          {"middle", json_number(side.noise.middle)},
          {"middle_limit", json_number(side.noise.middle_limit)},
          {"halves", json_number(side.noise.halves)},
          {"halves_limit", json_number(side.noise.halves_limit)},
          {"others_limit_cores", json_number(side.noise.others_limit)},
          {"reasons", side.noise.reasons}};
}

Json endurance_json(const std::optional<Endurance>& endurance) {
  if (!endurance) return nullptr;
  Json resident = Json::array();
  for (const auto& [seconds, bytes] : endurance->resident)
    resident.push_back({{"s", json_number(seconds)}, {"bytes", bytes}});
  return {{"seconds", json_number(endurance->seconds)},
          {"runs", endurance->runs},
          {"differing_runs", endurance->differing},
          {"first_differing_run", endurance->first_differing ? Json(*endurance->first_differing) : Json(nullptr)},
          {"resident", std::move(resident)},
          {"grown_bytes", endurance->grown},
          {"bytes_per_hour", json_number(endurance->bytes_per_hour)},
          {"first_tenth", figures_json(endurance->first_tenth)},
          {"last_tenth", figures_json(endurance->last_tenth)}};
}

Json rounds_json(const BenchSide& side) {
  Json rounds = Json::array();
  for (const auto& round : side.rounds) {
    Json runs = Json::array();
    for (const TimedRun& run : round) {
      Json stages = Json::array();
      for (double seconds : run.stages) stages.push_back(milliseconds(seconds));
      runs.push_back({{"chain_ms", milliseconds(run.chain)}, {"stages_ms", std::move(stages)}});
    }
    rounds.push_back(std::move(runs));
  }
  return rounds;
}

Json side_json(const BenchSide& side) {
  Json stages = Json::array();
  for (const StageTimes& stage : side.stages) stages.push_back(stage_json(stage));
  return {{"name", side.name},
          {"kind", side.kind},
          {"sha256", side.sha256},
          {"verdict", name(side.verdict)},
          {"reasons", side.reasons},
          {"conditions", conditions_json(side.conditions)},
          {"start_ms", milliseconds(side.start)},
          {"ready_ms", milliseconds(side.ready)},
          {"first_run_ms", milliseconds(side.first_run)},
          {"stages", std::move(stages)},
          {"chain", figures_json(side.chain)},
          {"hand_over", figures_json(side.hand_over)},
          {"peak_bytes", side.peak},
          {"peak_bytes_after_load", side.peak_after_load},
          {"machine", machine_json(side)},
          {"repeats", side.repeats},
          {"rounds", rounds_json(side)},
          {"endurance", endurance_json(side.endurance)},
          {"comparison", side.comparison ? to_json(*side.comparison) : Json(nullptr)},
          {"notes", side.notes}};
}

Json ratio_json(const BenchRatio& ratio) {
  return {{"of", ratio.of},
          {"to", ratio.to},
          {"value", ratio.value ? json_number(*ratio.value) : Json(nullptr)},
          {"lowest", ratio.value ? json_number(ratio.lowest) : Json(nullptr)},
          {"highest", ratio.value ? json_number(ratio.highest) : Json(nullptr)},
          {"refused", ratio.refused}};
}

std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

Json to_json(const BenchResult& result) {
  Json sides = Json::array(), earlier = Json::array(), findings = Json::array();
  for (const BenchSide& side : result.sides) sides.push_back(side_json(side));
  for (const BenchRatio& ratio : result.earlier) earlier.push_back(ratio_json(ratio));
  for (const Finding& finding : result.findings) findings.push_back(to_json(finding));
  return {{"schema", "paritas.bench/1"},
          {"verdict", name(result.verdict)},
          {"date", result.date},
          {"warm_up", result.warm_up},
          {"runs", result.runs},
          {"percentiles", "linear interpolation between order statistics, position share * (runs - 1)"},
          {"included", "from the first stage's run to the end of the last one's, hand-over included"},
          {"not_included", "decoding of pictures, preprocessing, start-up, making of sessions"},
          {"reference", result.reference},
          {"gates", result.gate_texts},
          {"sides", std::move(sides)},
          {"ratio", result.ratio ? ratio_json(*result.ratio) : Json(nullptr)},
          {"earlier", std::move(earlier)},
          {"history", result.history},
          {"findings", std::move(findings)},
          {"notes", result.notes},
          {"seconds", json_number(result.seconds)}};
}

std::string csv(const BenchResult& result) {
  std::string out = "subject,round,run,part,emulated,milliseconds\r\n";
  for (const BenchSide& side : result.sides) {
    uint64_t number = 0;
    for (size_t round = 0; round < side.rounds.size(); ++round)
      for (const TimedRun& run : side.rounds[round]) {
        ++number;
        const auto line = [&](const std::string& part, bool emulated, double seconds) {
          out += fmt::format("{},{},{},{},{},{:.6f}\r\n", field(side.name), round + 1, number, field(part),
                             emulated ? "yes" : "no", 1e3 * seconds);
        };
        for (size_t i = 0; i < run.stages.size(); ++i)
          line(side.stages[i].name, side.stages[i].emulated, run.stages[i]);
        line("chain", side.conditions.emulated, run.chain);
      }
  }
  return out;
}

}  // namespace paritas
