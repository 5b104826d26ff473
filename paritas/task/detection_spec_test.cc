#include <gmock/gmock.h>

#include "paritas/task/detection.h"

namespace paritas {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(DetectionSpec, IsReadFromJson) {
  const auto spec = detection_from_json(Json::parse(R"({"type": "detection", "boxes": "b", "scores": "s", "labels": "l",
      "format": "cxcywh", "units": "normalised", "threshold": 0.4, "background": 0, "score_values": "softmax_logits",
      "boxes_quantisation": {"scale": [0.5], "zero_point": [1]}, "class_names": ["a"], "num_detections": "n",
      "box_layout": "columns"})"),
                                        "p.toml, task 1")
                        .value();
  EXPECT_EQ(spec.format, BoxFormat::kCxcywh);
  EXPECT_EQ(spec.units, BoxUnits::kNormalised);
  EXPECT_EQ(spec.threshold, 0.4);
  EXPECT_EQ(spec.background, 0);
  EXPECT_EQ(spec.num_detections, "n");
  EXPECT_EQ(spec.box_layout, RowLayout::kColumns);
  EXPECT_EQ(spec.score_layout, RowLayout::kRows);
  EXPECT_THAT(spec.boxes_quantisation->scale, ElementsAre(0.5));
}

TEST(DetectionSpec, RefusesWhatItDoesNotKnow) {
  auto message = [](const std::string& more) {
    auto spec = detection_from_json(Json::parse(R"({"boxes": "b", "scores": "s", "format": "xyxy")" + more + "}"),
                                    "p.toml, task 1");
    return spec ? "accepted" : spec.error().message();
  };
  EXPECT_EQ(message(""), "accepted");
  EXPECT_EQ(message(R"(, "background": "none")"), "accepted");
  EXPECT_THAT(message(R"(, "iou": 0.5)"), HasSubstr("unknown key \"iou\""));
  EXPECT_THAT(message(R"(, "threshold": 1.5)"), HasSubstr("not in [0, 1)"));
  EXPECT_THAT(message(R"(, "threshold": "0.5")"), HasSubstr("finite number"));
  EXPECT_THAT(message(R"(, "image_width": 160)"), HasSubstr("belong together"));
  EXPECT_THAT(message(R"(, "background": -1)"), HasSubstr("index of a class"));
  EXPECT_THAT(message(R"(, "units": "px")"), HasSubstr("use one of: pixels, normalised"));
  auto missing = detection_from_json(Json::parse(R"({"boxes": "b", "scores": "s"})"), "p.toml, task 1");
  EXPECT_THAT(missing.error().message(), HasSubstr("\"format\" is missing"));
}

}  // namespace
}  // namespace paritas
