#include "paritas/image/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paritas/base/sha256.h"
#include "paritas/base/test_files.h"

namespace paritas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Pipeline parse(const std::string& text) {
  auto pipeline = pipeline_from_json(*parse_json(text, "test"), "test");
  EXPECT_TRUE(pipeline) << text << ": " << pipeline.error().message();
  return pipeline ? *pipeline : Pipeline{};
}

void expect_refused(const std::string& text, const std::string& message) {
  const auto pipeline = pipeline_from_json(*parse_json(text, "test"), "paritas.toml");
  ASSERT_FALSE(pipeline) << text;
  EXPECT_EQ(pipeline.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(pipeline.error().subject, "paritas.toml");
  EXPECT_THAT(pipeline.error().message(), HasSubstr(message)) << text;
}

template <class T>
std::vector<T> values(const Tensor& tensor) {
  std::vector<T> result(tensor.count());
  EXPECT_TRUE(tensor.bytes.read(0, std::as_writable_bytes(std::span(result))));
  return result;
}

const Image kTwoPixels{2, 1, {0, 51, 255, 10, 20, 30}};

template <class T>
std::vector<T> prepared(const std::string& json, const Image& image = kTwoPixels) {
  const auto tensor = prepare_pixels(image, parse(json), "test");
  EXPECT_TRUE(tensor) << tensor.error().message();
  return values<T>(*tensor);
}

TEST(Pipeline, LayoutAndColourOrder) {
  EXPECT_THAT(prepared<uint8_t>(R"({"dtype": "uint8"})"), ElementsAre(0, 10, 51, 20, 255, 30));
  EXPECT_THAT(prepared<uint8_t>(R"({"dtype": "uint8", "layout": "NHWC"})"), ElementsAre(0, 51, 255, 10, 20, 30));
  EXPECT_THAT(prepared<uint8_t>(R"({"dtype": "uint8", "layout": "NHWC", "colour": "bgr"})"),
              ElementsAre(255, 51, 0, 30, 20, 10));
  EXPECT_EQ(prepare_pixels(kTwoPixels, parse("{}"), "test")->shape, (Shape{1, 3, 1, 2}));
  EXPECT_EQ(prepare_pixels(kTwoPixels, parse(R"({"layout": "NHWC"})"), "test")->shape, (Shape{1, 1, 2, 3}));
}

TEST(Pipeline, ArithmeticIsFloat32InTheStatedOrder) {
  const Image image{1, 1, {49, 83, 254}};
  const auto p = [](int value) { return static_cast<float>(value); };
  const float scale = static_cast<float>(1.0 / 255);
  EXPECT_THAT(prepared<float>(R"({"divide_by": 255})", image), ElementsAre(p(49) / 255, p(83) / 255, p(254) / 255));
  EXPECT_THAT(prepared<float>(R"({"scale": 0.00392156862745098})", image),
              ElementsAre(p(49) * scale, p(83) * scale, p(254) * scale));
  int differing = 0;  // why both ways can be declared
  for (int value = 0; value < 256; ++value) differing += p(value) / 255 != p(value) * scale;
  EXPECT_GT(differing, 0);
  EXPECT_THAT(prepared<float>(R"({"mean": [127, 83, 254], "std": [128, 1, 2]})", image),
              ElementsAre((49 - 127.0F) / 128, 0, 0));
  EXPECT_THAT(prepared<float>(R"({"inverse_std": [0.5, 2, 0.1]})", image), ElementsAre(24.5F, 166, 254 * 0.1F));
}

TEST(Pipeline, MeansFollowTheColourOrder) {
  EXPECT_THAT(prepared<float>(R"({"colour": "bgr", "mean": [255, 51, 0]})", Image{1, 1, {0, 51, 255}}),
              ElementsAre(0, 0, 0));
}

TEST(Pipeline, QuantisationRoundsAsDeclared) {
  const Image image{1, 1, {1, 3, 255}};  // in steps of 2: 0.5, 1.5, 127.5
  const std::string head = R"({"quantise": {"dtype": "uint8", "scale": 2, "zero_point": 3)";
  EXPECT_THAT(prepared<uint8_t>(head + "}}", image), ElementsAre(3, 5, 131));
  EXPECT_THAT(prepared<uint8_t>(head + R"(, "rounding": "half_away"}})", image), ElementsAre(4, 5, 131));
  EXPECT_THAT(prepared<uint8_t>(head + R"(, "zero_point_order": "inside"}})", image), ElementsAre(4, 4, 130));
  EXPECT_THAT(prepared<int8_t>(R"({"quantise": {"dtype": "int8", "scale": 1, "zero_point": -10}})", image),
              ElementsAre(-9, -7, 127));
  EXPECT_THAT(prepared<int16_t>(R"({"quantise": {"dtype": "int16", "scale": 0.001, "zero_point": 0}})", image),
              ElementsAre(1000, 3000, 32767));
}

TEST(Pipeline, PadsInTheTensorsOrder) {
  const std::string json =
      R"({"dtype": "uint8", "layout": "NHWC", "colour": "bgr",
          "resize": {"mode": "letterbox", "width": 2, "height": 2, "filter": "box", "pad_value": [1, 2, 3]}})";
  EXPECT_THAT(prepared<uint8_t>(json), ElementsAre(255, 51, 0, 30, 20, 10, 1, 2, 3, 1, 2, 3));
}

TEST(Pipeline, JsonGoesBothWays) {
  for (const char* text :
       {"{}", R"({"dtype": "uint8", "colour": "bgr"})", R"({"divide_by": 255, "mean": 0.5, "inverse_std": [1, 2, 3]})",
        R"({"crop": {"box": [1, 2, 3.5, 4], "edges": "beyond"}, "resize": {"width": 3, "height": 4, "filter": "box"}})",
        R"({"crop": {"centre": 0.875}, "layout": "NHWC"})",
        R"({"resize": {"mode": "letterbox", "width": 3, "height": 4, "filter": "hamming", "pad_value": 7,
            "placement": "top_left", "rounding": "down", "pass_order": "horizontal_first"}})",
        R"({"resize": {"mode": "short_side", "short_side": 9, "width": 3, "height": 4, "filter": "nearest"}})",
        R"({"quantise": {"dtype": "int8", "scale": 0.1, "zero_point": -3, "rounding": "half_away",
            "zero_point_order": "inside"}})"}) {
    const Pipeline pipeline = parse(text);
    const Json json = to_json(pipeline);
    EXPECT_EQ(parse(dump_json(json)), pipeline) << text;
    EXPECT_EQ(to_json(parse(dump_json(json))), json);
  }
}

TEST(Pipeline, UnknownAndWrongKeysAreRefused) {
  expect_refused("[]", "must be a table");
  expect_refused(R"({"color": "rgb"})", "unknown key \"color\"");
  expect_refused(R"({"colour": "gbr"})", "\"colour\" is \"gbr\"; use one of: rgb, bgr");
  expect_refused(R"({"colour": 1})", "\"colour\" is 1");
  expect_refused(R"({"resize": {"size": [3, 4]}})", "resize: unknown key \"size\"");
  expect_refused(R"({"resize": {"width": 3, "height": 4}})", "resize: \"filter\" is missing");
  expect_refused(R"({"resize": {"width": 3, "filter": "box"}})", "resize: \"height\" is missing");
  expect_refused(R"({"resize": {"width": 0, "height": 4, "filter": "box"}})", "\"width\" is 0");
  expect_refused(R"({"resize": {"width": 18446744073709551615, "height": 4, "filter": "box"}})", "whole number");
  expect_refused(R"({"resize": {"width": 2.5, "height": 4, "filter": "box"}})", "whole number");
  expect_refused(R"({"resize": {"width": 65535, "height": 65535, "filter": "box"}})", "too many");
  expect_refused(R"({"resize": {"width": 3, "height": 4, "filter": "box", "pad_value": 0}})", "no meaning with mode");
  expect_refused(R"({"resize": {"mode": "none", "width": 3}})", "no meaning with mode \"none\"");
  expect_refused(R"({"resize": {"mode": "short_side", "short_side": 2, "width": 3, "height": 4, "filter": "box"}})",
                 "smaller than both sides");
  expect_refused(R"({"resize": {"mode": "letterbox", "width": 3, "height": 4, "filter": "box", "pad_value": 256}})",
                 "whole numbers from 0 to 255");
}

TEST(Pipeline, ImpossibleValuesAreRefused) {
  expect_refused(R"({"std": [1, 0, 1]})", "\"std\" holds 0");
  expect_refused(R"({"std": 1e-50})", "which is 0 in float32");
  expect_refused(R"({"scale": 1e39})", "within float32");
  expect_refused(R"({"mean": [1, 2]})", "\"mean\" has 2 numbers");
  expect_refused(R"({"mean": "x"})", "\"mean\" holds \"x\"");
  expect_refused(R"({"scale": 1, "divide_by": 1})", "both \"scale\" and \"divide_by\"");
  expect_refused(R"({"std": 1, "inverse_std": 1})", "both \"std\" and \"inverse_std\"");
  expect_refused(R"({"dtype": "uint8", "mean": 1})", "takes the pixels as they are");
  expect_refused(R"({"dtype": "uint8", "quantise": {"dtype": "int8", "scale": 1, "zero_point": 0}})", "both \"dtype\"");
  expect_refused(R"({"quantise": {"dtype": "int8", "scale": 1, "zero_point": 128}})", "from -128 to 127");
  expect_refused(R"({"quantise": {"dtype": "int8", "scale": -1, "zero_point": 0}})", "negative");
  expect_refused(R"({"quantise": {"dtype": "int8", "zero_point": 0}})", "quantise: \"scale\" is missing");
  expect_refused(R"({"crop": {}})", "neither \"box\" nor \"centre\"");
  expect_refused(R"({"crop": {"box": [0, 0, 1, 1], "centre": 1}})", "both");
  expect_refused(R"({"crop": {"box": [0, 0, 0, 1]}})", "left < right");
  expect_refused(R"({"crop": {"box": [0, 0, 1.5, 1]}})", "not in whole pixels");
  expect_refused(R"({"crop": {"centre": 1.5}})", "share of the shorter side");
  expect_refused(R"({"crop": {"centre": 0.5, "edges": "beyond"}})", "needs a resize");
}

TEST(Pipeline, ValuesThatOverflowAreRefused) {
  const auto tensor = prepare_pixels(kTwoPixels, parse(R"({"std": 1e-40})"), "photo.png");
  ASSERT_FALSE(tensor);
  EXPECT_THAT(tensor.error().message(), HasSubstr("photo.png: the declared arithmetic makes inf"));
}

TEST(Pipeline, RecordTellsHowTheTensorWasMade) {
  const Path path = Path(PARITAS_SOURCE_DIR) / "fuzz/corpus/image/jpeg_turned";
  const auto prepared = prepare_image(path, parse(R"({"dtype": "uint8", "crop": {"box": [2, 0, 10, 12]},
      "resize": {"mode": "letterbox", "width": 6, "height": 6, "filter": "bicubic"}})"));
  ASSERT_TRUE(prepared) << prepared.error().message();
  const ImageRecord& record = prepared->record;
  EXPECT_EQ(record.file_sha256, *sha256_of_file(path));
  const auto bytes = values<uint8_t>(prepared->tensor);
  EXPECT_EQ(record.tensor_sha256, sha256_hex(std::as_bytes(std::span(bytes))));
  EXPECT_EQ(record.width, 16);
  EXPECT_THAT(record.decoder, HasSubstr("libjpeg-turbo "));
  EXPECT_EQ(record.orientation, 6);
  const Json json = to_json(record);
  EXPECT_EQ(dump_json(json["crop"], -1), R"({"box":[2.0,0.0,10.0,12.0],"edges":"cut"})");
  EXPECT_EQ(dump_json(json["resized"], -1), R"({"width":4,"height":6})");
  EXPECT_EQ(dump_json(json["pad"], -1), R"({"left":1,"top":0,"right":1,"bottom":0})");
  EXPECT_EQ(json["scale"]["x"], 0.5);
  EXPECT_THAT(json["notes"][0].get<std::string>(), HasSubstr("EXIF orientation 6"));
}

TEST(Pipeline, ErrorsNameTheFile) {
  TestFolder folder;
  const auto prepared = prepare_image(folder.write("x.png", "text"), Pipeline{});
  ASSERT_FALSE(prepared);
  EXPECT_THAT(prepared.error().subject, HasSubstr("x.png"));
}

}  // namespace
}  // namespace paritas
