#include "paritas/locate/consistency_judge.h"

#include <cmath>

#include <gtest/gtest.h>

#include "paritas/locate/consistency.h"

namespace paritas {
namespace {

// Figures of reference {3, 4} (norm 5) and one element off by `d`: all follow in closed form.
PairMetrics off_by(double d) {
  PairMetrics m;
  m.count = m.finite = 2;
  m.differing = d != 0;
  m.max_abs = d;
  m.mse = d * d / 2;
  m.nmse = d * d / 25;
  m.sqnr_db = d == 0 ? INFINITY : -10 * std::log10(m.nmse);
  m.reference_norm = 5;
  m.error_norm = d;
  return m;
}

OutputRow row(double d, Verdict verdict) {
  OutputRow r;
  r.pair.name = "y";
  r.pair.reference = SideInfo{DType::kF32, {2}};
  r.pair.device = SideInfo{DType::kF32, {2}};
  r.pair.metrics = off_by(d);
  r.pair.verdict = verdict;
  r.pair.rule = "as before";
  return r;
}

Consistency noise(double d, NoiseSource source = NoiseSource::kReferenceOptimisation, double repeats = 0) {
  Consistency c;
  NoiseCheck quiet;
  quiet.outputs.push_back({"y", false, off_by(repeats)});
  NoiseCheck check;
  check.source = source;
  check.outputs.push_back({"y", false, off_by(d)});
  c.checks = {quiet, check};
  c.floors = noise_floors(c.checks);
  return c;
}

GateSet gates(const std::vector<std::string>& texts) {
  GateSet set;
  for (const auto& text : texts) set.gates.push_back(*parse_gate(text));
  return set;
}

Verdict judged(const Consistency& consistency, const GateSet& set, double device, Verdict before,
               std::string* rule = nullptr) {
  std::vector<OutputRow> rows = {row(device, before)};
  const auto undecided = judge_noise(consistency, set, rows);
  EXPECT_EQ(undecided.size(), rows[0].pair.verdict == Verdict::kInvalid ? 1U : 0U);
  if (rule != nullptr) *rule = rows[0].pair.rule;
  return rows[0].pair.verdict;
}

TEST(ConsistencyJudge, AFailureInsideTheNoiseCannotBeTold) {
  std::string rule;
  EXPECT_EQ(judged(noise(0.2), gates({"y: max_abs<=0.1"}), 0.15, Verdict::kDeviates, &rule), Verdict::kInvalid);
  EXPECT_EQ(rule, "cannot tell: max_abs 0.15 > 0.1, and reference optimisation alone is no nearer (max_abs 0.2 > 0.1)");
}

TEST(ConsistencyJudge, AFailureBeyondTheNoiseStands) {
  std::string rule;
  EXPECT_EQ(judged(noise(0.2), gates({"y: max_abs<=0.1"}), 0.25, Verdict::kDeviates, &rule), Verdict::kDeviates);
  EXPECT_EQ(rule, "as before");
  EXPECT_EQ(judged(noise(0), gates({"y: max_abs<=0.1"}), 0.25, Verdict::kDeviates), Verdict::kDeviates);
}

TEST(ConsistencyJudge, APassByLuckIsNone) {
  std::string rule;
  EXPECT_EQ(judged(noise(0.2), gates({"y: max_abs<=0.1"}), 0.05, Verdict::kPass, &rule), Verdict::kInvalid);
  EXPECT_EQ(rule,
            "cannot tell: max_abs 0.05 <= 0.1, and reference optimisation alone would fail the gate (max_abs 0.2 > "
            "0.1)");
}

TEST(ConsistencyJudge, APassAboveTheNoiseStands) {
  EXPECT_EQ(judged(noise(0.09), gates({"y: max_abs<=0.1"}), 0.05, Verdict::kPass), Verdict::kPass);
}

TEST(ConsistencyJudge, MetricsThatShouldBeHigh) {
  // SQNR of 0.5 off is 20 dB, of 0.158 30 dB.
  const auto set = gates({"y: sqnr_db>=25"});
  EXPECT_EQ(judged(noise(0.5), set, 0.5, Verdict::kDeviates), Verdict::kInvalid);
  EXPECT_EQ(judged(noise(0.5), set, 0.51, Verdict::kDeviates), Verdict::kDeviates);
  EXPECT_EQ(judged(noise(0.5), set, 0.1, Verdict::kPass), Verdict::kInvalid);
  EXPECT_EQ(judged(noise(0.1), set, 0.1, Verdict::kPass), Verdict::kPass);
}

TEST(ConsistencyJudge, OneGateBeyondTheNoiseIsEnough) {
  // The first gate fails inside the noise, the second beyond it: nmse 0.0009 against noise of 0.0004.
  auto c = noise(0.1);
  c.checks[1].outputs[0].metrics.max_abs = 0.3;
  EXPECT_EQ(judged(c, gates({"y: max_abs<=0.1", "y: nmse<=0.0005"}), 0.15, Verdict::kDeviates), Verdict::kDeviates);
  EXPECT_EQ(judged(c, gates({"y: max_abs<=0.1"}), 0.15, Verdict::kDeviates), Verdict::kInvalid);
}

TEST(ConsistencyJudge, EveryConditionOfAnAlternativeMustBeInside) {
  auto c = noise(0.1);
  c.checks[1].outputs[0].metrics.max_abs = 0.3;
  EXPECT_EQ(judged(c, gates({"y: max_abs<=0.1 and nmse<=0.0005"}), 0.15, Verdict::kDeviates), Verdict::kDeviates);
  EXPECT_EQ(judged(c, gates({"y: max_abs<=0.1 or nmse<=0.0005"}), 0.15, Verdict::kDeviates), Verdict::kInvalid);
}

TEST(ConsistencyJudge, TheWorstCheckCounts) {
  EXPECT_EQ(judged(noise(0.01, NoiseSource::kDeviceRebuild, 0.3), gates({"y: max_abs<=0.1"}), 0.2, Verdict::kDeviates),
            Verdict::kInvalid);
}

TEST(ConsistencyJudge, DrawsMayBeTwiceAsLargeTheNextTime) {
  const auto drawn = noise(0, NoiseSource::kReferenceOptimisation, 0.2);
  for (const char* gate : {"y: max_abs<=0.1", "y: nmse<=0.0001", "y: sqnr_db>=50"}) {
    EXPECT_EQ(judged(drawn, gates({gate}), 0.39, Verdict::kDeviates), Verdict::kInvalid) << gate;
    EXPECT_EQ(judged(drawn, gates({gate}), 0.41, Verdict::kDeviates), Verdict::kDeviates) << gate;
  }
}

TEST(ConsistencyJudge, FaultsThatNeedNoGateStand) {
  std::vector<OutputRow> rows = {row(0.05, Verdict::kDeviates)};
  rows[0].pair.metrics->nonfinite.device_only = 1;
  judge_noise(noise(0.2), gates({"y: max_abs<=0.1"}), rows);
  EXPECT_EQ(rows[0].pair.verdict, Verdict::kDeviates);
  rows = {row(0.05, Verdict::kDeviates)};  // another type, say: every gate passes
  judge_noise(noise(0.2), gates({"y: max_abs<=0.1"}), rows);
  EXPECT_EQ(rows[0].pair.verdict, Verdict::kDeviates);
}

TEST(ConsistencyJudge, AnOutputThatChangesItsShapeCannotBeJudged) {
  auto c = noise(0.2);
  c.checks[1].outputs[0].shape_changed = true;
  EXPECT_EQ(judged(c, gates({"y: max_abs<=0.1"}), 0.05, Verdict::kPass), Verdict::kInvalid);
}

TEST(ConsistencyJudge, UngatedOutputsAreLeftNotJudged) {
  EXPECT_EQ(judged(noise(0.2), {}, 0.05, Verdict::kNotJudged), Verdict::kNotJudged);
  EXPECT_TRUE(inside_noise(noise(0.2), row(0.2, Verdict::kNotJudged)));
  EXPECT_FALSE(inside_noise(noise(0.2), row(0.21, Verdict::kNotJudged)));
  EXPECT_FALSE(inside_noise(noise(0), row(0.01, Verdict::kNotJudged)));
}

TEST(ConsistencyJudge, FloorsAreTheWorstOfTheChecks) {
  const auto c = noise(0.2, NoiseSource::kReferenceOptimisation, 0.3);
  ASSERT_EQ(c.floors.size(), 1U);
  EXPECT_EQ(c.floors[0].source, NoiseSource::kDeviceRepeats);
  EXPECT_DOUBLE_EQ(c.floors[0].metrics.max_abs, 0.3);
  EXPECT_TRUE(noise(0).floors.empty());
}

TEST(ConsistencyJudge, FindingsNameWhatMoves) {
  LocateResult result;
  explain_noise(noise(0.2), gates({"y: max_abs<=0.1"}), result);  // 28 dB: large, and the gate fails on it
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].id, "reference-noise");
  EXPECT_EQ(result.findings[0].severity, Severity::kNote);
  result.findings.clear();
  explain_noise(noise(1e-5), gates({"y: max_abs<=0.1"}), result);  // a reference moves a little
  EXPECT_TRUE(result.findings.empty());
  explain_noise(noise(0, NoiseSource::kDeviceRows, 1e-5), gates({"y: max_abs<=0.1"}), result);  // a device should not
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].id, "device-noise");
}

}  // namespace
}  // namespace paritas
