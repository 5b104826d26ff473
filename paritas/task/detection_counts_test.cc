// How many rows of an image count.
#include <limits>

#include <gmock/gmock.h>

#include "paritas/task/detection.h"
#include "paritas/task/detection_testing.h"

namespace paritas {
namespace {

using testing::HasSubstr;

// Rows of three(), two more that no detector may be asked about, and how many count.
Sample padded(int64_t count) {
  auto rows = three();
  rows.push_back({{std::numeric_limits<float>::quiet_NaN(), 0, 0, 0}, 7, 99});
  rows.push_back({{0, 0, 10, 10}, 0.95F, 1});
  Sample sample = detections(rows);
  sample.tensors.emplace_back("count", tensor_from_values<int32_t>(DType::kI32, {1, 1}, {static_cast<int32_t>(count)}));
  return sample;
}

TEST(Detection, RowsBehindTheCountAreIgnored) {
  DetectionSpec spec = test_spec();
  spec.num_detections = "count";
  spec.class_names = {"a", "b", "c"};
  const auto result = check_samples(spec, padded(3), padded(3));
  EXPECT_EQ(result.reference_boxes, 3U);
  EXPECT_EQ(figure(result, "unmatched"), 0);
  EXPECT_EQ(worst_issue(result), Verdict::kPass);
  EXPECT_EQ(to_json(result)["declared"]["num_detections"], "count");
  // A device that keeps fewer has lost boxes, even if their rows are still there.
  const auto fewer = check_samples(spec, padded(3), padded(2));
  EXPECT_EQ(figure(fewer, "unmatched_reference"), 1);
  EXPECT_EQ(check_samples(spec, padded(3), padded(0)).device_boxes, 0U);
}

TEST(Detection, ACountThatTheRowsCannotHoldIsNoPass) {
  DetectionSpec spec = test_spec();
  spec.num_detections = "count";
  EXPECT_THAT(error(spec, padded(6)), HasSubstr("\"count\": image 0 has 6 detections in 5 rows"));
  EXPECT_THAT(error(spec, padded(-1)), HasSubstr("image 0 has -1 detections in 5 rows"));
  EXPECT_THAT(error(spec, detections(three())), HasSubstr("\"count\""));
  const auto result = check_samples(spec, padded(3), padded(6));
  EXPECT_EQ(result.outcome.issues[0].verdict, Verdict::kDeviates);
  EXPECT_THAT(result.outcome.issues[0].text, HasSubstr("image 0 has 6 detections in 5 rows"));
  EXPECT_EQ(absent(result, "unmatched"), Verdict::kInvalid);
  Sample two = padded(3);
  two.tensors.back().second = tensor_from_values<float>(DType::kF32, {2}, {3, 3});
  EXPECT_THAT(error(spec, two), HasSubstr("[2] is not one number for each of 1 image"));
  two.tensors.back().second = tensor_from_values<float>(DType::kF32, {1}, {2.5F});
  EXPECT_THAT(error(spec, two), HasSubstr("no whole number"));
}

TEST(Detection, CountsAreOfEachImage) {
  DetectionSpec spec = test_spec();
  spec.labels.clear();
  spec.num_detections = "count";
  Sample x;
  x.tensors.emplace_back(
      "boxes",
      tensor_from_values<float>(DType::kF32, {2, 2, 4}, {0, 0, 10, 10, 9, 9, 9, 9, 20, 20, 40, 40, 50, 50, 60, 60}));
  x.tensors.emplace_back("scores", tensor_from_values<float>(DType::kF32, {2, 2}, {0.9F, 0.9F, 0.8F, 0.7F}));
  x.tensors.emplace_back("count", tensor_from_values<int64_t>(DType::kI64, {2}, {1, 2}));
  const auto result = check_samples(spec, x, x);
  ASSERT_EQ(result.images.size(), 2U);
  EXPECT_EQ(result.images[0].reference.size(), 1U);
  EXPECT_EQ(result.images[1].reference.size(), 2U);
  EXPECT_EQ(result.images[1].reference[1].row, 1U);
  EXPECT_EQ(result.images[1].reference[0].box, (Box{20, 20, 40, 40}));
}

}  // namespace
}  // namespace paritas
