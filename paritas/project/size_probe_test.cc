#include "paritas/project/size_probe.h"

#include <gmock/gmock.h>

namespace paritas {
namespace {

using ::testing::HasSubstr;

// Two boxes of a postprocessor that multiplies x by `x` and y by `y`.
Tensor boxes(float x, float y, bool y_first = false) {
  std::vector<float> values;
  for (float at : {0.25F, 0.5F}) {
    const std::vector<float> row = {at * x, at * y, (at + 0.25F) * x, (at + 0.125F) * y};
    for (size_t i : {0, 1, 2, 3}) values.push_back(row[y_first ? i ^ 1U : i]);
  }
  return tensor_from_values(DType::kF32, {1, 2, 4}, values);
}

SizeProbeResult conclude(const Tensor& plain, const Tensor& first, const Tensor& second,
                         const std::string& declared = "", BoxFormat format = BoxFormat::kXyxy) {
  SizeProbeResult result;
  result.input = "size";
  result.boxes = "boxes";
  result.declared = declared;
  const auto done = conclude_size_probe(plain, first, second, format, result);
  EXPECT_TRUE(done.has_value()) << (done ? "" : done.error().message());
  return result;
}

TEST(SizeProbe, TellsWidthFirstFromHeightFirst) {
  EXPECT_EQ(conclude(boxes(64, 48), boxes(128, 48), boxes(64, 96)).found, "wh");
  EXPECT_EQ(conclude(boxes(64, 48), boxes(64, 96), boxes(128, 48)).found, "hw");
  EXPECT_EQ(conclude(boxes(64, 48, true), boxes(128, 48, true), boxes(64, 96, true), "", BoxFormat::kYxyx).found, "wh");
  EXPECT_EQ(conclude(boxes(64, 48), boxes(128, 48), boxes(64, 96), "", BoxFormat::kCxcywh).found, "wh");
}

TEST(SizeProbe, SaysWhenItCannotTell) {
  EXPECT_EQ(conclude(boxes(64, 48), boxes(64, 48), boxes(64, 48)).found, "");   // the input is not read
  EXPECT_EQ(conclude(boxes(64, 48), boxes(128, 96), boxes(64, 48)).found, "");  // one scale for both
  EXPECT_EQ(conclude(boxes(64, 48), boxes(128, 48), boxes(64, 48)).found, "");  // half an answer is none
  EXPECT_EQ(conclude(boxes(0, 0), boxes(0, 0), boxes(0, 0)).found, "");
  EXPECT_THAT(conclude(boxes(64, 48), boxes(64, 48), boxes(64, 48)).text, HasSubstr("doubles nothing"));
  const Tensor one = tensor_from_values(DType::kF32, {1, 1, 4}, std::vector<float>{1, 2, 3, 4});
  EXPECT_THAT(conclude(boxes(64, 48), one, one).text, HasSubstr("the number of boxes depends on the size input"));
}

TEST(SizeProbe, ContradictedOrderIsInvalid) {
  EXPECT_EQ(conclude(boxes(64, 48), boxes(128, 48), boxes(64, 96), "wh").verdict, Verdict::kPass);
  const auto wrong = conclude(boxes(64, 48), boxes(128, 48), boxes(64, 96), "hw");
  EXPECT_EQ(wrong.verdict, Verdict::kInvalid);
  EXPECT_THAT(wrong.text, HasSubstr("the model reads [width, height], but [height, width] is declared"));
  EXPECT_EQ(conclude(boxes(64, 48), boxes(64, 48), boxes(64, 48), "hw").verdict, Verdict::kNotJudged);
}

TEST(SizeProbe, RefusesWhatIsNoBoxes) {
  SizeProbeResult result;
  const Tensor scores = tensor_from_values(DType::kF32, {1, 3}, std::vector<float>{1, 2, 3});
  EXPECT_FALSE(conclude_size_probe(scores, scores, scores, BoxFormat::kXyxy, result).has_value());
}

}  // namespace
}  // namespace paritas
