#include "paritas/delivery/bench_explain.h"

#include <gmock/gmock.h>

namespace paritas {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

BenchSide side(const std::string& name, double seconds, int rounds = 2) {
  BenchSide made;
  made.name = name;
  made.verdict = Verdict::kPass;
  made.reasons = {"y: max_abs 0 <= 0"};
  made.conditions = {"cpu", "1", "1", "sequential", "-", "all", "1.32.0", "", "Linux", "CPU", "0.1.0", "inputs", false};
  std::vector<double> all;
  for (int round = 0; round < rounds; ++round) {
    std::vector<TimedRun> runs(10);
    for (TimedRun& run : runs) {
      run.chain = seconds * (1 + 0.01 * round);
      run.stages = {run.chain};
      all.push_back(run.chain);
    }
    made.rounds.push_back(runs);
  }
  made.chain = time_figures(all);
  made.stages.resize(1);
  made.stages[0].name = "model";
  made.use.cores = 4;
  made.noise = judge_noise(all, made.use);
  return made;
}

BenchResult two(BenchSide a, BenchSide b) {
  BenchResult result;
  result.warm_up = 3;
  result.sides = {std::move(a), std::move(b)};
  result.ratio = ratio_of(result);
  explain_bench(result);
  return result;
}

std::vector<std::string> ids(const BenchResult& result) {
  std::vector<std::string> found;
  for (const Finding& finding : result.findings) found.push_back(finding.id);
  return found;
}

TEST(BenchRatio, IsThatOfTheMediansOfOneCall) {
  const BenchResult result = two(side("a", 0.010), side("b", 0.008));
  ASSERT_TRUE(result.ratio->value.has_value());
  EXPECT_NEAR(*result.ratio->value, 0.8, 1e-12);
  EXPECT_NEAR(result.ratio->lowest, 0.8, 1e-12);
  EXPECT_NEAR(result.ratio->highest, 0.8, 1e-12);
  EXPECT_EQ(result.ratio->of, "b");
  EXPECT_THAT(ids(result), Contains("timing-ratio"));
}

TEST(BenchRatio, TargetsAreWhatIsCompared) {
  BenchSide device = side("b", 0.008);
  device.conditions.target = "ort:X; cpu";
  device.conditions.threads = "1; 1";
  device.conditions.inter_threads = "1; 1";
  device.conditions.mode = "sequential; sequential";
  device.conditions.optimisation = "all; all";
  device.conditions.performance = "mode=burst; -";
  device.conditions.provider = "hash";
  EXPECT_TRUE(two(side("a", 0.010), device).ratio->value.has_value());
}

// Each by itself refuses the ratio.
TEST(BenchRatio, OtherConditionsRefuseIt) {
  const auto refused = [](auto change) {
    BenchSide other = side("b", 0.008);
    change(other);
    const BenchResult result = two(side("a", 0.010), other);
    EXPECT_FALSE(result.ratio->value.has_value());
    EXPECT_THAT(ids(result), Contains("timing-ratio-refused"));
    return result.ratio->refused.empty() ? std::string() : result.ratio->refused.front();
  };
  EXPECT_EQ(refused([](BenchSide& s) { s.conditions.threads = "8"; }), "threads: 1, then 8");
  EXPECT_THAT(refused([](BenchSide& s) { s.conditions.inter_threads = "2"; }), HasSubstr("inter-op"));
  EXPECT_THAT(refused([](BenchSide& s) { s.conditions.mode = "parallel"; }), HasSubstr("execution mode"));
  EXPECT_THAT(refused([](BenchSide& s) { s.conditions.optimisation = "none"; }), HasSubstr("optimisation"));
  EXPECT_THAT(refused([](BenchSide& s) { s.conditions.inputs_sha256 = "x"; }), HasSubstr("inputs"));
  EXPECT_EQ(refused([](BenchSide& s) { s.conditions.emulated = true; }), "b is host time of an emulation");
  EXPECT_EQ(refused([](BenchSide& s) { s.verdict = Verdict::kDeviates; }), "b timed wrong results (verdict deviates)");
  EXPECT_EQ(refused([](BenchSide& s) { s.noise.answer = Noise::Answer::kNoisy; }), "noise of b: noisy");
  EXPECT_EQ(refused([](BenchSide& s) { s.chain = time_figures({0.01}); }), "b is a single run");
}

TEST(BenchExplain, AQuietRightTimingHasNothingToSay) {
  BenchResult result;
  result.sides = {side("a", 0.01)};
  explain_bench(result);
  EXPECT_THAT(result.findings, IsEmpty());
}

TEST(BenchExplain, WrongNoisySingleAndEmulatedAreSaid) {
  BenchResult result;
  result.sides = {side("a", 0.01)};
  BenchSide& a = result.sides.front();
  a.verdict = Verdict::kDeviates;
  a.noise.answer = Noise::Answer::kNoisy;
  a.noise.reasons = {"others were busy"};
  a.stages[0].emulated = true;
  a.stages[0].cycles = CycleEstimate{123, 100, 3};
  explain_bench(result);
  EXPECT_THAT(ids(result), ::testing::ElementsAre("timing-of-wrong-results", "timing-too-noisy", "timing-emulated"));
  EXPECT_THAT(result.findings[2].text, HasSubstr("model: 123 cycles of the accelerator"));
  result.findings.clear();
  a = side("a", 0.01);
  a.verdict = Verdict::kNotJudged;
  a.chain = time_figures({0.01});
  explain_bench(result);
  EXPECT_THAT(ids(result), ::testing::ElementsAre("timing-not-judged", "timing-single-run"));
}

TEST(BenchExplain, EnduranceIsJudgedByWhatMoves) {
  BenchResult result;
  result.sides = {side("a", 0.01)};
  Endurance endurance;
  endurance.seconds = 60;
  endurance.runs = 200;
  endurance.time_assessed = true;
  endurance.first_tenth = time_figures(std::vector<double>(20, 0.0100));
  endurance.last_tenth = time_figures(std::vector<double>(20, 0.0103));
  endurance.resident = {{0, 100 << 20}, {60, 101 << 20}};
  endurance.grown = 1 << 20;
  result.sides[0].endurance = endurance;
  explain_bench(result);
  EXPECT_THAT(result.findings, IsEmpty());
  endurance.differing = 2;
  endurance.first_differing = 7;
  endurance.last_tenth = time_figures(std::vector<double>(20, 0.0120));
  endurance.resident.back().second = 120 << 20;
  endurance.grown = 20 << 20;
  result.sides[0].endurance = endurance;
  explain_bench(result);
  EXPECT_THAT(ids(result),
              ::testing::ElementsAre("endurance-results-move", "endurance-memory-grows", "endurance-time-drifts"));
}

TEST(BenchEarlier, ARatioToAnEarlierRoundNeedsTheSameConditions) {
  BenchResult result;
  result.warm_up = 3;
  const HistoryLine before = history_line(result, side("a", 0.010));
  HistoryLine now = history_line(result, side("a", 0.012));
  EXPECT_NEAR(*ratio_to_earlier(before, now).value, 1.2, 1e-12);
  now.conditions.threads = "4";
  EXPECT_FALSE(ratio_to_earlier(before, now).value.has_value());
  EXPECT_EQ(ratio_to_earlier(before, now).refused.front(), "threads: 1, then 4");
}

}  // namespace
}  // namespace paritas
