#include "paritas/delivery/bench_statistics.h"

#include <cmath>

#include <gmock/gmock.h>

#include "paritas/delivery/bench_machine.h"

namespace paritas {
namespace {

using ::testing::HasSubstr;

MachineUse quiet() {
  MachineUse use;
  use.seconds = 1;
  use.cores = 4;
  use.others = 0.1;
  return use;
}

TEST(BenchStatistics, PercentilesInterpolateBetweenNeighbours) {
  // Closed form: of 0..20 the percentile p is 20 p.
  std::vector<double> values;
  for (int i = 20; i >= 0; --i) values.push_back(i);
  const TimeFigures figures = time_figures(values);
  EXPECT_EQ(figures.runs, 21u);
  EXPECT_DOUBLE_EQ(*figures.median, 10);
  EXPECT_DOUBLE_EQ(*figures.p10, 2);
  EXPECT_DOUBLE_EQ(*figures.p90, 18);
  EXPECT_DOUBLE_EQ(*figures.p95, 19);
  EXPECT_EQ(figures.min, 0);
  EXPECT_EQ(figures.max, 20);
  EXPECT_DOUBLE_EQ(*time_figures({1, 2}).p90, 1.9);
  EXPECT_DOUBLE_EQ(*time_figures({3, 3, 3}).p95, 3);
}

TEST(BenchStatistics, OneRunIsAnObservation) {
  const TimeFigures figures = time_figures({0.5});
  EXPECT_EQ(figures.min, 0.5);
  EXPECT_EQ(figures.max, 0.5);
  EXPECT_FALSE(figures.median || figures.p10 || figures.p90 || figures.p95);
}

TEST(BenchNoise, EvenRunsOnAnIdleMachineAreQuiet) {
  const std::vector<double> runs(20, 0.01);
  const Noise noise = judge_noise(runs, quiet());
  EXPECT_EQ(noise.answer, Noise::Answer::kQuiet);
  EXPECT_TRUE(noise.reasons.empty());
  EXPECT_EQ(noise.spread, 0);
  EXPECT_NEAR(noise.spread_limit, 0.1 * std::sqrt(20.0) / (3 * 0.69), 1e-12);  // 21.6 %
}

TEST(BenchNoise, ADriftBetweenTheHalvesIsNoise) {
  std::vector<double> runs(20, 0.0100);
  for (size_t i = 10; i < 20; ++i) runs[i] = 0.0106;
  const Noise noise = judge_noise(runs, quiet());
  EXPECT_EQ(noise.answer, Noise::Answer::kNoisy);
  ASSERT_EQ(noise.reasons.size(), 1u);
  EXPECT_THAT(noise.reasons[0], HasSubstr("earlier and the later half differ by 5.8 %"));
  for (size_t i = 10; i < 20; ++i) runs[i] = 0.0104;
  EXPECT_EQ(judge_noise(runs, quiet()).answer, Noise::Answer::kQuiet);
}

TEST(BenchNoise, WideSpreadIsNoiseAndMoreRunsMakeUpForSome) {
  // Alternating, so that both halves have the same median.
  auto alternating = [](size_t count, double by) {
    std::vector<double> runs;
    for (size_t i = 0; i < count; ++i) runs.push_back(i % 2 == 0 ? 1 : 1 + by);
    return runs;
  };
  EXPECT_EQ(judge_noise(alternating(20, 0.30), quiet()).answer, Noise::Answer::kNoisy);
  EXPECT_EQ(judge_noise(alternating(20, 0.09), quiet()).answer, Noise::Answer::kQuiet);
  EXPECT_EQ(judge_noise(alternating(8, 0.16), quiet()).answer, Noise::Answer::kNoisy);
  EXPECT_EQ(judge_noise(alternating(400, 0.30), quiet()).answer, Noise::Answer::kNoisy);  // never beyond 25 %
}

// Two modes 12 % apart, equally likely: the median may fall into either, however many runs there are.
TEST(BenchNoise, AMedianBetweenTwoModesIsNoise) {
  std::vector<double> runs;
  for (int i = 0; i < 100; ++i) runs.push_back(i % 2 == 0 ? 1 : 1.12);
  const Noise noise = judge_noise(runs, quiet());
  EXPECT_EQ(noise.answer, Noise::Answer::kNoisy);
  ASSERT_EQ(noise.reasons.size(), 1u);
  EXPECT_THAT(noise.reasons[0], HasSubstr("the median is known to 11.3 % only"));
  for (size_t i = 0; i < runs.size(); ++i) runs[i] = i % 10 == 0 ? 1.12 : 1;  // nearly always in one
  EXPECT_EQ(judge_noise(runs, quiet()).answer, Noise::Answer::kQuiet);
}

TEST(BenchNoise, BusyNeighboursAreNoise) {
  const std::vector<double> runs(20, 0.01);
  MachineUse use = quiet();
  use.others = 1.6;
  const Noise noise = judge_noise(runs, use);
  EXPECT_EQ(noise.answer, Noise::Answer::kNoisy);
  EXPECT_THAT(noise.reasons.at(0), HasSubstr("1.60 of 4 cores busy, more than 1.50"));
  use.others = std::nullopt;
  EXPECT_EQ(judge_noise(runs, use).answer, Noise::Answer::kQuiet);
  EXPECT_DOUBLE_EQ(others_limit(4, 4), 0.4);
  EXPECT_DOUBLE_EQ(others_limit(16, 8), 4);
  EXPECT_DOUBLE_EQ(others_limit(2, 8), 0.2);
}

TEST(BenchNoise, AFewRunsTellNothing) {
  EXPECT_EQ(judge_noise(std::vector<double>(7, 0.01), quiet()).answer, Noise::Answer::kTooFewRuns);
  EXPECT_EQ(judge_noise(std::vector<double>(20, 0.0), quiet()).answer, Noise::Answer::kNoisy);  // 0 / 0
}

TEST(BenchMachine, BusyTimeLeavesOutIdleAndWaiting) {
  auto times = parse_cpu_times("cpu  100 20 30 4000 500 6 7 8 9 10\ncpu0 1 2 3\ncpu1 1 2 3\nintr 5\n", 100);
  ASSERT_TRUE(times.has_value()) << times.error().message();
  EXPECT_DOUBLE_EQ(times->busy, 1.71);
  EXPECT_EQ(times->cores, 2);
  EXPECT_FALSE(parse_cpu_times("cpu 1 2 3\ncpu0 1\n", 100).has_value());
  EXPECT_FALSE(parse_cpu_times("", 100).has_value());
}

TEST(BenchMachine, OthersAreWhatIsBusyWithoutUs) {
  MachineSnapshot before, after;
  before.at = 10;
  before.times = CpuTimes{100, 2};
  before.own_seconds = 1;
  after = before;
  after.at = 12;
  after.times = CpuTimes{103.5, 2};
  after.own_seconds = 1.5;
  EXPECT_DOUBLE_EQ(*busy_others(before, after, 2), 0.5);
  EXPECT_DOUBLE_EQ(*busy_others(before, after, 5), 0);  // ticks round: never below nothing
  after.at = 10.1;
  EXPECT_FALSE(busy_others(before, after, 0).has_value());
  after.at = 12;
  after.times.reset();
  EXPECT_FALSE(busy_others(before, after, 0).has_value());
}

TEST(BenchMachine, TheProcessorHasAName) {
  EXPECT_EQ(parse_cpu_model("processor\t: 0\nmodel name\t: Some CPU @ 2.2GHz\nmodel name\t: Other\n"),
            "Some CPU @ 2.2GHz");
  EXPECT_EQ(parse_cpu_model("nothing\n"), "");
  const MachineSnapshot snapshot = machine_snapshot();
  EXPECT_GT(snapshot.at, 0);
}

}  // namespace
}  // namespace paritas
