#include "paritas/judge/catalogue_bench.h"

#include <cmath>

#include <gmock/gmock.h>

namespace paritas::catalogue {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

void expect_whole(const Finding& f, const std::string& id, Severity severity = Severity::kNote) {
  EXPECT_EQ(f.id, id);
  EXPECT_EQ(f.severity, severity);
  for (const std::string* part : {&f.text, &f.shows, &f.does_not_show, &f.next}) EXPECT_FALSE(part->empty()) << id;
  EXPECT_FALSE(f.evidence.empty());
}

TimingFacts facts() {
  TimingFacts made;
  made.name = "detr.onnx";
  made.verdict = "deviates";
  made.reason = "scores: cosine 0.86 < 0.99";
  made.median_ms = 12.5;
  made.runs = 20;
  made.noise = {"the runs spread", "others were busy"};
  return made;
}

TEST(CatalogueBench, WrongResultsMakeATimingWorthless) {
  const Finding f = timing_of_wrong_results(facts());
  expect_whole(f, "timing-of-wrong-results", Severity::kFault);
  EXPECT_THAT(f.text, AllOf(HasSubstr("\"deviates\""), HasSubstr("cosine 0.86 < 0.99")));
}

TEST(CatalogueBench, Noise) {
  const Finding f = timing_too_noisy(facts());
  expect_whole(f, "timing-too-noisy");
  EXPECT_THAT(f.text, HasSubstr("too noisy to tell how long detr.onnx takes: the runs spread; others were busy."));
  EXPECT_THAT(f.shows, HasSubstr("10 %"));
}

TEST(CatalogueBench, SingleRun) {
  const Finding f = timing_single_run(facts());
  expect_whole(f, "timing-single-run");
  EXPECT_THAT(f.does_not_show, HasSubstr("no speed-up"));
}

TEST(CatalogueBench, NotJudged) {
  const Finding f = timing_not_judged(facts());
  expect_whole(f, "timing-not-judged");
  EXPECT_THAT(f.does_not_show, HasSubstr("right"));
}

TEST(CatalogueBench, EmulationIsNoDevice) {
  EmulationFacts emulation{"detr.onnx", {"encoder"}, {"encoder: 1,234 cycles"}};
  Finding f = timing_emulated(emulation);
  expect_whole(f, "timing-emulated");
  EXPECT_THAT(f.text, AllOf(HasSubstr("not of a device"), HasSubstr("own count: encoder: 1,234 cycles")));
  emulation.cycles.clear();
  f = timing_emulated(emulation);
  EXPECT_THAT(f.text, Not(HasSubstr("own count")));
  EXPECT_THAT(f.does_not_show, HasSubstr("latency of a device"));
}

TEST(CatalogueBench, Endurance) {
  EnduranceFacts endurance;
  endurance.name = "detr.onnx";
  endurance.seconds = 60;
  endurance.runs = 1000;
  endurance.differing = 3;
  endurance.first_differing = 17;
  endurance.grown_mib = 12.25;
  endurance.mib_per_hour = 735;
  endurance.first_ms = 10;
  endurance.last_ms = 12;
  Finding f = endurance_results_move(endurance);
  expect_whole(f, "endurance-results-move");
  EXPECT_THAT(f.text, AllOf(HasSubstr("3 of 1000 runs"), HasSubstr("run 17")));
  f = endurance_memory_grows(endurance);
  expect_whole(f, "endurance-memory-grows");
  EXPECT_THAT(f.text, AllOf(HasSubstr("+12.2 MiB"), HasSubstr("+735.0 MiB an hour")));
  EXPECT_THAT(f.does_not_show, HasSubstr("leak"));
  f = endurance_time_drifts(endurance);
  expect_whole(f, "endurance-time-drifts");
  EXPECT_THAT(f.text, AllOf(HasSubstr("10.000 ms"), HasSubstr("12.000 ms")));
}

TEST(CatalogueBench, Ratio) {
  RatioFacts ratio{"b.onnx", "a.onnx", 0.8, 0.75, 0.85, 5, {}};
  Finding f = timing_ratio(ratio);
  expect_whole(f, "timing-ratio");
  EXPECT_THAT(f.text, AllOf(HasSubstr("b.onnx takes 0.800 times as long as a.onnx"),
                            HasSubstr("0.750 to 0.850 over 5 rounds"), Not(HasSubstr("do not agree"))));
  ratio.highest = 1.1;
  f = timing_ratio(ratio);
  EXPECT_THAT(f.text, HasSubstr("do not agree"));
  EXPECT_THAT(f.shows, HasSubstr("no difference"));
  ratio.refused = {"threads: 1, then 8"};
  f = timing_ratio_refused(ratio);
  expect_whole(f, "timing-ratio-refused");
  EXPECT_THAT(f.text, HasSubstr("threads: 1, then 8"));
}

}  // namespace
}  // namespace paritas::catalogue
