#include "paritas/locate/nms_ties.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paritas/locate/testing.h"

namespace paritas {
namespace {

using ::testing::SizeIs;

Tensor floats(Shape shape, const std::vector<float>& values) {
  return tensor_from_values(DType::kF32, std::move(shape), values);
}

// Boxes of one batch and class.
Tensor kept(const std::vector<int64_t>& boxes) {
  std::vector<int64_t> rows;
  for (const int64_t box : boxes) rows.insert(rows.end(), {0, 0, box});
  return tensor_from_values(DType::kI64, {static_cast<int64_t>(boxes.size()), 3}, rows);
}

// 0 and 1 overlap by 0.6, 1 and 2 by 1/3; 3 lies elsewhere. Corners are not in order.
NmsInputs four() {
  NmsInputs inputs;
  inputs.boxes = floats({1, 4, 4}, {0, 0, 4, 1, 5, 1, 1, 0, 3, 0, 7, 1, 20, 20, 21, 21});
  inputs.scores = floats({1, 1, 4}, {0.875F, 0.75F, 0.5F, 0.25F});
  inputs.most_per_class = 4;
  inputs.iou_threshold = 0.5;
  return inputs;
}

TEST(NmsTies, IntersectionOverUnion) {
  const double a[] = {0, 0, 4, 1}, b[] = {5, 1, 1, 0}, far[] = {9, 9, 10, 10}, empty[] = {0, 0, 0, 4};
  EXPECT_DOUBLE_EQ(intersection_over_union(a, b, false), 0.6);
  EXPECT_EQ(intersection_over_union(a, far, false), 0);
  EXPECT_EQ(intersection_over_union(empty, empty, false), 0);
  const double centre[] = {2, 0.5, 4, 1}, other[] = {3, 0.5, 4, 1};
  EXPECT_DOUBLE_EQ(intersection_over_union(centre, other, true), 0.6);
}

TEST(NmsTies, AnOverlapAtTheThreshold) {
  NmsInputs inputs = four();
  inputs.iou_threshold = 0.59;  // 1 is suppressed by 0; the device keeps it
  const auto tie = tie_of_suppression(inputs, kept({0, 2, 3}), kept({0, 1, 2, 3})).value();
  ASSERT_THAT(tie.boxes, SizeIs(1));
  EXPECT_EQ(tie.boxes[0].box, 1U);
  EXPECT_FALSE(tie.boxes[0].kept);
  EXPECT_NEAR(*tie.margin, 0.01, 1e-12);
  EXPECT_EQ(tie.margin_of, "overlap");
  EXPECT_EQ(tie.boxes[0].competitor, 0U);
}

TEST(NmsTies, ChangedPlacesAreOneTieAndWhatFollows) {
  // The device scores 1 above 0: it keeps 1 and drops 0. That 1 is kept follows from 0 being dropped.
  const auto tie = tie_of_suppression(four(), kept({0, 2, 3}), kept({1, 2, 3})).value();
  ASSERT_THAT(tie.boxes, SizeIs(2));
  EXPECT_TRUE(tie.boxes[0].kept);
  EXPECT_EQ(tie.boxes[0].margin, 0.125);
  EXPECT_EQ(tie.boxes[0].margin_of, "score");
  EXPECT_TRUE(tie.boxes[1].follows);
  EXPECT_FALSE(tie.boxes[1].margin);
  EXPECT_EQ(tie.margin, 0.125);
  EXPECT_EQ(tie.compared, 1U);
}

TEST(NmsTies, TheScoreThreshold) {
  NmsInputs inputs = four();
  inputs.score_threshold = 0.1875;
  const auto lost = tie_of_suppression(inputs, kept({0, 2, 3}), kept({0, 2})).value();
  EXPECT_EQ(lost.margin, 0.0625);
  EXPECT_EQ(lost.margin_of, "score threshold");
  inputs.score_threshold = 0.3125;
  const auto gained = tie_of_suppression(inputs, kept({0, 2}), kept({0, 2, 3})).value();
  EXPECT_EQ(gained.margin, 0.0625);
  EXPECT_FALSE(gained.boxes[0].kept);
}

TEST(NmsTies, AFullListLeavesTheScoresToDecide) {
  NmsInputs inputs = four();
  inputs.most_per_class = 2;
  const auto tie = tie_of_suppression(inputs, kept({0, 2}), kept({0, 3})).value();
  ASSERT_THAT(tie.boxes, SizeIs(2));
  EXPECT_EQ(tie.boxes[0].box, 2U);
  EXPECT_EQ(tie.boxes[0].margin, 0.25);  // 3 would have to overtake it
  EXPECT_TRUE(tie.boxes[1].follows);     // with 2 gone there is room
}

TEST(NmsTies, AllThatSuppressMustGiveWay) {
  NmsInputs inputs = four();
  inputs.iou_threshold = 0.25;  // 1 overlaps with 0 (0.6) and with 2 (1/3)
  inputs.scores = floats({1, 1, 4}, {0.875F, 0.5F, 0.5625F, 0.25F});
  const auto tie = tie_of_suppression(inputs, kept({0, 2, 3}), kept({0, 1, 2, 3})).value();
  EXPECT_NEAR(*tie.margin, 0.35, 1e-12);  // 2 by its score, 0.0625; 0 by the overlap
  EXPECT_EQ(tie.boxes[0].competitor, 0U);
}

TEST(NmsTies, NothingChangedHasNoMargin) {
  const auto tie = tie_of_suppression(four(), kept({0, 2, 3}), kept({3, 2, 0})).value();
  EXPECT_FALSE(tie.margin);
  EXPECT_THAT(tie.boxes, SizeIs(0));
  EXPECT_EQ(tie.not_taken, "");
}

TEST(NmsTies, WhatDoesNotFitIsRefused) {
  EXPECT_EQ(tie_of_suppression(four(), kept({0}), kept({7})).error().cause, "an index lies beyond the boxes");
  NmsInputs inputs = four();
  inputs.scores = floats({1, 1, 3}, {1, 2, 3});
  EXPECT_FALSE(tie_of_suppression(inputs, kept({0}), kept({0})));
}

}  // namespace
}  // namespace paritas
