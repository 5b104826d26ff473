#include "paritas/metrics/abs_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace paritas::metrics {
namespace {

uint32_t key_of(const AbsHistogram& histogram, double value) {
  const auto key = static_cast<int64_t>(std::bit_cast<uint64_t>(value) >> AbsHistogram::kShift);
  return static_cast<uint32_t>(std::max<int64_t>(0, key - histogram.base()));
}

void count(AbsHistogram& histogram, const std::vector<double>& values) {
  std::vector<uint32_t> keys;
  for (double v : values) keys.push_back(key_of(histogram, v));
  histogram.count(keys.data(), keys.size());
}

TEST(AbsHistogram, WithinOneSixtyFourthAbove) {
  std::mt19937_64 random(3);
  std::lognormal_distribution<double> distribution(-10, 6);
  std::vector<double> values(9999);
  for (double& v : values) v = distribution(random);
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  for (bool wide : {false, true}) {
    for (uint64_t expected : {uint64_t{10}, uint64_t{1} << 30}) {  // one table, four tables
      AbsHistogram histogram(wide, expected);
      count(histogram, values);
      const auto q = histogram.quantiles(sorted.back(), 0);
      const double p[] = {0.5, 0.9, 0.99, 0.999};
      for (size_t i = 0; i < 4; ++i) {
        const double exact = sorted[static_cast<size_t>(std::ceil(p[i] * 9999)) - 1];
        EXPECT_GE(q[i], exact);
        EXPECT_LE(q[i], exact * (1 + 1.0 / 64));
      }
    }
  }
}

TEST(AbsHistogram, RanksAreExact) {
  AbsHistogram histogram(false, 1000);
  std::vector<double> values(999, 0.0);
  values.push_back(8);
  count(histogram, values);
  EXPECT_EQ(histogram.quantiles(8, 999),
            (std::array<double, 4>{0, 0, 0, 0}));  // 999 of 1000 are zero: p99.9 is the 999th
  count(histogram, {8});
  EXPECT_EQ(histogram.quantiles(8, 999), (std::array<double, 4>{0, 0, 0, 8}));
}

TEST(AbsHistogram, TinyIsNotZeroAndInfinityIsNoNaN) {
  constexpr double kTiny = 0x1p-1060, kInfinity = std::numeric_limits<double>::infinity();
  AbsHistogram histogram(true, 10);
  count(histogram, {0, 0, 0, 0, 0, kTiny, kTiny, kTiny, kTiny, kInfinity});
  const auto q = histogram.quantiles(kInfinity, 5);
  EXPECT_EQ(q[0], 0);
  EXPECT_GE(q[1], kTiny);
  EXPECT_LT(q[1], 0x1p-1022);
  EXPECT_EQ(q[2], kInfinity);
  AbsHistogram largest(true, 1);
  count(largest, {std::numeric_limits<double>::max()});
  EXPECT_EQ(largest.quantiles(kInfinity, 0)[0], std::numeric_limits<double>::max());
}

TEST(AbsHistogram, CoversItsTypes) {
  const double float_extremes[] = {0x1p-149, 2.0 * 0x1.fffffep127, 0x1p65};
  const AbsHistogram narrow(false, 1);
  for (double v : float_extremes) {
    EXPECT_GT(key_of(narrow, v), 0U);
    EXPECT_LT(key_of(narrow, v), narrow.bins());
  }
  const AbsHistogram wide(true, 1);
  EXPECT_LT(key_of(wide, std::numeric_limits<double>::infinity()), wide.bins());
}

TEST(AbsHistogram, MergesExactly) {
  AbsHistogram all(false, 1), first(false, 1), second(false, uint64_t{1} << 30);
  count(all, {1, 2, 3, 4, 5, 6});
  count(first, {6, 1});
  count(second, {2, 3, 4, 5});
  first.merge(second);
  EXPECT_EQ(first.quantiles(6, 0), all.quantiles(6, 0));
  EXPECT_TRUE(std::isnan(AbsHistogram(false, 1).quantiles(0, 0)[0]));
}

}  // namespace
}  // namespace paritas::metrics
