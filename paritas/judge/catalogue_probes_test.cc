#include "paritas/judge/catalogue_probes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paritas::catalogue {
namespace {

using ::testing::HasSubstr;

TEST(ProbeEvidence, AddsToAFindingAndLeavesTheRest) {
  Finding f = local_cause({});
  const Finding before = f;
  add_softmax_sums(f, {"/s", 0.25, 0.001, 8, 0});
  EXPECT_THAT(f.text, HasSubstr(before.text + " Rows of /s by itself sum to 1 only within 0.25; storing the right"));
  EXPECT_EQ(f.evidence["softmax_sums"]["storage_max"], 0.001);
  add_statistic(f, {"/n", 0.5, 0.51, 0.01});
  EXPECT_THAT(f.text, HasSubstr("off by 0.5 (rms), and what no factor explains is 0.01 of an error of 0.51"));
  add_accumulation(f, {"/m", 64, 0.5, 0.125});
  EXPECT_THAT(f.text, HasSubstr("off by 0.5 (rms), 4 times what rounding every one of 64 partial sums would cost"));
  EXPECT_EQ(f.evidence["accumulation"]["terms"], 64);
  EXPECT_EQ(f.evidence["share"], before.evidence["share"]);
  EXPECT_EQ(f.severity, before.severity);
  EXPECT_EQ(f.id, before.id);
}

TEST(ProbeEvidence, RowsThatAreNoNumbersAreCounted) {
  Finding f = local_cause({});
  add_softmax_sums(f, {"/s", 0, 0.001, 8, 3});
  EXPECT_THAT(f.text, HasSubstr("Of the 8 rows of /s by itself, 3 hold NaN or infinities."));
}

}  // namespace
}  // namespace paritas::catalogue
