#include "paritas/project/reference_variants.h"

#include <cmath>

#include <gmock/gmock.h>

#include "paritas/judge/gates.h"

namespace paritas {
namespace {

using ::testing::HasSubstr;

// Figures of reference {3, 4} (norm 5) and one element off by `d`.
PairMetrics off_by(double d) {
  PairMetrics m;
  m.count = m.finite = 2;
  m.differing = d != 0;
  m.max_abs = d;
  m.nmse = d * d / 25;
  m.sqnr_db = d == 0 ? INFINITY : -10 * std::log10(m.nmse);
  m.reference_norm = 5;
  m.error_norm = d;
  return m;
}

TensorComparison tensor(const std::string& sample, double d, Verdict verdict) {
  TensorComparison t;
  t.name = "y";
  t.sample = sample;
  t.reference = t.device = SideInfo{DType::kF32, {2}};
  t.metrics = off_by(d);
  t.verdict = verdict;
  t.rule = "as before";
  return t;
}

TEST(ReferenceVariants, EachSampleIsHeldAgainstItsOwnMovement) {
  GateSet gates;
  gates.gates.push_back(*parse_gate("y: max_abs<=0.1"));
  ReferenceVariants variants;
  variants.moves = {{"y", "still", false, off_by(0), {}, {}},
                    {"y", "moves", false, off_by(0.2), {}, {}},
                    {"y", "reshaped", true, {}, {}, {}}};
  CompareResult compared;
  compared.tensors = {tensor("still", 0.05, Verdict::kPass),     tensor("still", 0.15, Verdict::kDeviates),
                      tensor("moves", 0.05, Verdict::kPass),     tensor("moves", 0.15, Verdict::kDeviates),
                      tensor("moves", 0.25, Verdict::kDeviates), tensor("reshaped", 0.05, Verdict::kPass)};
  judge_variants(gates, variants, compared);
  std::vector<Verdict> verdicts;
  for (const auto& each : compared.tensors) verdicts.push_back(each.verdict);
  EXPECT_EQ(verdicts, (std::vector<Verdict>{Verdict::kPass, Verdict::kDeviates, Verdict::kInvalid, Verdict::kInvalid,
                                            Verdict::kDeviates, Verdict::kInvalid}));
  EXPECT_THAT(compared.tensors[2].rule, HasSubstr("cannot tell"));
  EXPECT_EQ(compared.tensors[4].rule, "as before");
  ASSERT_EQ(variants.undecided.size(), 3U);
  EXPECT_THAT(variants.undecided[0], HasSubstr("y (moves): cannot tell"));
}

TEST(ReferenceVariants, TheWorstSampleOfEachOutputIsShown) {
  ReferenceVariants variants;
  variants.moves = {{"a", "0", false, off_by(0.1), {}, {}},
                    {"a", "1", false, off_by(0.5), 12.0, 14.0},
                    {"b", "0", false, off_by(0), {}, {}},
                    {"a", "2", false, off_by(0.2), {}, {}}};
  const auto worst = worst_moves(variants);
  ASSERT_EQ(worst.size(), 2U);
  EXPECT_EQ(worst[0]->sample, "1");
  EXPECT_EQ(
      variant_text(*worst[0]),
      "a: the reference itself moves, 20.0 dB SQNR between them; the device is 12.0 dB from the first, 14.0 dB from "
      "the second (1)");
  EXPECT_EQ(variant_text(*worst[1]), "b: the reference does not move between them");
}

}  // namespace
}  // namespace paritas
