#include "paritas/delivery/bench_explain.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <fmt/format.h>

#include "paritas/judge/catalogue_bench.h"

namespace paritas {
namespace {

constexpr double kMiB = 1024.0 * 1024.0;
// What two medians of a quiet machine may differ by (bench_statistics.cc).
constexpr double kTimeDrift = 0.05;
// An allocator that settles moves by a few pages; a leak of one output a run is far more.
constexpr double kGrowthShare = 0.02;
constexpr int64_t kGrowthBytes = 4 << 20;

catalogue::TimingFacts facts_of(const BenchSide& side) {
  catalogue::TimingFacts facts;
  facts.name = side.name;
  facts.verdict = name(side.verdict);
  facts.reason = side.reasons.empty() ? "" : side.reasons.front();
  facts.median_ms = side.chain.median ? 1e3 * *side.chain.median : std::numeric_limits<double>::quiet_NaN();
  facts.runs = side.chain.runs;
  facts.noise = side.noise.reasons;
  return facts;
}

void explain_emulation(const BenchSide& side, std::vector<Finding>& findings) {
  catalogue::EmulationFacts facts;
  facts.name = side.name;
  for (const StageTimes& stage : side.stages) {
    if (!stage.emulated) continue;
    facts.stages.push_back(stage.name);
    if (stage.cycles && stage.cycles->accelerator > 0)
      facts.cycles.push_back(
          fmt::format("{}: {} cycles of the accelerator a run", stage.name, stage.cycles->accelerator));
    else if (stage.cycles && stage.cycles->operations > 0)
      facts.cycles.push_back(
          fmt::format("{}: {} cycles of its operations a run", stage.name, stage.cycles->operations));
  }
  if (!facts.stages.empty()) findings.push_back(catalogue::timing_emulated(facts));
}

void explain_endurance(const BenchSide& side, std::vector<Finding>& findings) {
  if (!side.endurance) return;
  const Endurance& endurance = *side.endurance;
  catalogue::EnduranceFacts facts;
  facts.name = side.name;
  facts.seconds = endurance.seconds;
  facts.runs = endurance.runs;
  facts.differing = endurance.differing;
  facts.first_differing = endurance.first_differing.value_or(0);
  facts.grown_mib = static_cast<double>(endurance.grown) / kMiB;
  facts.mib_per_hour = endurance.bytes_per_hour / kMiB;
  if (endurance.differing > 0) findings.push_back(catalogue::endurance_results_move(facts));
  const double resident = endurance.resident.empty() ? 0 : static_cast<double>(endurance.resident.back().second);
  if (endurance.grown > kGrowthBytes && static_cast<double>(endurance.grown) > kGrowthShare * resident)
    findings.push_back(catalogue::endurance_memory_grows(facts));
  if (!endurance.time_assessed) return;
  facts.first_ms = 1e3 * *endurance.first_tenth.median;
  facts.last_ms = 1e3 * *endurance.last_tenth.median;
  if (std::abs(facts.last_ms - facts.first_ms) > kTimeDrift * facts.first_ms)
    findings.push_back(catalogue::endurance_time_drifts(facts));
}

std::vector<double> chain_seconds(const std::vector<TimedRun>& runs) {
  std::vector<double> seconds;
  for (const TimedRun& run : runs) seconds.push_back(run.chain);
  return seconds;
}

void add_ratio(const BenchRatio& ratio, uint64_t rounds, std::vector<Finding>& findings) {
  catalogue::RatioFacts facts{ratio.of, ratio.to,     ratio.value.value_or(0), ratio.lowest, ratio.highest,
                              rounds,   ratio.refused};
  findings.push_back(ratio.value ? catalogue::timing_ratio(facts) : catalogue::timing_ratio_refused(facts));
}

// Threads and modes of all stages, each once and in order: a package of two parts may be set against a model of one.
std::string kinds_of(const std::string& joined) {
  std::vector<std::string> words;
  for (size_t at = 0; at <= joined.size();) {
    const size_t end = std::min(joined.find("; ", at), joined.size());
    words.push_back(joined.substr(at, end - at));
    at = end + 2;
  }
  std::erase(words, "-");
  // One value of all stages is one value, however many there are; else each stage has its own.
  if (std::adjacent_find(words.begin(), words.end(), std::not_equal_to<>()) == words.end() && !words.empty())
    words.resize(1);
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : "; ") + word;
  return text;
}

}  // namespace

BenchRatio ratio_of(const BenchResult& result) {
  const BenchSide& first = result.sides[0];
  const BenchSide& second = result.sides[1];
  BenchRatio ratio;
  ratio.of = second.name;
  ratio.to = first.name;
  if (ratio.of == ratio.to) {
    ratio.of += " (second)";
    ratio.to += " (first)";
  }
  HistoryLine before = history_line(result, first), now = history_line(result, second);
  // What is set against each other may run on different targets; how it is run must be the same.
  for (HistoryLine* line : {&before, &now}) {
    BenchConditions& conditions = line->conditions;
    conditions.target.clear();
    conditions.provider.clear();
    conditions.inputs_sha256.clear();
    for (std::string* field : {&conditions.threads, &conditions.inter_threads, &conditions.mode,
                               &conditions.performance, &conditions.optimisation})
      *field = kinds_of(*field);
    line->others.reset();  // the rounds alternate: the load is that of both
  }
  // A mode that only one of them has is part of its target.
  if (before.conditions.performance.empty() || now.conditions.performance.empty())
    before.conditions.performance = now.conditions.performance = "";
  for (std::string& reason : differences(before, now)) {
    for (const auto& [role, line] : {std::pair("the earlier round", &before), std::pair("this round", &now)})
      if (const size_t at = reason.find(role); at != std::string::npos)
        reason.replace(at, std::string_view(role).size(), line == &before ? ratio.to : ratio.of);
    ratio.refused.push_back(std::move(reason));
  }
  if (first.conditions.inputs_sha256 != second.conditions.inputs_sha256)
    ratio.refused.push_back("the inputs are not the same");
  if (!ratio.refused.empty()) return ratio;
  ratio.value = *second.chain.median / *first.chain.median;
  ratio.lowest = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < std::min(first.rounds.size(), second.rounds.size()); ++i) {
    const auto median = [](const std::vector<TimedRun>& runs) {
      std::vector<double> seconds = chain_seconds(runs);
      std::sort(seconds.begin(), seconds.end());
      return percentile(seconds, 0.5);
    };
    const double value = median(second.rounds[i]) / median(first.rounds[i]);
    ratio.lowest = std::min(ratio.lowest, value);
    ratio.highest = std::max(ratio.highest, value);
  }
  return ratio;
}

BenchRatio ratio_to_earlier(const HistoryLine& before, const HistoryLine& now) {
  BenchRatio ratio;
  ratio.of = fmt::format("{} now", now.name);
  ratio.to = fmt::format("the round of {}", before.date);
  ratio.refused = differences(before, now);
  if (!before.median || !(*before.median > 0) || !std::isfinite(*before.median) || !now.median || !(*now.median > 0))
    ratio.refused.push_back("one of the two has no median");
  if (!ratio.refused.empty()) return ratio;
  ratio.value = *now.median / *before.median;
  ratio.lowest = ratio.highest = *ratio.value;
  return ratio;
}

void explain_bench(BenchResult& result) {
  for (const BenchSide& side : result.sides) {
    const auto facts = facts_of(side);
    if (side.verdict == Verdict::kDeviates || side.verdict == Verdict::kInvalid)
      result.findings.push_back(catalogue::timing_of_wrong_results(facts));
    else if (side.verdict == Verdict::kNotJudged)
      result.findings.push_back(catalogue::timing_not_judged(facts));
    if (side.chain.runs == 1)
      result.findings.push_back(catalogue::timing_single_run(facts));
    else if (side.noise.answer == Noise::Answer::kNoisy)
      result.findings.push_back(catalogue::timing_too_noisy(facts));
    explain_emulation(side, result.findings);
    explain_endurance(side, result.findings);
  }
  if (result.ratio) add_ratio(*result.ratio, result.sides.front().rounds.size(), result.findings);
  for (const BenchRatio& ratio : result.earlier)
    if (!ratio.value) add_ratio(ratio, 1, result.findings);
}

}  // namespace paritas
