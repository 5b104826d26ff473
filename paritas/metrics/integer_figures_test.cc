#include "paritas/metrics/integer_figures.h"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "paritas/metrics/pair_metrics.h"

namespace paritas {
namespace {

template <class T>
Tensor tensor(DType type, const std::vector<T>& values) {
  return tensor_from_values(type, {static_cast<int64_t>(values.size())}, values);
}

Result<std::optional<IntegerFigures>> figures_of(const Tensor& x, const Tensor& y, int threads) {
  MetricOptions options;
  options.codes = true;
  options.threads = threads;
  PARITAS_ASSIGN(const PairMetrics m, compare_tensors(x, y, options));
  return m.codes;
}

TEST(IntegerFigures, CountsStepsLevelsAndSaturation) {
  const auto x = tensor<uint8_t>(DType::kU8, {0, 0, 10, 255, 128, 7});
  const auto y = tensor<uint8_t>(DType::kU8, {0, 1, 8, 255, 255, 7});
  auto f = figures_of(x, y, 2);
  ASSERT_TRUE(f && *f);
  EXPECT_EQ((*f)->count, 6u);
  EXPECT_EQ((*f)->max_step, 127u);
  EXPECT_DOUBLE_EQ((*f)->mean_step, (1 + 2 + 127) / 6.0);
  EXPECT_DOUBLE_EQ((*f)->mean_bias, (1 - 2 + 127) / 6.0);
  EXPECT_EQ((*f)->steps[8], 3u);
  EXPECT_EQ((*f)->steps[9], 1u);   // +1
  EXPECT_EQ((*f)->steps[6], 1u);   // -2
  EXPECT_EQ((*f)->steps[16], 1u);  // 8 or more
  EXPECT_EQ((*f)->reference.levels, 5u);
  EXPECT_EQ((*f)->reference.at_lowest, 2u);
  EXPECT_EQ((*f)->device.at_highest, 2u);
}

TEST(IntegerFigures, OnlyForSmallIntegersOfOneType) {
  const auto small = tensor<int8_t>(DType::kI8, {1, 2});
  EXPECT_FALSE(*figures_of(small, tensor<uint8_t>(DType::kU8, {1, 2}), 1));
  EXPECT_FALSE(*figures_of(tensor<int32_t>(DType::kI32, {1}), tensor<int32_t>(DType::kI32, {1}), 1));
  EXPECT_FALSE(figures_of(small, tensor<int8_t>(DType::kI8, {1}), 1));
}

RC_GTEST_PROP(IntegerFigures, AgreeWithAPlainLoop, (std::vector<int16_t> values)) {
  RC_PRE(!values.empty());
  std::vector<int16_t> other(values.rbegin(), values.rend());
  auto f = figures_of(tensor(DType::kI16, values), tensor(DType::kI16, other), 3);
  RC_ASSERT(f && *f);
  double sum = 0;
  int64_t most = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t d = std::abs(int64_t{other[i]} - values[i]);
    sum += static_cast<double>(d);
    most = std::max(most, d);
  }
  RC_ASSERT((*f)->mean_step == sum / static_cast<double>(values.size()));
  RC_ASSERT((*f)->max_step == static_cast<uint64_t>(most));
  RC_ASSERT((*f)->reference.levels == (*f)->device.levels);
}

// Long enough to be counted by pairs; the length is no multiple of any block.
template <class T>
void expect_pairs_to_agree_with_a_plain_loop(DType type) {
  const size_t n = 3 * 65536 + 77;
  std::vector<T> x(n), y(n);
  uint32_t state = 7;
  for (size_t i = 0; i < n; ++i) {
    state = state * 1664525 + 1013904223;
    x[i] = static_cast<T>(state >> 24);
    y[i] = i % 3 == 0 ? static_cast<T>(state >> 16) : x[i];
  }
  IntegerFigures expected;
  int64_t sum = 0, bias = 0;
  for (size_t i = 0; i < n; ++i) {
    const int d = int{y[i]} - int{x[i]};
    ++expected.steps[static_cast<size_t>(std::clamp(d, -8, 8) + 8)];
    expected.max_step = std::max<uint64_t>(expected.max_step, static_cast<uint64_t>(std::abs(d)));
    sum += std::abs(d);
    bias += d;
    expected.reference.at_lowest += x[i] == std::numeric_limits<T>::min();
    expected.device.at_highest += y[i] == std::numeric_limits<T>::max();
  }
  for (int threads : {1, 3}) {
    const auto f = figures_of(tensor(type, x), tensor(type, y), threads);
    ASSERT_TRUE(f && *f);
    EXPECT_EQ((*f)->count, n);
    EXPECT_EQ((*f)->steps, expected.steps);
    EXPECT_EQ((*f)->max_step, expected.max_step);
    EXPECT_DOUBLE_EQ((*f)->mean_step, static_cast<double>(sum) / static_cast<double>(n));
    EXPECT_DOUBLE_EQ((*f)->mean_bias, static_cast<double>(bias) / static_cast<double>(n));
    EXPECT_EQ((*f)->reference.levels, 256u);
    EXPECT_EQ((*f)->reference.at_lowest, expected.reference.at_lowest);
    EXPECT_EQ((*f)->device.at_highest, expected.device.at_highest);
  }
}

TEST(IntegerFigures, LongTensorsAgreeWithAPlainLoop) {
  expect_pairs_to_agree_with_a_plain_loop<int8_t>(DType::kI8);
  expect_pairs_to_agree_with_a_plain_loop<uint8_t>(DType::kU8);
}

}  // namespace
}  // namespace paritas
