// The same bits for any number of threads, any instruction set, from files and from memory; and properties that hold
// for all data.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>

#include <unistd.h>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "hwy/targets.h"
#include "paritas/metrics/pair_metrics.h"
#include "paritas/metrics/test_tensors.h"

namespace paritas::metrics {
namespace {

// Random bytes are every kind of value: NaN, infinities, subnormals, extremes. Half of the pairs are made near instead.
std::pair<std::vector<std::byte>, std::vector<std::byte>> random_bytes(DType dtype, uint64_t count, bool wild,
                                                                       uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> x(byte_size(dtype, count)), y;
  for (auto& b : x) b = static_cast<std::byte>(random() & 255);
  const size_t width = std::max(1, bits(dtype) / 8);
  if (is_float(dtype) && !wild) {  // no largest exponent: all finite
    for (size_t i = width - 1; i < x.size(); i += width) x[i] &= std::byte{0xBF};
  }
  y = x;
  for (size_t i = 0; i < y.size(); i += width)
    if (random() % 4 != 0) y[i] ^= static_cast<std::byte>(random() & 7);  // the lowest bits
  return {std::move(x), std::move(y)};
}

MetricOptions all_options(DType dtype, int threads) {
  MetricOptions options;
  options.quantiles = true;
  options.atol = 1e-3;
  options.rtol = 1e-2;
  options.threads = threads;
  if (is_float(dtype)) options.storage_type = DType::kF16;
  return options;
}

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::vector<std::byte>& bytes, uint64_t offset) {
    static int number = 0;
    path_ = std::filesystem::temp_directory_path() / fmt::format("paritas-metrics-{}-{}", ::getpid(), number++);
    std::ofstream out(path_, std::ios::binary);
    out << std::string(offset, '#');
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  const Path& path() const { return path_; }

 private:
  Path path_;
};

class AllTypes : public ::testing::TestWithParam<int> {};

TEST_P(AllTypes, SameBitsForThreadsTargetsAndSources) {
  const auto dtype = static_cast<DType>(GetParam());
  // Several units of work, and a last block and tile that are not whole.
  const uint64_t blocks = bits(dtype) < 8 ? 16 : bits(dtype) == 8 ? 8 : 4;
  const uint64_t count = blocks * kBlockElements + 4099;
  for (bool wild : {false, true}) {
    const auto [x, y] = random_bytes(dtype, count, wild, 11);
    const Shape shape{static_cast<int64_t>(count)};
    const Tensor reference{dtype, shape, Bytes::in_memory(x)};
    const Tensor device{dtype, shape, Bytes::in_memory(y)};
    const auto first = compare_tensors(reference, device, all_options(dtype, 1));
    ASSERT_TRUE(first);
    const std::string expected = exact_text(*first);

    int targets = 0;
    for (int64_t all = hwy::SupportedTargets(); all != 0; all &= all - 1) {
      hwy::SetSupportedTargetsForTest(all & -all);
      for (int threads : {1, 2, 7})
        EXPECT_EQ(exact_text(*compare_tensors(reference, device, all_options(dtype, threads))), expected)
            << name(dtype) << ", " << threads << " threads, " << hwy::TargetName(all & -all);
      ++targets;
    }
    hwy::SetSupportedTargetsForTest(0);
    EXPECT_GE(targets, 2) << "nothing but one instruction set was tried";

    // Odd offsets: unaligned in the file, and unaligned in memory.
    const TemporaryFile x_file(x, 13), y_file(y, 0);
    const auto file = File::open(x_file.path());
    const auto other = File::open(y_file.path());
    ASSERT_TRUE(file && other);
    const Tensor in_file{dtype, shape, Bytes::in_file(*file, 13, x.size())};
    const Tensor in_other{dtype, shape, Bytes::in_file(*other, 0, y.size())};
    EXPECT_EQ(exact_text(*compare_tensors(in_file, in_other, all_options(dtype, 2))), expected);
    auto shifted = std::make_shared<std::vector<std::byte>>(x.size() + 1);
    std::copy(x.begin(), x.end(), shifted->begin() + 1);
    const Tensor unaligned{dtype, shape, Bytes::borrowed(std::span(*shifted).subspan(1), shifted)};
    EXPECT_EQ(exact_text(*compare_tensors(unaligned, in_other, all_options(dtype, 2))), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(DTypes, AllTypes, ::testing::Range(0, kDTypeCount),
                         [](const auto& dtype) { return std::string(name(static_cast<DType>(dtype.param))); });

// Unlike in random bytes, every term of a sum counts to the last bit: values of one magnitude within a block, each
// block smaller than the one before (else the order of blocks would hardly show).
std::pair<std::vector<double>, std::vector<double>> ordinary_doubles(uint64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::pair<std::vector<double>, std::vector<double>> sides;
  for (uint64_t i = 0; i < count; ++i) {
    const double size = std::pow(0.7, static_cast<double>(i / kBlockElements));
    sides.first.push_back(size * normal(random));
    sides.second.push_back(size * normal(random));
  }
  return sides;
}

// The promise of pair_metrics.h, followed literally: 8 lanes, blocks of 65,536, both added in index order.
double sum_by_definition(uint64_t count, const std::function<double(uint64_t)>& term) {
  double total = 0;
  for (uint64_t block = 0; block < count; block += kBlockElements) {
    double lanes[8] = {};
    for (uint64_t i = block; i < std::min(count, block + kBlockElements); ++i) lanes[i % 8] += term(i);
    double sum = lanes[0];
    for (int lane = 1; lane < 8; ++lane) sum += lanes[lane];
    total += sum;
  }
  return total;
}

void expect_sums_by_definition(uint64_t count, uint64_t seed) {
  const auto sides = ordinary_doubles(count, seed);
  const std::vector<double>& x = sides.first;
  const std::vector<double>& y = sides.second;
  const auto d = [&](uint64_t i) { return std::abs(y[i] - x[i]); };
  const double n = static_cast<double>(count);
  const double abs = sum_by_definition(count, d);
  const double difference2 = sum_by_definition(count, [&](uint64_t i) { return d(i) * d(i); });
  const double reference2 = sum_by_definition(count, [&](uint64_t i) { return x[i] * x[i]; });
  const double device2 = sum_by_definition(count, [&](uint64_t i) { return y[i] * y[i]; });
  for (int threads : {1, 2, 7}) {
    const auto m = compare_tensors(doubles(x), doubles(y), all_options(DType::kF64, threads));
    ASSERT_TRUE(m);
    EXPECT_EQ(m->mean_abs, abs / n);
    EXPECT_EQ(m->mse, difference2 / n);
    EXPECT_EQ(m->nmse, difference2 / reference2);
    EXPECT_EQ(m->scale_ratio, std::sqrt(device2) / std::sqrt(reference2));
  }
}

TEST(Reproducible, SumsFollowTheDefinition) {
  for (int64_t all = hwy::SupportedTargets(); all != 0; all &= all - 1) {
    SCOPED_TRACE(hwy::TargetName(all & -all));
    hwy::SetSupportedTargetsForTest(all & -all);
    expect_sums_by_definition(9 * kBlockElements + 1029, 17);
    // In short sums a single rounding shows: fused multiply-adds, or lanes added in another order.
    for (uint64_t seed = 0; seed < 50; ++seed) expect_sums_by_definition(61, seed);
  }
  hwy::SetSupportedTargetsForTest(0);
}

TEST(Reproducible, MixedTypesAndExtremeDoubles) {
  const uint64_t count = 3 * kBlockElements + 77;
  const auto [x, y] = random_bytes(DType::kF64, count, true, 5);
  const auto [h, unused] = random_bytes(DType::kF16, count, true, 6);
  const Shape shape{static_cast<int64_t>(count)};
  const Tensor wide{DType::kF64, shape, Bytes::in_memory(x)};
  const Tensor narrow{DType::kF16, shape, Bytes::in_memory(h)};
  const std::string expected = exact_text(*compare_tensors(wide, narrow, all_options(DType::kF64, 1)));
  for (int64_t all = hwy::SupportedTargets(); all != 0; all &= all - 1) {
    hwy::SetSupportedTargetsForTest(all & -all);
    for (int threads : {1, 2, 7})
      EXPECT_EQ(exact_text(*compare_tensors(wide, narrow, all_options(DType::kF64, threads))), expected)
          << threads << " threads, " << hwy::TargetName(all & -all);
  }
  hwy::SetSupportedTargetsForTest(0);
}

TEST(Reproducible, ReadErrorsAreReported) {
  const std::vector<std::byte> bytes(4096);
  const TemporaryFile x(bytes, 0);
  const auto file = File::open(x.path());
  ASSERT_TRUE(file);
  const Tensor tensor{DType::kF32, {1024}, Bytes::in_file(*file, 0, 4096)};
  std::filesystem::resize_file(x.path(), 100);  // behind our back
  const auto result = compare_tensors(tensor, tensor, {});
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message().find(x.path().string()), std::string::npos) << result.error().message();
}

std::pair<std::vector<float>, std::vector<float>> pair_of(const std::vector<std::pair<int16_t, int16_t>>& values) {
  std::pair<std::vector<float>, std::vector<float>> sides;
  for (auto [a, b] : values) {
    sides.first.push_back(static_cast<float>(a) * 0x1p-7F);
    sides.second.push_back(static_cast<float>(b) * 0x1p-7F);
  }
  return sides;
}

using Values = std::vector<std::pair<int16_t, int16_t>>;

RC_GTEST_PROP(Properties, DistancesAreSymmetric, (const Values& values)) {
  const auto [x, y] = pair_of(values);
  const auto there = compare_tensors(floats(x), floats(y), {});
  const auto back = compare_tensors(floats(y), floats(x), {});
  RC_ASSERT(there && back);
  RC_ASSERT(there->max_abs == back->max_abs);
  RC_ASSERT(there->max_abs_index == back->max_abs_index);
  RC_ASSERT(there->mse == back->mse);
  RC_ASSERT(there->max_ulp == back->max_ulp);
  RC_ASSERT(there->differing == back->differing);
  RC_ASSERT(there->cosine_distance == back->cosine_distance);
}

RC_GTEST_PROP(Properties, PowersOfTwoScaleEverything, (const Values& values)) {
  RC_PRE(!values.empty());
  auto [x, y] = pair_of(values);
  const auto plain = compare_tensors(floats(x), floats(y), {});
  for (auto* side : {&x, &y})
    for (float& v : *side) v *= 1024;
  MetricOptions options;
  options.rel_floor *= 1024;
  const auto scaled = compare_tensors(floats(x), floats(y), options);
  RC_ASSERT(plain && scaled);
  RC_ASSERT(scaled->max_abs == 1024 * plain->max_abs);
  RC_ASSERT(scaled->rmse == 1024 * plain->rmse);
  RC_ASSERT(scaled->nmse == plain->nmse);
  RC_ASSERT(scaled->cosine_distance == plain->cosine_distance);
  RC_ASSERT(scaled->scale_ratio == plain->scale_ratio);
  RC_ASSERT(scaled->max_rel == plain->max_rel);
}

RC_GTEST_PROP(Properties, FiguresAreOrdered, (const Values& values)) {
  RC_PRE(!values.empty());
  const auto [x, y] = pair_of(values);
  MetricOptions options;
  options.quantiles = true;
  const auto m = compare_tensors(floats(x), floats(y), options);
  RC_ASSERT(m.has_value());
  RC_ASSERT(m->mean_abs <= m->rmse * (1 + 1e-12));
  RC_ASSERT(m->rmse <= m->max_abs * (1 + 1e-12));
  const auto& q = *m->abs_quantiles;
  RC_ASSERT(q[0] <= q[1] && q[1] <= q[2] && q[2] <= q[3] && q[3] <= m->max_abs);
  RC_ASSERT(m->cosine_distance >= 0 && m->cosine_distance <= 2);
}

}  // namespace
}  // namespace paritas::metrics
