#include "paritas/runtime/sim/integers.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>

#include "paritas/recording/recording.h"

namespace paritas::sim {
namespace {

using ::testing::HasSubstr;

std::vector<float> quantised(const std::vector<float>& values, const Steps& steps) {
  std::vector<float> out(values.size());
  fake_quantise(values, out, steps);
  return out;
}

TEST(Steps, CoverTheRangeAndZero) {
  const Steps signed_steps = steps_of(-1, 3, DType::kI8, false);
  EXPECT_FLOAT_EQ(signed_steps.scale, 4.0f / 255);
  EXPECT_EQ(signed_steps.zero_point, -64);  // -128 + 63.75
  const Steps unsigned_steps = steps_of(-1, 3, DType::kU8, false);
  EXPECT_EQ(unsigned_steps.zero_point, signed_steps.zero_point + 128);
  EXPECT_EQ(unsigned_steps.scale, signed_steps.scale);
  // A range that does not reach 0 is widened to it.
  EXPECT_EQ(steps_of(2, 4, DType::kI8, false).zero_point, -128);
  EXPECT_FLOAT_EQ(steps_of(2, 4, DType::kI8, false).scale, 4.0f / 255);
  EXPECT_EQ(steps_of(-4, -2, DType::kI8, false).zero_point, 127);
  const Steps wide = steps_of(0, 65535, DType::kU16, false);
  EXPECT_EQ(wide.scale, 1);
  EXPECT_EQ(wide.highest, 65535);
}

TEST(Steps, SymmetricOnesLeaveOutTheLowestCode) {
  const Steps steps = steps_of(-2.54f, 1, DType::kI8, true);
  EXPECT_EQ(steps.lowest, -127);
  EXPECT_EQ(steps.zero_point, 0);
  EXPECT_FLOAT_EQ(steps.scale, 0.02f);
  EXPECT_EQ(steps_of(-1, 1, DType::kI16, true).lowest, -32767);
}

TEST(Steps, NothingButZeroHasScaleOne) {
  for (const bool symmetric : {false, true}) {
    EXPECT_EQ(steps_of(0, 0, DType::kI8, symmetric).scale, 1);
    const Steps tiny = steps_of(0, std::numeric_limits<float>::denorm_min(), DType::kI8, symmetric);
    EXPECT_GT(tiny.scale, 0);
    EXPECT_TRUE(std::isfinite(quantised({1}, tiny)[0]));
  }
  // The widest range there is.
  const float most = std::numeric_limits<float>::max();
  EXPECT_TRUE(std::isfinite(steps_of(-most, most, DType::kI8, false).scale));
}

TEST(FakeQuantise, RoundsTiesToEvenBeforeTheZeroPoint) {
  // Zero point -127: where the point is added first, 0.5 - 127 and 1.5 - 127 round to even codes of the other parity.
  const Steps steps{1, -127, -128, 127};
  EXPECT_EQ(quantised({0.5f, 1.5f, 2.5f, -0.5f, 0.49f, 0.51f}, steps), (std::vector<float>{0, 2, 2, 0, 0, 1}));
}

TEST(FakeQuantise, SaturatesAtBothEnds) {
  const Steps steps{0.5f, 10, -128, 127};
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(quantised({58.5f, 59, 1e30f, inf, -69, -69.5f, -inf}, steps),
            (std::vector<float>{58.5f, 58.5f, 58.5f, 58.5f, -69, -69, -69}));
  EXPECT_TRUE(std::isnan(quantised({std::numeric_limits<float>::quiet_NaN()}, steps)[0]));
}

TEST(FakeQuantise, IsExactOnItsOwnValues) {
  for (const DType codes : {DType::kI8, DType::kU8, DType::kI16, DType::kU16}) {
    const Steps steps = steps_of(-0.7f, 1.9f, codes, false);
    std::vector<float> grid;
    for (int code = steps.lowest; code <= steps.highest; ++code)
      grid.push_back(static_cast<float>(code - steps.zero_point) * steps.scale);
    EXPECT_EQ(quantised(grid, steps), grid) << name(codes);
  }
}

class Ranges : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = ScratchFolder::create(::testing::TempDir());
    ASSERT_TRUE(made.has_value());
    scratch_.emplace(std::move(*made));
  }

  static Tensor floats(const std::vector<float>& values) {
    return tensor_from_values(DType::kF32, {static_cast<int64_t>(values.size())}, values);
  }

  Path record(const std::vector<NamedTensors>& samples, const std::string& model = "abc") {
    const Path folder = scratch_->path() / "recording";
    auto writer = RecordingWriter::create(folder, true);
    EXPECT_TRUE(writer.has_value());
    for (const auto& sample : samples) EXPECT_TRUE(writer->add_sample(sample).has_value());
    RunInfo info;
    info.model_sha256 = model;
    info.target = "cpu";
    for (const auto& [name, tensor] : samples.front()) info.tensors.push_back({name, tensor.dtype, {}, {}, {}, {}, {}});
    EXPECT_TRUE(writer->finish(info).has_value());
    return folder;
  }

  std::optional<ScratchFolder> scratch_;
};

TEST_F(Ranges, AreTakenOverAllSamples) {
  const Tensor ids = tensor_from_values(DType::kI64, {1}, std::vector<int64_t>{7});
  const float inf = std::numeric_limits<float>::infinity();
  const Path folder = record({{{"a", floats({1, -2})}, {"b", floats({0, 1})}, {"ids", ids}},
                              {{"a", floats({5, 0})}, {"b", floats({-inf, 3})}, {"ids", ids}}});
  Integers integers;
  const Status read = read_ranges(folder, integers);
  ASSERT_TRUE(read.has_value()) << read.error().message();
  EXPECT_EQ(integers.samples, 2U);
  EXPECT_EQ(integers.ranges["a"].min, -2);
  EXPECT_EQ(integers.ranges["a"].max, 5);
  EXPECT_EQ(integers.ranges["a"].not_finite, "");
  EXPECT_EQ(integers.ranges["b"].not_finite, "sample-000001");
  EXPECT_EQ(integers.ranges["ids"].dtype, DType::kI64);
}

TEST_F(Ranges, NeedARecordingThatNamesItsModel) {
  Integers integers;
  const Status none = read_ranges(scratch_->path() / "absent", integers);
  ASSERT_FALSE(none.has_value());
  EXPECT_THAT(none.error().message(), HasSubstr("is no recording"));
  const Status nameless = read_ranges(record({{{"a", floats({1})}}}, ""), integers);
  ASSERT_FALSE(nameless.has_value());
  EXPECT_THAT(nameless.error().message(), HasSubstr("which model"));
}

}  // namespace
}  // namespace paritas::sim
