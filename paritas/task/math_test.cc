#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "paritas/task/intervals.h"
#include "paritas/task/portable_math.h"
#include "paritas/task/top_classes.h"

namespace paritas {
namespace {

int64_t steps_apart(double a, double b) {
  return std::abs(std::bit_cast<int64_t>(a) - std::bit_cast<int64_t>(b));  // both positive
}

TEST(PortableMath, ExpIsWithinTwoSteps) {
  for (double x = -700; x < 709; x += 0.037) EXPECT_LE(steps_apart(portable_exp(x), std::exp(x)), 2) << x;
  EXPECT_EQ(portable_exp(0), 1);
  EXPECT_EQ(portable_exp(-1000), 0);
  EXPECT_EQ(portable_exp(-INFINITY), 0);
  EXPECT_EQ(portable_exp(1000), INFINITY);
  EXPECT_TRUE(std::isnan(portable_exp(NAN)));
  EXPECT_GT(portable_exp(-740), 0);  // subnormal
}

TEST(PortableMath, LogIsExactEnough) {
  for (double x = 1e-300; x < 1e300; x *= 1.7)
    EXPECT_NEAR(portable_log(x), std::log(x), 3e-16 * std::abs(std::log(x))) << x;
  for (double x = 0.5; x < 2; x += 0.001) EXPECT_NEAR(portable_log(x), std::log(x), 3e-16) << x;
  EXPECT_EQ(portable_log(1), 0);
  EXPECT_EQ(portable_log(0), -INFINITY);
  EXPECT_EQ(portable_log(INFINITY), INFINITY);
  EXPECT_TRUE(std::isnan(portable_log(-1)));
}

TEST(Intervals, WilsonOfKnownShares) {
  EXPECT_NEAR(wilson(50, 100).low, 0.4038, 1e-4);
  EXPECT_NEAR(wilson(50, 100).high, 0.5962, 1e-4);
  EXPECT_EQ(wilson(0, 10).low, 0);
  EXPECT_NEAR(wilson(0, 10).high, 0.2775, 1e-4);
  EXPECT_EQ(wilson(10, 10).high, 1);
  EXPECT_NEAR(wilson(1, 1).low, 0.2065, 1e-4);
  EXPECT_EQ(wilson(0, 0).low, 0);
  EXPECT_EQ(wilson(0, 0).high, 1);
}

TEST(Intervals, PairedDifferenceIsSymmetric) {
  const Interval a = paired_difference(10, 3, 100), b = paired_difference(3, 10, 100);
  EXPECT_DOUBLE_EQ(a.low, -b.high);
  EXPECT_LT(a.low, 0.07);
  EXPECT_GT(a.high, 0.07);
  EXPECT_EQ(paired_difference(0, 0, 0).low, -1);
}

RC_GTEST_PROP(TopClasses, GroupsCoverTheFirstKInOrder, ()) {
  const auto values = *rc::gen::nonEmpty(rc::gen::container<std::vector<double>>(
      rc::gen::map(rc::gen::inRange(0, 6), [](int i) { return static_cast<double>(i); })));
  const auto k = *rc::gen::inRange<uint64_t>(1, 8);
  const RankGroups groups = rank_groups(values, k);
  size_t covered = 0;
  double last = INFINITY;
  for (const auto& group : groups) {
    RC_ASSERT(covered < k);
    for (const int64_t c : group) RC_ASSERT(values[c] == values[group[0]]);
    RC_ASSERT(values[group[0]] < last);
    last = values[group[0]];
    covered += group.size();
  }
  RC_ASSERT(covered >= std::min<size_t>(k, values.size()));
}

RC_GTEST_PROP(TopClasses, AgreementIsSymmetricAndReflexive, ()) {
  const auto value = rc::gen::map(rc::gen::inRange(0, 4), [](int i) { return static_cast<double>(i); });
  const auto x = *rc::gen::container<std::vector<double>>(6, value);
  const auto y = *rc::gen::container<std::vector<double>>(6, value);
  const auto k = *rc::gen::inRange<uint64_t>(1, 6);
  const RankGroups a = rank_groups(x, k), b = rank_groups(y, k);
  RC_ASSERT(same_top_set(a, a, k) == Agreement::kSame);
  RC_ASSERT(same_top_set(a, b, k) == same_top_set(b, a, k));
}

TEST(TopClasses, TiesAtTheEdge) {
  auto agree = [](std::vector<double> x, std::vector<double> y, uint64_t k) {
    return same_top_set(rank_groups(x, k), rank_groups(y, k), k);
  };
  EXPECT_EQ(agree({9, 5, 5, 0}, {9, 6, 5, 0}, 2), Agreement::kUndecided);
  EXPECT_EQ(agree({9, 5, 5, 0}, {9, 5, 5, 0}, 2), Agreement::kSame);
  EXPECT_EQ(agree({9, 5, 5, 0}, {9, 0, 0, 5}, 2), Agreement::kDifferent);
  EXPECT_EQ(agree({9, 5, 4, 0}, {5, 9, 4, 0}, 2), Agreement::kSame);
  EXPECT_EQ(agree({1, 0, 0, 0}, {0, 1, 0, 0}, 2), Agreement::kUndecided);  // {0, 1} is allowed by both
}

}  // namespace
}  // namespace paritas
