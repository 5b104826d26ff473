#include "paritas/image/decode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paritas/base/test_files.h"

namespace paritas {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// The files are written by fuzz/make_seeds_image.py.
Path seed(const std::string& name) { return Path(PARITAS_SOURCE_DIR) / "fuzz/corpus/image" / name; }

Result<DecodedImage> decode(const std::string& content) {
  return decode_image(std::as_bytes(std::span(content)), "photo");
}

DecodedImage decode_seed(const std::string& name) {
  auto decoded = decode(TestFolder::read(seed(name)));
  EXPECT_TRUE(decoded) << name << ": " << decoded.error().message();
  return decoded ? *decoded : DecodedImage{};
}

void expect_refused(const std::string& name, const std::string& cause) {
  const auto decoded = decode(TestFolder::read(seed(name)));
  ASSERT_FALSE(decoded) << name;
  EXPECT_EQ(decoded.error().kind, ErrorKind::kInput);
  EXPECT_EQ(decoded.error().subject, "photo");
  EXPECT_THAT(decoded.error().cause, HasSubstr(cause)) << name;
  EXPECT_FALSE(decoded.error().remedy.empty()) << name;
}

TEST(DecodePng, GreyIsRepeatedInThreeChannels) {
  EXPECT_THAT(
      decode_seed("png_grey1").image.pixels,
      ElementsAreArray({255, 255, 255, 0,   0,   0,   255, 255, 255, 0,   0,   0,   0,   0,   0,   255, 255, 255,
                        0,   0,   0,   255, 255, 255, 255, 255, 255, 0,   0,   0,   255, 255, 255, 0,   0,   0,
                        255, 255, 255, 255, 255, 255, 0,   0,   0,   255, 255, 255, 0,   0,   0,   0,   0,   0}));
  EXPECT_THAT(decode_seed("png_grey2").image.pixels, ElementsAre(0, 0, 0, 85, 85, 85, 170, 170, 170, 255, 255, 255));
}

TEST(DecodePng, SixteenBitGreyIsClippedAndSaysSo) {
  const DecodedImage decoded = decode_seed("png_grey16");
  EXPECT_THAT(decoded.image.pixels, ElementsAre(7, 7, 7, 255, 255, 255, 255, 255, 255));  // 7, 255, 256
  EXPECT_THAT(decoded.notes, ElementsAre(HasSubstr("clipped")));
}

TEST(DecodePng, SixteenBitColourKeepsTheUpperByte) {
  EXPECT_THAT(decode_seed("png_rgb16").image.pixels, ElementsAre(0x12, 0x34, 0));
}

TEST(DecodePng, TransparencyIsDroppedAndSaysSo) {
  for (const char* name : {"png_rgba", "png_grey_alpha", "png_palette_transparent"})
    EXPECT_THAT(decode_seed(name).notes, Contains(HasSubstr("transparency"))) << name;
  EXPECT_THAT(decode_seed("png_rgba").image.pixels, ElementsAre(10, 20, 30));
  EXPECT_THAT(decode_seed("png_grey_alpha").image.pixels, ElementsAre(0x12, 0x12, 0x12, 0x34, 0x34, 0x34));
}

TEST(DecodePng, PaletteAndInterlacing) {
  const DecodedImage palette = decode_seed("png_palette");
  EXPECT_THAT(palette.image.pixels, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_EQ(palette.mode, "palette of 3 colours, 2 bits");
  EXPECT_THAT(palette.notes, IsEmpty());
  const DecodedImage interlaced = decode_seed("png_interlaced");
  EXPECT_EQ(interlaced.image.width, 3);
  EXPECT_EQ(interlaced.image.row(1)[0], 4);
  EXPECT_EQ(interlaced.image.row(2)[6], 9);
}

TEST(DecodePng, BadFilesAreRefused) {
  expect_refused("png_lying", "the file has only");
  expect_refused("png_too_large", "65000 x 65000");
  expect_refused("png_wide", "at most 65535");
  expect_refused("png_zero", "0 x 1 pixels");
  expect_refused("png_few_rows", "Not enough image data");
  expect_refused("png_no_end", "ends early");
  expect_refused("png_bad_crc", "CRC");
  expect_refused("png_bad_depth", "IHDR");
  expect_refused("png_short", "ends within its header");
  expect_refused("png_no_palette", "PLTE");
  expect_refused("png_palette_beyond", "colour 3 of a palette of 3");
}

TEST(DecodeJpeg, KindsAreNamed) {
  EXPECT_EQ(decode_seed("jpeg_grey").mode, "grey, sequential");
  EXPECT_EQ(decode_seed("jpeg_420").mode, "YCbCr 2x2, sequential");
  EXPECT_EQ(decode_seed("jpeg_progressive").mode, "YCbCr 2x2, progressive");
  EXPECT_THAT(decode_seed("jpeg_cmyk").notes, Contains(HasSubstr("CMYK")));
  EXPECT_EQ(decode_seed("jpeg_scan_by_scan").image.width, 8);
  EXPECT_THAT(decode_seed("jpeg_extraneous").notes, Contains(HasSubstr("extraneous bytes")));
}

TEST(DecodeJpeg, ProgressiveHoldsTheSamePicture) {
  EXPECT_EQ(decode_seed("jpeg_progressive").image.pixels, decode_seed("jpeg_420").image.pixels);
}

TEST(DecodeJpeg, WhatIsNotWholeIsRefused) {
  expect_refused("jpeg_cut", "Premature end");
  expect_refused("jpeg_no_end", "Premature end");
  expect_refused("jpeg_first_scan_only", "progressive scans are missing");
  expect_refused("jpeg_last_scan_missing", "progressive scans are missing");
  expect_refused("jpeg_component_missing", "scan of a colour component is missing");
}

TEST(DecodeJpeg, LiesAndExcessAreRefused) {
  expect_refused("jpeg_lying", "9000 x 9000 pixels, but the file has only");
  expect_refused("jpeg_too_large", "65000 x 65000");
  expect_refused("jpeg_zero", "JPEG image cannot be read");
  expect_refused("jpeg_many_scans", "more than 100 scans");
}

TEST(Decode, OrientationIsToldAndNotApplied) {
  const DecodedImage turned = decode_seed("jpeg_turned");
  EXPECT_EQ(turned.orientation, 6);
  EXPECT_EQ(turned.image.width, 16);
  EXPECT_THAT(turned.notes, Contains(HasSubstr("EXIF orientation 6 (to be shown turned by 90 degrees clockwise)")));
  EXPECT_EQ(decode_seed("png_turned").orientation, 8);
  EXPECT_THAT(decode_seed("jpeg_444").notes, Not(Contains(HasSubstr("EXIF"))));
}

TEST(Decode, OtherFormatsAreNamed) {
  expect_refused("gif", "GIF");
  expect_refused("empty", "the file is empty");
  EXPECT_THAT(decode("RIFFxxxxWEBPVP8 ").error().cause, HasSubstr("WebP"));
  EXPECT_THAT(decode("hello, world").error().cause, HasSubstr("neither a JPEG nor a PNG"));
}

TEST(Decode, CutAnywhereAFileIsRefused) {
  for (const char* name :
       {"jpeg_420", "jpeg_progressive", "jpeg_restart", "png_rgb", "png_palette", "png_interlaced"}) {
    const std::string content = TestFolder::read(seed(name));
    for (size_t keep = 0; keep < content.size(); ++keep)
      EXPECT_FALSE(decode(content.substr(0, keep))) << name << " cut at " << keep;
  }
}

TEST(Decode, AbsentFile) {
  const auto bytes = read_image_file("/nowhere/photo.png");
  ASSERT_FALSE(bytes);
  EXPECT_THAT(bytes.error().subject, HasSubstr("photo.png"));
}

}  // namespace
}  // namespace paritas
