// Values against Pillow are in tests/interop/images_pillow.py; here is what needs no Pillow.
#include "paritas/image/resize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace paritas {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Filter kAll[] = {Filter::kNearest, Filter::kBox,     Filter::kBilinear,
                           Filter::kHamming, Filter::kBicubic, Filter::kLanczos};

Image noise(int64_t width, int64_t height) {
  Image image = make_image(width, height);
  uint32_t state = 1;
  for (auto& value : image.pixels) value = static_cast<uint8_t>((state = state * 1664525 + 1013904223) >> 24);
  return image;
}

// One channel of one row.
std::vector<int> greys(const Image& image) {
  std::vector<int> values;
  for (size_t i = 0; i < image.pixels.size(); i += 3) values.push_back(image.pixels[i]);
  return values;
}
Image row_of(const std::vector<uint8_t>& values) {
  Image image = make_image(static_cast<int64_t>(values.size()), 1);
  for (size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = values[i / 3];
  return image;
}

TEST(Resize, NamesGoBothWays) {
  for (const Filter filter : kAll) EXPECT_EQ(filter_from_name(name(filter)), filter);
  EXPECT_FALSE(filter_from_name("cubic"));
}

TEST(Resize, SameSizeIsTheSamePicture) {
  const Image image = noise(5, 4);
  for (const Filter filter : kAll) EXPECT_EQ(resize(image, 5, 4, filter)->pixels, image.pixels);
}

TEST(Resize, HalvingAveragesPairs) {
  EXPECT_THAT(greys(*resize(row_of({0, 10, 20, 41}), 2, 1, Filter::kBox)), ElementsAre(5, 31));  // 30.5 goes up
}

TEST(Resize, BilinearDoublingMixesAQuarter) {
  EXPECT_THAT(greys(*resize(row_of({0, 100}), 4, 1, Filter::kBilinear)), ElementsAre(0, 25, 75, 100));
}

TEST(Resize, NearestTakesTheCentre) {
  EXPECT_THAT(greys(*resize(row_of({1, 2, 3, 4, 5}), 2, 1, Filter::kNearest)), ElementsAre(2, 4));
}

TEST(Resize, OvershootIsClipped) {
  for (const int value : greys(*resize(row_of({0, 0, 255, 255}), 16, 1, Filter::kLanczos))) {
    EXPECT_GE(value, 0);
    EXPECT_LE(value, 255);
  }
}

TEST(Resize, BoxTakesPartAndSeesBeyond) {
  const Image image = row_of({0, 0, 100, 100, 0, 0});
  EXPECT_THAT(greys(*resize(image, 2, 1, Filter::kBox, CropBox{2, 0, 4, 1})), Each(100));
  EXPECT_NE(greys(*resize(image, 4, 1, Filter::kBilinear, CropBox{2, 0, 4, 1})),
            greys(*resize(cut(image, 2, 0, 2, 1), 4, 1, Filter::kBilinear)));
}

TEST(Resize, ColumnsFirstWhereRowsShrinkTwiceAsMuch) {
  EXPECT_TRUE(columns_first(noise(10, 10), 10, 9));
  EXPECT_FALSE(columns_first(noise(10, 10), 9, 8));  // exactly twice
  EXPECT_TRUE(columns_first(noise(10, 10), 9, 7));
  EXPECT_FALSE(columns_first(noise(10, 10), 30, 10));
  const Image image = noise(16, 40);
  EXPECT_NE(resize(image, 12, 20, Filter::kBilinear)->pixels,
            resize(image, 12, 20, Filter::kBilinear, std::nullopt, PassOrder::kHorizontalFirst)->pixels);
}

TEST(Resize, BadBoxesAndSizesAreRefused) {
  const Image image = noise(4, 4);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const CropBox& box : {CropBox{0, 0, 5, 4}, CropBox{-1, 0, 4, 4}, CropBox{0, 0, nan, 4}})
    EXPECT_THAT(resize(image, 2, 2, Filter::kBox, box).error().cause, HasSubstr("beyond the image"));
  EXPECT_THAT(resize(image, 2, 2, Filter::kBox, CropBox{2, 0, 2, 4}).error().cause, HasSubstr("empty"));
  EXPECT_FALSE(resize(image, 0, 2, Filter::kBox));
  EXPECT_FALSE(resize(image, 65535, 65535, Filter::kBox));
  // Each size is lawful, but the rows in between would be 4 Gi pixels.
  EXPECT_FALSE(
      resize(make_image(1, 65535), 65535, 65535 / 64, Filter::kBox, std::nullopt, PassOrder::kHorizontalFirst));
}

RC_GTEST_PROP(Resize, AConstantPictureStaysConstant, ()) {
  const auto side = [] { return *rc::gen::inRange<int64_t>(1, 40); };
  Image image = make_image(side(), side());
  const auto value = *rc::gen::arbitrary<uint8_t>();
  std::fill(image.pixels.begin(), image.pixels.end(), value);
  const Filter filter = *rc::gen::elementOf(std::vector<Filter>(std::begin(kAll), std::end(kAll)));
  const auto scaled = resize(image, side(), side(), filter);
  RC_ASSERT(scaled.has_value());
  for (const uint8_t pixel : scaled->pixels) RC_ASSERT(pixel == value);
}

}  // namespace
}  // namespace paritas
