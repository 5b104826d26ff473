#include "paritas/task/detection.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>

#include "paritas/task/detection_testing.h"

namespace paritas {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Sample with_scores(const Sample& base, Tensor scores) {
  Sample sample = base;
  sample.tensors[1].second = std::move(scores);
  return sample;
}

TEST(Detection, EqualSidesMatchFully) {
  const auto result = check_rows(three(), three());
  EXPECT_EQ(figure(result, "valid_boxes"), 3);
  EXPECT_EQ(figure(result, "unmatched"), 0);
  EXPECT_EQ(figure(result, "matched_iou_min"), 1);
  EXPECT_EQ(figure(result, "max_score_difference"), 0);
  EXPECT_EQ(figure(result, "same_top_class"), 1);
  EXPECT_EQ(worst_issue(result), Verdict::kPass);
}

TEST(Detection, ClosedFormOfAShiftedBox) {
  auto device = three();
  device[0].box = {1, 0, 11, 10};  // 90 common of 110
  device[0].score = 0.85F;
  const auto result = check_rows(three(), device);
  EXPECT_DOUBLE_EQ(figure(result, "matched_iou_min"), 90.0 / 110);
  EXPECT_DOUBLE_EQ(figure(result, "matched_iou_mean"), (2 + 90.0 / 110) / 3);
  EXPECT_NEAR(figure(result, "max_score_difference"), 0.05, 1e-7);
  EXPECT_NEAR(figure(result, "top_score_difference"), 0.05, 1e-7);
}

TEST(Detection, ShuffledRowsChangeNothing) {
  auto device = three();
  std::swap(device[0], device[2]);
  const auto result = check_rows(three(), device);
  EXPECT_EQ(figure(result, "matched_iou_min"), 1);
  EXPECT_EQ(figure(result, "unmatched"), 0);
}

TEST(Detection, ALostBoxIsNoPass) {
  auto device = three();
  device[1].score = 0.1F;
  const auto result = check_rows(three(), device);
  EXPECT_EQ(figure(result, "unmatched"), 1);
  EXPECT_EQ(figure(result, "unmatched_reference"), 1);
  EXPECT_EQ(figure(result, "unmatched_beyond_near"), 1);
  EXPECT_EQ(absent(result, "matched_iou_min"), Verdict::kDeviates);
  EXPECT_EQ(absent(result, "max_score_difference"), Verdict::kDeviates);
}

TEST(Detection, ADeviceThatFindsNothingIsNoPass) {
  auto device = three();
  for (TestRow& row : device) row.score = 0;
  const auto result = check_rows(three(), device);
  EXPECT_EQ(figure(result, "unmatched"), 3);
  EXPECT_EQ(figure(result, "same_top_class"), 0);
  EXPECT_EQ(absent(result, "matched_iou_min"), Verdict::kDeviates);
  // And one that invents boxes where the reference has none.
  const auto invented = check_rows(device, three());
  EXPECT_EQ(figure(invented, "unmatched_device"), 3);
  EXPECT_EQ(absent(invented, "matched_iou_min"), Verdict::kDeviates);
  EXPECT_EQ(figure(invented, "same_top_class"), 0);
}

TEST(Detection, NothingOnBothSidesIsNotJudged) {
  auto rows = three();
  for (TestRow& row : rows) row.score = 0;
  for (const auto& result : {check_rows(rows, rows), check_rows({}, {})}) {
    EXPECT_EQ(worst_issue(result), Verdict::kNotJudged);
    for (const char* name : {"unmatched", "matched_iou_min", "max_score_difference", "same_top_class", "label_changes"})
      EXPECT_EQ(absent(result, name), Verdict::kNotJudged) << name;
    EXPECT_EQ(figure(result, "valid_boxes"), 0);
  }
}

TEST(Detection, ALabelChangeIsStatedAndStaysUnmatched) {
  auto device = three();
  device[0].label = 2;
  const auto result = check_rows(three(), device);
  EXPECT_EQ(figure(result, "label_changes"), 1);
  EXPECT_EQ(figure(result, "unmatched"), 2);
  EXPECT_EQ(figure(result, "same_top_class"), 0);
  EXPECT_TRUE(result.images[0].unmatched_reference[0].relabelled);
  EXPECT_EQ(absent(result, "matched_iou_min"), Verdict::kDeviates);
}

TEST(Detection, ANearTieForTheFirstPlaceIsStated) {
  auto x = three(), y = three();
  x[0].score = 0.9802F;
  x[1].score = 0.9798F;
  y[0].score = y[1].score = 0.98F;
  const auto tied = check_rows(x, y);
  EXPECT_EQ(figure(tied, "same_top_class"), 1);
  EXPECT_THAT(tied.outcome.notes, testing::Contains(HasSubstr("shares the first place")));
  y[0].score = 0.95F;
  EXPECT_EQ(figure(check_rows(x, y), "same_top_class"), 0);
}

TEST(Detection, PermutedClassesLoseEveryPartner) {
  auto device = three();
  for (TestRow& row : device) row.label = 3 - row.label;
  const auto result = check_rows(three(), device);
  EXPECT_EQ(figure(result, "label_changes"), 3);
  EXPECT_EQ(figure(result, "matched"), 0);
}

TEST(Detection, DuplicatedRowsAreUnmatched) {
  auto device = three();
  device.push_back(device[0]);
  EXPECT_EQ(figure(check_rows(three(), device), "unmatched_device"), 1);
}

TEST(Detection, AllBoxesEqualProveNothing) {
  auto rows = three();
  for (TestRow& row : rows) row.box = {0, 0, 160, 160};
  EXPECT_EQ(worst_issue(check_rows(rows, rows)), Verdict::kNotJudged);
  // On the device alone only one can find a partner.
  EXPECT_GE(figure(check_rows(three(), rows), "unmatched_reference"), 2);
}

TEST(Detection, AThresholdCrossingIsCoveredAndStated) {
  std::vector<TestRow> x = {{{0, 0, 10, 10}, 0.9F, 1}, {{50, 50, 60, 60}, 0.27F, 1}};
  auto y = x;
  y[1].score = 0.24F;
  y[1].box = {50, 50, 60, 59};
  const auto result = check_rows(x, y);
  EXPECT_EQ(figure(result, "unmatched"), 1);
  EXPECT_EQ(figure(result, "unmatched_beyond_near"), 0);
  EXPECT_EQ(figure(result, "threshold_crossings"), 1);
  EXPECT_DOUBLE_EQ(figure(result, "matched_iou_min"), 0.9);
  EXPECT_NEAR(figure(result, "max_score_difference"), 0.03, 1e-6);
  ASSERT_EQ(result.images[0].near.size(), 2U);
  EXPECT_TRUE(result.images[0].near[0].of_reference);
}

TEST(Detection, ScoresMustBeAboveTheThreshold) {
  std::vector<TestRow> x = {{{0, 0, 10, 10}, 0.25F, 1}, {{50, 50, 60, 60}, 0.5F, 1}};
  EXPECT_EQ(figure(check_rows(x, x), "valid_boxes"), 1);
}

TEST(Detection, TheSweepCountsAtEveryThreshold) {
  auto device = three();
  device[1].score = 0.42F;
  const auto result = check_rows(three(), device);
  ASSERT_EQ(result.sweep.size(), 19U);
  EXPECT_DOUBLE_EQ(result.sweep[7].threshold, 0.4);
  EXPECT_EQ(result.sweep[7].matched, 3U);
  EXPECT_DOUBLE_EQ(result.sweep[8].threshold, 0.45);
  EXPECT_EQ(result.sweep[8].unmatched_reference, 1U);
  EXPECT_EQ(result.sweep[18].reference, 0U);
  EXPECT_FALSE(result.sweep[18].iou_min.has_value());
}

TEST(Detection, NanIsNeverMatched) {
  auto device = three();
  device[0].score = kNan;
  const auto scores = check_rows(three(), device);
  EXPECT_EQ(worst_issue(scores), Verdict::kDeviates);
  EXPECT_EQ(figure(scores, "unmatched_reference"), 1);
  device = three();
  device[0].box[2] = kNan;
  const auto boxes = check_rows(three(), device);
  EXPECT_EQ(worst_issue(boxes), Verdict::kDeviates);
  EXPECT_EQ(figure(boxes, "unmatched_reference"), 1);
  const auto both = check_rows(device, device);
  EXPECT_EQ(worst_issue(both), Verdict::kInvalid);
  auto padded = three();  // NaN in rows that no one looks at excuses none above the threshold
  padded.push_back({{kNan, kNan, kNan, kNan}, 0.01F, 1});
  auto extra = three();
  extra.push_back({{kNan, 0, 1, 1}, 0.9F, 1});
  EXPECT_EQ(worst_issue(check_rows(padded, extra)), Verdict::kDeviates);
  device[0].score = 0.01F;  // a bad row that no one looks at still tells of a bad device
  EXPECT_EQ(worst_issue(check_rows(three(), device)), Verdict::kDeviates);
}

TEST(Detection, DegenerateBoxesAreReported) {
  auto device = three();
  device[0].box = {10, 0, 0, 10};
  const auto result = check_rows(three(), device);
  EXPECT_EQ(worst_issue(result), Verdict::kDeviates);
  EXPECT_EQ(result.images[0].device_bad.no_area, 1U);
  EXPECT_EQ(figure(result, "unmatched_reference"), 1);
}

TEST(Detection, AWrongBoxFormatIsInvalid) {
  auto rows = three();
  for (TestRow& row : rows) row.box = {100, 100, 10, 20};  // xywh read as xyxy
  const auto negative = check_rows(rows, rows);
  EXPECT_EQ(worst_issue(negative), Verdict::kInvalid);
  DetectionSpec spec = test_spec();
  spec.format = BoxFormat::kXywh;
  spec.image_width = 160;
  spec.image_height = 160;
  auto corners = three();
  for (TestRow& row : corners) row.box = {100, 100, 140, 150};  // xyxy read as xywh: reaches 240
  EXPECT_EQ(worst_issue(check_samples(spec, detections(corners), detections(corners))), Verdict::kInvalid);
}

TEST(Detection, AWrongUnitIsInvalid) {
  DetectionSpec spec = test_spec();
  spec.units = BoxUnits::kNormalised;
  EXPECT_EQ(worst_issue(check_samples(spec, detections(three()), detections(three()))), Verdict::kInvalid);
  auto small = three();
  for (TestRow& row : small)
    for (float& v : row.box) v /= 160;
  EXPECT_EQ(worst_issue(check_rows(small, small)), Verdict::kInvalid);
  EXPECT_EQ(worst_issue(check_samples(spec, detections(small), detections(small))), Verdict::kPass);
}

TEST(Detection, HugeBoxesAreNamed) {
  DetectionSpec spec = test_spec();
  spec.image_width = spec.image_height = 160;
  const std::vector<TestRow> rows = {{{0, 0, 160, 160}, 0.9F, 1}};
  const auto result = check_samples(spec, detections(rows), detections(rows));
  EXPECT_THAT(result.outcome.does_not_show, testing::Contains(HasSubstr("cover nearly the whole image")));
}

TEST(Detection, EveryFormatGivesTheSameBox) {
  const std::vector<std::pair<BoxFormat, std::vector<float>>> forms = {{BoxFormat::kXyxy, {10, 20, 30, 50}},
                                                                       {BoxFormat::kXywh, {10, 20, 20, 30}},
                                                                       {BoxFormat::kCxcywh, {20, 35, 20, 30}},
                                                                       {BoxFormat::kYxyx, {20, 10, 50, 30}}};
  for (const auto& [format, values] : forms) {
    DetectionSpec spec = test_spec();
    spec.format = format;
    const Sample s = detections({{values, 0.9F, 1}});
    EXPECT_EQ(check_samples(spec, s, s).images[0].reference[0].box, (Box{10, 20, 30, 50})) << name(format);
  }
}

TEST(Detection, ScoresPerClass) {
  DetectionSpec spec = test_spec();
  spec.labels.clear();
  const Sample base = detections(three());
  const Sample x = with_scores(
      base, tensor_from_values<float>(DType::kF32, {1, 3, 3}, {0.1F, 0.9F, 0, 0, 0, 0.8F, 0.3F, 0.3F, 0.1F}));
  const auto result = check_samples(spec, x, x);
  EXPECT_EQ(result.images[0].reference[0].label, 1);
  EXPECT_EQ(result.images[0].reference[1].label, 2);
  EXPECT_EQ(result.images[0].reference[2].label, 0);
  EXPECT_EQ(result.images[0].reference_bad.class_ties, 1U);
  EXPECT_EQ(figure(result, "same_top_class"), 1);
  // The same without a batch dimension.
  Sample flat = with_scores(base, tensor_from_values<float>(DType::kF32, {3, 2}, {0.1F, 0.9F, 0, 0.8F, 0.3F, 0.2F}));
  flat.tensors[0].second.shape = {3, 4};
  EXPECT_EQ(check_samples(spec, flat, flat).reference_boxes, 3U);
}

TEST(Detection, ABackgroundClassMustBeDeclared) {
  DetectionSpec spec = test_spec();
  spec.labels.clear();
  const Sample x = with_scores(
      detections(three()), tensor_from_values<float>(DType::kF32, {1, 3, 2}, {0.9F, 0.1F, 0.2F, 0.8F, 0.99F, 0.01F}));
  EXPECT_THAT(error(spec, x), HasSubstr("declare background"));
  spec.background = 0;
  const auto result = check_samples(spec, x, x);
  EXPECT_EQ(result.reference_boxes, 1U);
  EXPECT_EQ(absent(result, "same_top_class"), Verdict::kNotJudged);
  spec.background.reset();
  spec.no_background = true;
  EXPECT_EQ(check_samples(spec, x, x).reference_boxes, 3U);
}

TEST(Detection, LogitsBecomeConfidences) {
  DetectionSpec spec = test_spec();
  spec.score_values = ScoreValues::kSigmoidLogits;
  const Sample x = with_scores(detections(three()), tensor_from_values<float>(DType::kF32, {1, 3}, {0, 3, -5}));
  const auto result = check_samples(spec, x, x);
  EXPECT_EQ(result.reference_boxes, 2U);
  EXPECT_DOUBLE_EQ(result.images[0].reference[1].score, 0.5);
  EXPECT_THAT(error(spec, detections(three())), HasSubstr("every value is in [0, 1]"));
  EXPECT_THAT(error(test_spec(), x), HasSubstr("no confidence in [0, 1]"));
  spec.score_values = ScoreValues::kSoftmaxLogits;
  spec.labels.clear();
  spec.background = 0;
  const Sample y = with_scores(x, tensor_from_values<float>(DType::kF32, {1, 3, 2}, {0, 5, 5, 0, kNan, 0}));
  const auto softmax = check_samples(spec, y, y);
  EXPECT_EQ(softmax.reference_boxes, 1U);
  EXPECT_EQ(softmax.images[0].reference_bad.nonfinite_scores, 1U);
}

TEST(Detection, DeclarationsThatDoNotFitAreErrors) {
  const Sample x = detections(three());
  DetectionSpec spec = test_spec();
  spec.scores = "conf";
  EXPECT_THAT(error(spec, x), HasSubstr("it has boxes, scores, labels"));
  EXPECT_THAT(error(test_spec(), with_scores(x, tensor_from_values<float>(DType::kF32, {1, 2}, {1, 1}))),
              HasSubstr("[1,2] does not fit boxes of [1,3,4]"));
  EXPECT_THAT(error(test_spec(), with_scores(x, tensor_from_values<float>(DType::kF32, {1, 3, 1}, {1, 1, 1}))),
              HasSubstr("no error"));
  spec = test_spec();
  spec.boxes = "labels";
  EXPECT_THAT(error(spec, x), HasSubstr("boxes cannot be read from [1,3]"));
  spec = test_spec();
  spec.class_names = {"a", "b"};
  EXPECT_THAT(error(spec, x), HasSubstr("label 2 of row 1 has no class name"));
  Sample quantised = with_scores(x, tensor_from_values<uint8_t>(DType::kU8, {1, 3}, {200, 100, 0}));
  EXPECT_THAT(error(test_spec(), quantised), HasSubstr("without scale and zero point"));
}

TEST(Detection, ADeviceOfAnotherShapeDeviates) {
  const Sample x = detections(three());
  Sample missing = x;
  missing.tensors.erase(missing.tensors.begin() + 1);
  const Sample misshaped = with_scores(x, tensor_from_values<float>(DType::kF32, {1, 2}, {1, 1}));
  for (const Sample& y : {missing, misshaped}) {
    const auto result = check_samples(test_spec(), x, y);
    EXPECT_EQ(result.outcome.issues[0].verdict, Verdict::kDeviates);
    EXPECT_EQ(absent(result, "unmatched"), Verdict::kInvalid);
  }
}

TEST(Detection, TheNumberOfRowsMayDiffer) {
  auto device = three();
  device.pop_back();
  EXPECT_EQ(figure(check_rows(three(), device), "unmatched_reference"), 1);
}

TEST(Detection, ColumnsOfBoxesAndScores) {
  DetectionSpec spec = test_spec();
  spec.labels.clear();
  spec.box_layout = spec.score_layout = RowLayout::kColumns;
  Sample x;
  x.tensors.emplace_back(  // as three()
      "boxes", tensor_from_values<float>(DType::kF32, {1, 4, 3}, {0, 100, 0, 0, 0, 100, 10, 120, 30, 10, 20, 130}));
  x.tensors.emplace_back("scores",
                         tensor_from_values<float>(DType::kF32, {1, 2, 3}, {0.9F, 0.1F, 0.2F, 0.3F, 0.8F, 0.7F}));
  const auto result = check_samples(spec, x, x);
  ASSERT_EQ(result.reference_boxes, 3U);
  EXPECT_EQ(result.images[0].reference[0].box, (Box{0, 0, 10, 10}));
  EXPECT_EQ(result.images[0].reference[0].label, 0);
  EXPECT_EQ(result.images[0].reference[1].box, (Box{100, 0, 120, 20}));
  EXPECT_EQ(result.images[0].reference[1].label, 1);
  EXPECT_EQ(to_json(result)["declared"]["box_layout"], "columns");
  // The other way about is an error, not another set of boxes.
  spec.box_layout = RowLayout::kRows;
  EXPECT_THAT(error(spec, x), HasSubstr("box_layout = \"columns\""));
  spec.box_layout = RowLayout::kColumns;
  EXPECT_THAT(error(spec, detections(three())), HasSubstr("its columns taken as rows: boxes cannot be read"));
  spec.score_layout = RowLayout::kRows;
  EXPECT_THAT(error(spec, x), HasSubstr("score_layout = \"columns\""));
  spec.score_layout = RowLayout::kColumns;
  x.tensors[1].second = tensor_from_values<float>(DType::kF32, {3}, {0.9F, 0.8F, 0.7F});
  EXPECT_THAT(error(spec, x), HasSubstr("[3] has no columns"));
}

TEST(Detection, BatchesAndFloatLabels) {
  Sample x;
  x.id = "s";
  x.tensors.emplace_back("boxes", tensor_from_values<float>(DType::kF32, {2, 1, 4}, {0, 0, 10, 10, 20, 20, 40, 40}));
  x.tensors.emplace_back("scores", tensor_from_values<float>(DType::kF32, {2, 1}, {0.9F, 0.8F}));
  x.tensors.emplace_back("labels", tensor_from_values<float>(DType::kF32, {2, 1}, {1, 2}));
  Sample y = x;
  y.tensors[2].second = tensor_from_values<float>(DType::kF32, {2, 1}, {1, 1.5F});
  const auto result = check_samples(test_spec(), x, y);
  EXPECT_EQ(result.images.size(), 2U);
  EXPECT_EQ(worst_issue(result), Verdict::kDeviates);  // 1.5 is no class
  EXPECT_THAT(error(test_spec(), y), HasSubstr("no whole number"));
}

TEST(Detection, ThinSamplesSaySo) {
  const auto result = check_rows(three(), three());
  EXPECT_THAT(result.outcome.does_not_show, testing::Contains(HasSubstr("average precision")));
  EXPECT_THAT(result.outcome.does_not_show, testing::Contains(HasSubstr("one image")));
  EXPECT_THAT(result.outcome.does_not_show, testing::Contains(HasSubstr("3 boxes are a thin sample")));
}

TEST(Detection, TooManyOverlapsAreRefusedOrLeftOut) {
  std::vector<TestRow> many;
  for (int i = 0; i < 2100; ++i) many.push_back({{0, 0, 100.0F + static_cast<float>(i) / 100, 100}, 0.9F, 1});
  EXPECT_THAT(error(test_spec(), detections(many)), HasSubstr("raise the threshold"));
  for (size_t i = 10; i < many.size(); ++i) many[i].score = 0.1F;
  const auto result = check_rows(many, many);
  EXPECT_EQ(result.matched, 10U);
  EXPECT_TRUE(result.images[0].incomplete);
  EXPECT_EQ(result.sweep.front().threshold, 0.2);
}

TEST(Detection, JsonHoldsEverything) {
  auto device = three();
  device[1].score = 0.24F;
  const Json json = to_json(check_rows(three(), device));
  EXPECT_EQ(json["images"][0]["unmatched_reference"].size(), 1U);
  EXPECT_EQ(json["declared"]["format"], "xyxy");
  EXPECT_EQ(json["outcome"]["absent"][0]["verdict"], "deviates");
  EXPECT_EQ(json["sweep"].size(), 19U);
}

}  // namespace
}  // namespace paritas
