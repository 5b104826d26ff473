// paritas bench on the terminal.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paritas/delivery/bench_history.h"
#include "paritas/report/bench_report.h"
#include "paritas/report/finding_text.h"
#include "paritas/report/reports.h"

namespace paritas {
namespace {

std::string ms(double seconds) { return fmt::format("{:.3f}", 1e3 * seconds); }
std::string ms(const std::optional<double>& seconds) { return seconds ? ms(*seconds) : "-"; }
std::string mib(uint64_t bytes) { return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1024.0 * 1024.0)); }

void row(Table& table, const std::string& name, const TimeFigures& figures) {
  table.row(
      {name, ms(figures.median), ms(figures.p10), ms(figures.p90), ms(figures.p95), ms(figures.min), ms(figures.max)});
}

// Host time of an emulation must not be read as a device's latency, not even in a single row.
std::string label(const std::string& name, bool emulated) {
  return emulated ? name + " (host time of emulation)" : name;
}

std::string times_table(const BenchSide& side, const Style& style) {
  Table table({"milliseconds", "median", "p10", "p90", "p95", "min", "max"},
              {false, true, true, true, true, true, true});
  for (const StageTimes& stage : side.stages) row(table, label(stage.name, stage.emulated), stage.run);
  if (side.stages.size() > 1) {
    row(table, "hand-over", side.hand_over);
    row(table, label("whole chain", side.conditions.emulated), side.chain);
  }
  return table.render(style);
}

std::string start_line(const BenchSide& side) {
  std::vector<std::string> parts = {fmt::format("process and ONNX Runtime {} ms", ms(side.start))};
  for (const StageTimes& stage : side.stages) {
    if (stage.provider > 0) parts.push_back(fmt::format("provider's library {} ms", ms(stage.provider)));
    parts.push_back(fmt::format("session of \"{}\" {} ms", stage.name, ms(stage.session)));
  }
  std::string text = fmt::format("Start-up   {}; ready after {} ms", fmt::join(parts, ", "), ms(side.ready));
  if (side.first_run > 0) text += fmt::format("; first run {} ms", ms(side.first_run));
  return text;
}

std::string conditions_line(const BenchSide& side) {
  const BenchConditions& c = side.conditions;
  std::string text = fmt::format("Conditions threads {}, inter-op {}, {}, optimisation {}", c.threads, c.inter_threads,
                                 c.mode, c.optimisation);
  if (c.performance.find('=') != std::string::npos) text += ", " + c.performance;
  return text + fmt::format("; ONNX Runtime {}", c.runtime.substr(0, c.runtime.find(' ')));
}

std::string machine_line(const BenchSide& side) {
  const MachineUse& use = side.use;
  std::string text = "Machine    ";
  text += use.others ? fmt::format("other processes kept {:.2f} of {} cores busy", *use.others, use.cores)
                     : "too short to tell what other processes did";
  text += fmt::format("; load average {:.2f} before, {:.2f} after", use.load_before, use.load_after);
  switch (side.noise.answer) {
    case Noise::Answer::kQuiet:
      return text + fmt::format("; quiet (spread {:.1f} %, halves {:.1f} %)", 100 * side.noise.spread,
                                100 * side.noise.halves);
    case Noise::Answer::kNoisy:
      return text + "; TOO NOISY TO TELL";
    case Noise::Answer::kTooFewRuns:
      break;
  }
  return text + fmt::format("; too few runs to tell noise (fewer than {})", kLeastRunsForNoise);
}

std::string endurance_block(const Endurance& endurance) {
  std::string text =
      fmt::format("Endurance  {} runs in {:.0f} s: {} differ from the first one's bits\n",
                  with_thousands(endurance.runs), endurance.seconds, with_thousands(endurance.differing));
  if (!endurance.resident.empty())
    text += fmt::format("           memory {} at the end, {:+.2f} MiB since the first tenth ({:+.1f} MiB an hour)\n",
                        mib(endurance.resident.back().second), static_cast<double>(endurance.grown) / (1024.0 * 1024.0),
                        endurance.bytes_per_hour / (1024.0 * 1024.0));
  if (endurance.time_assessed)
    text += fmt::format("           median {} ms in the first tenth, {} ms in the last\n",
                        ms(endurance.first_tenth.median), ms(endurance.last_tenth.median));
  else
    text += "           too few runs to tell whether time drifts\n";
  return text;
}

std::string cycles_lines(const BenchSide& side) {
  std::string text;
  for (const StageTimes& stage : side.stages)
    if (stage.cycles)
      text += fmt::format(
          "Cycles     \"{}\": {} of the accelerator, {} of its operations a run (the provider's own count{})\n",
          stage.name, with_thousands(stage.cycles->accelerator), with_thousands(stage.cycles->operations),
          stage.emulated ? ", which follows the load of the emulating host" : "");
  return text;
}

std::string side_block(const BenchSide& side, const BenchResult& result, const Style& style) {
  std::string out =
      bold(style, fmt::format("Time of {}", side.name)) +
      fmt::format(" ({} run{} after {} of warm-up{})\n", side.chain.runs, side.chain.runs == 1 ? "" : "s",
                  result.warm_up, side.rounds.size() > 1 ? fmt::format(", {} rounds", side.rounds.size()) : "");
  for (const StageTimes& stage : side.stages)
    out += fmt::format("  {}: {} on {}\n", stage.name, stage.file, stage.target);
  out += "\n" + times_table(side, style);
  if (side.stages.size() > 1) out += dim(style, "medians of the stages need not add up to that of the chain\n");
  out += "\n" + cycles_lines(side) + start_line(side) + "\n";
  out += fmt::format("Memory     peak {} resident, {} when the sessions were open\n", mib(side.peak),
                     mib(side.peak_after_load));
  out += conditions_line(side) + "\n" + machine_line(side) + "\n";
  if (side.endurance) out += endurance_block(*side.endurance);
  out += "Results    " + banner(style, side.verdict);
  if (!side.reasons.empty()) out += "   " + side.reasons.front();
  out += "\n";
  for (size_t i = 1; i < side.reasons.size() && (i < 4 || style.verbose); ++i)
    out += "           " + side.reasons[i] + "\n";
  if (style.verbose && side.comparison) out += comparison_table(*side.comparison, style);
  for (const std::string& note : side.notes) out += wrap("note: " + note, "", "      ", style.width);
  return out + "\n";
}

std::string earlier_line(const BenchRatio& ratio) {
  return ratio.value
             ? fmt::format("Earlier    {:.3f} times the median of {} (another round: what neither recorded may differ)",
                           *ratio.value, ratio.to)
             : fmt::format("Earlier    no ratio to {}: {}", ratio.to, fmt::join(ratio.refused, "; "));
}

}  // namespace

std::string terminal(const BenchResult& result, const Style& style) {
  std::string out;
  for (const BenchSide& side : result.sides) out += side_block(side, result, style);
  out += wrap("Hand-over between stages is included; decoding of pictures, preprocessing and start-up are not.", "", "",
              style.width);
  for (const BenchRatio& ratio : result.earlier) out += wrap(earlier_line(ratio), "", "           ", style.width);
  out += "\n";
  for (const Finding& finding : result.findings) out += finding_block(finding, style);
  for (const std::string& note : result.notes) out += dim(style, "note: " + note) + "\n";
  return out;
}

}  // namespace paritas
