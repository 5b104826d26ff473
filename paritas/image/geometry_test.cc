#include "paritas/image/geometry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace paritas {
namespace {

using ::testing::HasSubstr;

ResizeStep letterbox(int64_t width, int64_t height) {
  ResizeStep step;
  step.mode = ResizeMode::kLetterbox;
  step.width = width;
  step.height = height;
  return step;
}

TEST(Geometry, LetterboxPutsTheOddPixelRightAndBelow) {
  const auto plan = plan_geometry({}, letterbox(640, 640), 1279, 715, "x");
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->resized_width, 640);
  EXPECT_EQ(plan->resized_height, 358);  // 357.78
  EXPECT_EQ(plan->pad_top, 141);
  EXPECT_EQ(plan->pad_bottom, 141);
  const auto odd = plan_geometry({}, letterbox(640, 641), 1280, 720, "x");
  EXPECT_EQ(odd->pad_top, 140);
  EXPECT_EQ(odd->pad_bottom, 141);
}

TEST(Geometry, LetterboxOfAThreadKeepsOnePixel) {
  const auto plan = plan_geometry({}, letterbox(64, 64), 1, 5000, "x");
  EXPECT_EQ(plan->resized_width, 1);
  EXPECT_EQ(plan->resized_height, 64);
}

TEST(Geometry, ShortSideRoundsDownAndTrimsToEven) {
  ResizeStep step;
  step.mode = ResizeMode::kShortSide;
  step.short_side = 256;
  step.width = step.height = 223;
  step.rounding = SizeRounding::kDown;
  const auto plan = plan_geometry({}, step, 451, 300, "x");
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->resized_width, 384);  // 384.85
  EXPECT_EQ(plan->resized_height, 256);
  EXPECT_EQ(plan->trim_left, 80);  // 80.5, ties to even
  EXPECT_EQ(plan->trim_top, 16);   // 16.5
  step.width = 400;
  EXPECT_THAT(plan_geometry({}, step, 451, 300, "x").error().cause, HasSubstr("smaller than the centre crop"));
}

TEST(Geometry, CentreCropInFractionsAndInPixels) {
  CropStep crop;
  crop.centre = 0.875;
  crop.edges = CropEdges::kBeyond;
  ResizeStep step;
  step.mode = ResizeMode::kDirect;
  step.width = step.height = 224;
  EXPECT_EQ(plan_geometry(crop, step, 451, 300, "x")->crop, (CropBox{94.25F, 18.75F, 356.75F, 281.25F}));
  crop.edges = CropEdges::kCut;
  EXPECT_EQ(plan_geometry(crop, step, 451, 300, "x")->crop, (CropBox{95, 19, 357, 281}));
}

TEST(Geometry, BoxesBeyondTheImageAreRefused) {
  CropStep crop;
  crop.box = {0, 0, 11, 10};
  EXPECT_THAT(plan_geometry(crop, {}, 10, 10, "x").error().cause, HasSubstr("reaches beyond the image of 10 x 10"));
  crop.box = {0, 0, 4.5, 10};
  EXPECT_THAT(plan_geometry(crop, {}, 10, 10, "x").error().cause, HasSubstr("not a whole pixel"));
  crop.box = {3, 0, 3, 10};
  EXPECT_THAT(plan_geometry(crop, {}, 10, 10, "x").error().cause, HasSubstr("leaves no pixel"));
}

RC_GTEST_PROP(Geometry, LetterboxFillsTheTensor, ()) {
  const auto side = [] { return *rc::gen::inRange<int64_t>(1, 3000); };
  ResizeStep step = letterbox(side(), side());
  step.placement = *rc::gen::element(Placement::kCentre, Placement::kTopLeft);
  step.rounding = *rc::gen::element(SizeRounding::kHalfEven, SizeRounding::kDown);
  const auto plan = plan_geometry({}, step, side(), side(), "x");
  RC_ASSERT(plan.has_value());
  RC_ASSERT(plan->pad_left >= 0 && plan->pad_top >= 0 && plan->pad_right >= 0 && plan->pad_bottom >= 0);
  RC_ASSERT(plan->pad_left + plan->resized_width + plan->pad_right == step.width);
  RC_ASSERT(plan->pad_top + plan->resized_height + plan->pad_bottom == step.height);
}

}  // namespace
}  // namespace paritas
