#include "paritas/metrics/pair_metrics.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paritas/metrics/test_tensors.h"

namespace paritas::metrics {
namespace {

using ::testing::DoubleNear;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr float kInfF = std::numeric_limits<float>::infinity();
constexpr float kNanF = std::numeric_limits<float>::quiet_NaN();

PairMetrics compare(const Tensor& x, const Tensor& y, const MetricOptions& options = {}) {
  auto result = compare_tensors(x, y, options);
  EXPECT_TRUE(result) << result.error().message();
  return result.value_or(PairMetrics{});
}

TEST(PairMetrics, ClosedForms) {
  const PairMetrics m = compare(floats({3, 4, 0, 0}), floats({3, 4, 0, 5}));
  EXPECT_EQ(m.count, 4U);
  EXPECT_EQ(m.finite, 4U);
  EXPECT_EQ(m.differing, 1U);
  EXPECT_EQ(m.max_abs, 5);
  EXPECT_EQ(m.max_abs_index, 3U);
  EXPECT_EQ(m.max_abs_reference, 0);
  EXPECT_EQ(m.max_abs_device, 5);
  EXPECT_EQ(m.mean_abs, 1.25);
  EXPECT_EQ(m.mse, 6.25);
  EXPECT_EQ(m.rmse, 2.5);
  EXPECT_EQ(m.nmse, 1);
  EXPECT_EQ(m.sqnr_db, 0);
  EXPECT_EQ(m.reference_norm, 5);
  EXPECT_EQ(m.error_norm, 5);
  EXPECT_THAT(m.scale_ratio, DoubleNear(std::sqrt(2.0), 1e-15));
  EXPECT_THAT(m.cosine, DoubleNear(std::sqrt(0.5), 1e-15));
  EXPECT_EQ(m.max_rel, 5 / 1e-6);
  EXPECT_EQ(m.reference_min, 0);
  EXPECT_EQ(m.reference_max, 4);
  EXPECT_EQ(m.device_max_abs, 5);
  EXPECT_FALSE(m.max_integer_difference);
  EXPECT_FALSE(m.outside);
  EXPECT_FALSE(m.abs_quantiles);
  EXPECT_FALSE(m.storage);
}

TEST(PairMetrics, EqualTensors) {
  const PairMetrics m = compare(floats({1, -2, 0.0F}), floats({1, -2, -0.0F}));
  EXPECT_EQ(m.differing, 0U);
  EXPECT_EQ(m.max_abs, 0);
  EXPECT_EQ(m.nmse, 0);
  EXPECT_EQ(m.sqnr_db, kInf);
  EXPECT_EQ(m.cosine, 1);
  EXPECT_EQ(m.max_ulp, 0U);
  EXPECT_EQ(m.max_rel, 0);
}

TEST(PairMetrics, SmallAnglesKeepTheirDigits) {
  // 1 - dot / (|x| |y|) would be 0 or a multiple of 1.1e-16 here.
  const PairMetrics m = compare(doubles({1, 0}), doubles({1, 1e-10}));
  EXPECT_THAT(m.cosine_distance, DoubleNear(5e-21, 1e-26));
}

TEST(PairMetrics, AnglesOfVeryDifferentLengths) {
  // The difference form would be off by 2^-53 * 1e16 here.
  const PairMetrics m = compare(doubles({1, 0}), doubles({3e16, 4e16}));
  EXPECT_THAT(m.cosine, DoubleNear(0.6, 1e-15));
  EXPECT_EQ(compare(doubles({1}), doubles({-1e20})).cosine, -1);
}

TEST(PairMetrics, ZeroNorms) {
  const PairMetrics both = compare(floats({0, 0}), floats({0, 0}));
  EXPECT_EQ(both.cosine_distance, 0);
  EXPECT_EQ(both.scale_ratio, 1);
  EXPECT_EQ(both.nmse, 0);
  EXPECT_FALSE(both.zero_norm);
  const PairMetrics one = compare(floats({0, 0}), floats({0, 1}));
  EXPECT_EQ(one.cosine_distance, 1);
  EXPECT_TRUE(one.zero_norm);
  EXPECT_EQ(one.nmse, kInf);
  EXPECT_EQ(one.sqnr_db, -kInf);
  EXPECT_EQ(one.scale_ratio, kInf);
  EXPECT_EQ(compare(floats({2, 0}), floats({0, 0})).scale_ratio, 0);
}

TEST(PairMetrics, NonfiniteCounts) {
  const std::vector<float> x = {kNanF, kNanF, 1, kInfF, kInfF, kInfF, 2, 3};
  const std::vector<float> y = {kNanF, 1, kNanF, kInfF, -kInfF, 5, -kInfF, 4};
  MetricOptions options;
  options.atol = 1;
  const PairMetrics m = compare(floats(x), floats(y), options);
  EXPECT_EQ(m.finite, 1U);
  EXPECT_EQ(m.nonfinite.nan_nan, 1U);
  EXPECT_EQ(m.nonfinite.nan_other, 2U);
  EXPECT_EQ(m.nonfinite.same_inf, 1U);
  EXPECT_EQ(m.nonfinite.opposite_inf, 1U);
  EXPECT_EQ(m.nonfinite.inf_finite, 2U);
  EXPECT_EQ(m.nonfinite.device_only, 2U);
  EXPECT_EQ(m.nonfinite.reference_nan, 1U);
  EXPECT_EQ(m.differing, 6U);  // all but the NaN pair and the equal infinities
  EXPECT_EQ(m.max_abs, 1);
  EXPECT_EQ(m.max_abs_index, 7U);
  EXPECT_EQ(m.outside, 6U);  // all but the equal infinities and the pair within 1
  EXPECT_EQ(m.worst_outside, kInf);
  EXPECT_EQ(m.reference_max, 3);
  EXPECT_EQ(m.device_min, 1);
  EXPECT_EQ(m.device_max, 5);
}

TEST(PairMetrics, IndexSkipsNonfinitePairsEvenWhenAllElseIsEqual) {
  const PairMetrics m = compare(floats({kNanF, 1, 2}), floats({kNanF, 1, 2}));
  EXPECT_EQ(m.max_abs, 0);
  EXPECT_EQ(m.max_abs_index, 1U);
  EXPECT_EQ(m.max_abs_reference, 1);
}

TEST(PairMetrics, NothingFiniteNeverLooksGood) {
  MetricOptions options;
  options.quantiles = true;
  const PairMetrics m = compare(floats({kNanF, kInfF}), floats({kNanF, kInfF}), options);
  EXPECT_EQ(m.finite, 0U);
  for (double figure : {m.max_abs, m.mean_abs, m.mse, m.rmse, m.nmse, m.sqnr_db, m.cosine, m.cosine_distance, m.max_rel,
                        m.scale_ratio, m.error_norm, (*m.abs_quantiles)[0], (*m.abs_quantiles)[3]})
    EXPECT_TRUE(std::isnan(figure)) << figure;
  EXPECT_FALSE(m.max_ulp);
}

TEST(PairMetrics, QuantilesAreOfFinitePairs) {
  MetricOptions options;
  options.quantiles = true;
  const PairMetrics m = compare(floats({kNanF, 1, kInfF, kNanF, 2}), floats({kNanF, 9, 1, 0, 10}), options);
  EXPECT_EQ(*m.abs_quantiles, (std::array<double, 4>{8, 8, 8, 8}));
}

TEST(PairMetrics, EmptyTensors) {
  MetricOptions options;
  options.quantiles = true;
  options.atol = 0;
  const PairMetrics m = compare(floats({}), floats({}), options);
  EXPECT_EQ(m.count, 0U);
  EXPECT_EQ(m.max_abs, 0);
  EXPECT_EQ(m.outside, 0U);
  EXPECT_EQ((*m.abs_quantiles)[3], 0);
}

TEST(PairMetrics, IntegersAreExact) {
  const auto min = std::numeric_limits<int64_t>::min();
  const auto max = std::numeric_limits<int64_t>::max();
  // As doubles, max and max - 1 are the same number.
  const PairMetrics near =
      compare(vector_tensor<int64_t>(DType::kI64, {max, 5}), vector_tensor<int64_t>(DType::kI64, {max - 1, 5}));
  EXPECT_EQ(near.differing, 1U);
  EXPECT_EQ(near.max_integer_difference, 1U);
  EXPECT_EQ(near.max_abs, 1);
  EXPECT_FALSE(near.max_ulp);
  const PairMetrics far =
      compare(vector_tensor<int64_t>(DType::kI64, {min}), vector_tensor<int64_t>(DType::kI64, {max}));
  EXPECT_EQ(far.max_integer_difference, std::numeric_limits<uint64_t>::max());
  const PairMetrics mixed = compare(vector_tensor<int64_t>(DType::kI64, {-1, max, 3}),
                                    vector_tensor<uint64_t>(DType::kU64, {~uint64_t{0}, uint64_t{1} << 63, 3}));
  EXPECT_EQ(mixed.differing, 2U);
  EXPECT_EQ(mixed.max_integer_difference, std::numeric_limits<uint64_t>::max());  // 2^64, which does not fit
  const PairMetrics small =
      compare(vector_tensor<int8_t>(DType::kI8, {-128, 7}), vector_tensor<uint8_t>(DType::kU8, {255, 7}));
  EXPECT_EQ(small.max_integer_difference, 383U);
  EXPECT_EQ(small.differing, 1U);
}

TEST(PairMetrics, IntegersAgainstFloatsAreExact) {
  const int64_t odd = (int64_t{1} << 53) + 1;  // not a double
  const PairMetrics m = compare(vector_tensor<int64_t>(DType::kI64, {odd, 4, -3}), doubles({0x1p53, 4, 0x1p63}));
  EXPECT_EQ(m.differing, 2U);
  EXPECT_FALSE(m.max_integer_difference);
  EXPECT_FALSE(m.max_ulp);
}

TEST(PairMetrics, BoolAndPackedTypes) {
  const PairMetrics flags =
      compare(vector_tensor<uint8_t>(DType::kBool, {0, 1, 7, 1}), vector_tensor<uint8_t>(DType::kBool, {0, 1, 1, 0}));
  EXPECT_EQ(flags.differing, 1U);  // any non-zero byte is true
  EXPECT_EQ(flags.max_integer_difference, 1U);
  // -8, 7, 3 against 7, 7, 3: low nibble first, the last high nibble is padding.
  const auto packed = [](DType dtype, std::vector<uint8_t> bytes) {
    Tensor tensor = vector_tensor(dtype, bytes);
    tensor.shape = {3};
    return tensor;
  };
  const PairMetrics nibbles = compare(packed(DType::kI4, {0x78, 0x03}), packed(DType::kI4, {0x77, 0xF3}));
  EXPECT_EQ(nibbles.differing, 1U);
  EXPECT_EQ(nibbles.max_integer_difference, 15U);
  EXPECT_EQ(nibbles.reference_min, -8);
  EXPECT_EQ(compare(packed(DType::kU4, {0x78, 0x03}), packed(DType::kU4, {0x77, 0xF3})).max_integer_difference, 1U);
}

TEST(PairMetrics, UlpOfTheCoarserType) {
  const float next = std::nextafter(1.0F, 2.0F);
  EXPECT_EQ(compare(floats({1}), floats({next})).max_ulp, 1U);
  EXPECT_EQ(compare(floats({-1e-45F}), floats({1e-45F})).max_ulp, 2U);  // through zero
  EXPECT_EQ(compare(floats({1}), halves({1})).max_ulp, 0U);
  EXPECT_EQ(compare(floats({next}), halves({1})).max_ulp, 0U);  // rounds to it
  EXPECT_EQ(compare(floats({1.0F + 3 * 0x1p-10F}), halves({1})).max_ulp, 3U);
  EXPECT_EQ(compare(floats({1 + 0x1p-11F}), halves({1})).max_ulp, 0U);  // ties go to even
  EXPECT_EQ(compare(floats({1 + 3 * 0x1p-11F}), halves({1})).max_ulp, 2U);
  EXPECT_EQ(compare(floats({1e6F}), halves({65504})).max_ulp, 1U);  // beyond the range: one step after its end
  EXPECT_EQ(compare(floats({0x1p-24F}), halves({0})).max_ulp, 1U);  // the smallest subnormal
  EXPECT_EQ(compare(doubles({1 + 0x1p-40}), floats({1})).max_ulp, 0U);
  EXPECT_EQ(compare(doubles({1}), doubles({-1})).max_ulp, 2 * 0x3FF0000000000000U);
  // The same in a tile that holds a NaN.
  EXPECT_EQ(compare(floats({1, kNanF}), floats({next, kNanF})).max_ulp, 1U);
  EXPECT_EQ(compare(doubles({1, kInf}), doubles({1 + 0x1p-52, kInf})).max_ulp, 1U);
}

TEST(PairMetrics, Outside) {
  MetricOptions options;
  options.atol = 0.5;
  options.rtol = 0.1;
  const PairMetrics m = compare(floats({10, 10, 0}), floats({11.5F, 11.75F, 0}), options);
  EXPECT_EQ(m.outside, 1U);
  EXPECT_THAT(m.worst_outside, DoubleNear(1.75 / 1.5, 1e-15));
  options.atol = 0;
  options.rtol.reset();
  const PairMetrics exact = compare(floats({1, 2}), floats({1, 2}), options);
  EXPECT_EQ(exact.outside, 0U);
  EXPECT_EQ(exact.worst_outside, 0);
  EXPECT_EQ(compare(floats({1, 2}), floats({1, 3}), options).worst_outside, kInf);
  options.atol = -1;
  EXPECT_FALSE(compare_tensors(floats({1}), floats({1}), options));
  options.atol = kNanF;
  EXPECT_FALSE(compare_tensors(floats({1}), floats({1}), options));
}

TEST(PairMetrics, HugeDoubles) {
  const double huge = std::numeric_limits<double>::max();
  const PairMetrics m = compare(doubles({huge, huge}), doubles({huge, -huge}));
  EXPECT_EQ(m.max_abs, kInf);  // 2 * max, correctly rounded
  EXPECT_EQ(m.mse, kInf);
  EXPECT_THAT(m.nmse, DoubleNear(2, 1e-15));
  EXPECT_THAT(m.cosine, DoubleNear(0, 1e-15));
  EXPECT_THAT(m.scale_ratio, DoubleNear(1, 1e-15));
  const PairMetrics large = compare(doubles({3e200, 4e200}), doubles({3e200, 4e200 * (1 + 1e-8)}));
  EXPECT_THAT(large.nmse / 0.64e-16, DoubleNear(1, 1e-6));
  EXPECT_THAT(large.reference_norm / 5e200, DoubleNear(1, 1e-15));
  EXPECT_THAT(large.rmse / (4e192 / std::sqrt(2.0)), DoubleNear(1, 1e-6));
}

TEST(PairMetrics, TinyDoublesAreNotEqual) {
  const PairMetrics m = compare(doubles({1e-200, 0}), doubles({0, 2e-200}));
  EXPECT_EQ(m.max_abs, 2e-200);
  EXPECT_THAT(m.nmse, DoubleNear(5, 1e-14));
  EXPECT_EQ(m.cosine_distance, 1);
  EXPECT_FALSE(m.zero_norm);
  EXPECT_THAT(m.error_norm / (std::sqrt(5.0) * 1e-200), DoubleNear(1, 1e-15));
  EXPECT_EQ(compare(doubles({0}), doubles({1e-300})).nmse, kInf);
  EXPECT_EQ(compare(doubles({5e-324}), doubles({0})).nmse, 1);
}

TEST(PairMetrics, SmallDifferencesBesideHugeValuesAreNotLost) {
  // At a scale where the squares of 1.7e308 fit, that of 1 vanishes.
  const PairMetrics m = compare(doubles({1.7e308, 1, 0, 0}), doubles({1.7e308, 2, 0, 0}));
  EXPECT_EQ(m.mse, 0.25);
  EXPECT_EQ(m.rmse, 0.5);
  EXPECT_EQ(m.mean_abs, 0.25);
  EXPECT_EQ(m.error_norm, 1);
  EXPECT_GT(m.nmse, 0);
  EXPECT_THAT(m.sqnr_db, DoubleNear(20 * std::log10(1.7) + 20 * 308, 1e-9));
}

TEST(PairMetrics, RatiosThatVanishAreNotEquality) {
  const PairMetrics m = compare(doubles({1e150, 1e-80}), doubles({1e150, 2e-80}));
  EXPECT_GT(m.nmse, 0);
  EXPECT_THAT(m.sqnr_db, DoubleNear(4600, 1e-9));
  EXPECT_THAT(compare(doubles({1e-80}), doubles({1e150})).sqnr_db, DoubleNear(-4600, 1e-9));
}

TEST(PairMetrics, FiguresOfDifferencesBeyondTheLargestDouble) {
  MetricOptions options;
  options.rtol = 1.5;  // allows 2.55e308, which is no double either
  options.quantiles = true;
  const PairMetrics m = compare(doubles({1.7e308, 1, 1, 1}), doubles({-1.7e308, 1, 1, 1}), options);
  EXPECT_EQ(m.max_abs, kInf);
  EXPECT_EQ(m.max_rel, 2);
  EXPECT_EQ(m.outside, 1U);
  EXPECT_THAT(m.worst_outside, DoubleNear(2 / 1.5, 1e-15));
  EXPECT_EQ(m.mse, kInf);
  EXPECT_THAT(m.rmse / 1.7e308, DoubleNear(1, 1e-15));
  EXPECT_THAT(m.mean_abs / 0.85e308, DoubleNear(1, 1e-15));
  EXPECT_EQ(*m.abs_quantiles, (std::array<double, 4>{0, kInf, kInf, kInf}));
  options.rtol = 2.1;
  EXPECT_EQ(compare(doubles({1.7e308}), doubles({-1.7e308}), options).outside, 0U);
}

TEST(PairMetrics, TinyAgainstOrdinaryIsNotZero) {
  const PairMetrics m = compare(doubles({1e-200, 2e-200}), doubles({1, 2}));
  EXPECT_FALSE(m.zero_norm);
  EXPECT_THAT(m.cosine, DoubleNear(1, 1e-15));
  EXPECT_THAT(m.scale_ratio / 1e200, DoubleNear(1, 1e-15));
  EXPECT_THAT(m.sqnr_db, DoubleNear(-4000, 1e-9));
}

TEST(PairMetrics, IntegersThatDoublesCannotTellApart) {
  const int64_t big = int64_t{1} << 60;
  MetricOptions options;
  options.quantiles = true;
  const PairMetrics m = compare(vector_tensor<int64_t>(DType::kI64, {big, 5}),
                                vector_tensor<int64_t>(DType::kI64, {big + 3, 5}), options);
  EXPECT_EQ(m.max_abs, 3);
  EXPECT_EQ(m.mean_abs, 1.5);
  EXPECT_EQ(m.mse, 4.5);
  EXPECT_GT(m.nmse, 0);
  EXPECT_EQ((*m.abs_quantiles)[3], 3);
  // 2^53 + 1 is no double: the difference from a float is exact, too.
  EXPECT_EQ(compare(vector_tensor<int64_t>(DType::kI64, {(int64_t{1} << 53) + 1}), doubles({0x1p53})).max_abs, 1);
}

TEST(PairMetrics, QuantilesOfHugeScales) {
  const Tensor codes = tensor_from_values<uint8_t>(DType::kU8, {2}, {1, 200});
  MetricOptions options;
  options.quantiles = true;
  options.reference_affine = options.device_affine = Affine{{1e300}, {0}, 1};
  const Tensor others = tensor_from_values<uint8_t>(DType::kU8, {2}, {2, 201});
  const PairMetrics m = compare(codes, others, options);
  EXPECT_THAT(m.max_abs / 1e300, DoubleNear(1, 1e-12));
  EXPECT_EQ((*m.abs_quantiles)[3], m.max_abs);
}

TEST(PairMetrics, StorageErrorsBesideHugeValues) {
  MetricOptions options;
  options.storage_type = DType::kF16;
  const auto storage = compare(doubles({1.7e308, 1 + 0x1p-12}), doubles({1.7e308, 1}), options).storage;
  ASSERT_TRUE(storage);
  EXPECT_EQ(storage->overflowed, 1U);
  EXPECT_EQ(storage->rms, 0x1p-12);
}

TEST(PairMetrics, StorageBaseline) {
  MetricOptions options;
  options.storage_type = DType::kF16;
  const std::vector<float> x = {1 + 0x1p-12F, 70000, 1e-9F, 0x1p-20F, -3, kNanF};
  const PairMetrics m = compare(floats(x), floats(x), options);
  ASSERT_TRUE(m.storage);
  EXPECT_EQ(m.storage->max_abs, 0x1p-12);
  EXPECT_EQ(m.storage->overflowed, 1U);
  EXPECT_FALSE(m.storage->representable());
  EXPECT_EQ(m.storage->max_over_limit, 70000.0 / 65504.0);
  EXPECT_EQ(m.storage->subnormal, 2U);
  EXPECT_EQ(m.storage->flushed, 1U);
  const double tiny = 1e-9F;
  EXPECT_THAT(m.storage->rms, DoubleNear(std::sqrt((0x1p-24 + tiny * tiny) / 4), 1e-18));
  EXPECT_GT(m.storage->lost_energy, 0);
  EXPECT_FALSE(compare(vector_tensor<int32_t>(DType::kI32, {1}), floats({1}), options).storage);
  // Everything is flushed: all energy is lost, also where squares of the values vanish.
  EXPECT_EQ(compare(doubles({1e-200, 3e-200}), doubles({1e-200, 3e-200}), options).storage->lost_energy, 1);
}

TEST(PairMetrics, Refusals) {
  EXPECT_FALSE(compare_tensors(floats({1, 2}), floats({1}), {}));
  Tensor lying = floats({1, 2});
  lying.shape = {3};
  EXPECT_FALSE(compare_tensors(lying, floats({1, 2, 3}), {}));
}

TEST(PairMetrics, DequantisedSidesAreComparedInRealValues) {
  const Tensor codes = tensor_from_values<uint8_t>(DType::kU8, {2, 2}, {130, 128, 126, 0});
  const Tensor real = tensor_from_values<float>(DType::kF32, {2, 2}, {1.0f, 0.0f, -1.0f, -64.0f});
  MetricOptions options;
  options.device_affine = Affine{{0.5}, {128}, 1};
  options.atol = 0;
  auto m = compare_tensors(real, codes, options);
  ASSERT_TRUE(m);
  EXPECT_EQ(m->differing, 0u);
  EXPECT_EQ(m->outside, 0u);
  EXPECT_EQ(m->max_abs, 0);
  EXPECT_EQ(m->device_min, -64);
  EXPECT_EQ(m->device_zeros, 1u);
  // Per channel along the first axis: rows of two elements.
  options.device_affine = Affine{{0.5, 1.0}, {128, 127}, 2};
  m = compare_tensors(real, codes, options);
  ASSERT_TRUE(m);
  EXPECT_EQ(m->device_min, -127);
  EXPECT_EQ(m->max_abs, 63);
}

TEST(PairMetrics, TolerancesOfLongIntegersAreExact) {
  const int64_t big = (int64_t{1} << 53) + 1;
  const auto x = tensor_from_values<int64_t>(DType::kI64, {2}, {big - 1, 5});
  const auto y = tensor_from_values<int64_t>(DType::kI64, {2}, {big, 5});
  MetricOptions options;
  options.atol = 0;
  options.rtol = 0;
  auto m = compare_tensors(x, y, options);
  ASSERT_TRUE(m);
  EXPECT_EQ(m->outside, 1u);
  options.atol = 1;
  EXPECT_EQ(compare_tensors(x, y, options)->outside, 0u);
  const auto u = tensor_from_values<uint64_t>(DType::kU64, {2}, {~uint64_t{0}, 5});
  const auto s = tensor_from_values<int64_t>(DType::kI64, {2}, {-1, 5});
  EXPECT_EQ(compare_tensors(s, u, options)->outside, 1u);
}

TEST(PairMetrics, ZerosAreCounted) {
  const auto x = tensor_from_values<float>(DType::kF32, {5}, {0.0f, -0.0f, 1, NAN, 0});
  const auto y = tensor_from_values<float>(DType::kF32, {5}, {0.0f, 2, 0, 0, 0});
  auto m = compare_tensors(x, y, {});
  ASSERT_TRUE(m);
  EXPECT_EQ(m->reference_zeros, 3u);
  EXPECT_EQ(m->device_zeros, 3u);  // the zero against NaN is no pair
  const auto u = tensor_from_values<uint8_t>(DType::kU8, {3}, {0, 128, 0});
  EXPECT_EQ(compare_tensors(u, u, {})->reference_zeros, 2u);
}

}  // namespace
}  // namespace paritas::metrics
