#include "paritas/judge/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paritas {
namespace {

using ::testing::ElementsAre;

TEST(Verdict, NamesAreStable) {
  EXPECT_EQ(name(Verdict::kInvalid), "invalid");
  EXPECT_EQ(name(Verdict::kDeviates), "deviates");
  EXPECT_EQ(name(Verdict::kNotJudged), "not judged");
  EXPECT_EQ(name(Verdict::kPass), "pass");
}

TEST(Verdict, OrderIsInvalidDeviatesNotJudgedPass) {
  const Verdict order[] = {Verdict::kInvalid, Verdict::kDeviates, Verdict::kNotJudged, Verdict::kPass};
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) EXPECT_EQ(worse(order[i], order[j]), order[std::min(i, j)]);
}

TEST(VerdictBuilder, NothingAddedIsInvalid) {
  const VerdictBuilder builder;
  EXPECT_EQ(builder.verdict(), Verdict::kInvalid);
  EXPECT_THAT(builder.reasons(), ElementsAre("nothing was compared"));
}

TEST(VerdictBuilder, OnlyPassesMakeAPass) {
  VerdictBuilder builder;
  builder.passed("a");
  EXPECT_EQ(builder.verdict(), Verdict::kPass);
  builder.not_judged("b");
  EXPECT_EQ(builder.verdict(), Verdict::kNotJudged);
  builder.deviates("c");
  EXPECT_EQ(builder.verdict(), Verdict::kDeviates);
  builder.invalid("d");
  EXPECT_EQ(builder.verdict(), Verdict::kInvalid);
  builder.passed("e");
  EXPECT_EQ(builder.verdict(), Verdict::kInvalid);
}

TEST(VerdictBuilder, DecidingReasonsComeFirstInTheirOwnOrder) {
  VerdictBuilder builder;
  builder.passed("p");
  builder.deviates("first");
  builder.not_judged("n");
  builder.deviates("second");
  EXPECT_THAT(builder.reasons(), ElementsAre("first", "second", "n", "p"));
}

}  // namespace
}  // namespace paritas
