#include "paritas/image/exif.h"

#include <string_view>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace paritas {
namespace {

int orientation(std::string_view tiff) { return exif_orientation(std::as_bytes(std::span(tiff))); }

constexpr std::string_view kLittle("II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0", 22);
constexpr std::string_view kBig("MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x03\0\0", 22);

TEST(Exif, BothByteOrders) {
  EXPECT_EQ(orientation(kLittle), 6);
  EXPECT_EQ(orientation(kBig), 3);
}

TEST(Exif, WhatCannotBeReachedIsOne) {
  EXPECT_EQ(orientation(""), 1);
  EXPECT_EQ(orientation(kLittle.substr(0, 18)), 1);
  EXPECT_EQ(orientation(std::string_view("II*\0\xff\xff\xff\xff", 8)), 1);
  std::string odd(kLittle);
  odd[18] = 9;  // not a lawful orientation
  EXPECT_EQ(orientation(odd), 1);
}

RC_GTEST_PROP(Exif, AnyBytesGiveOneToEight, (const std::string& tail)) {
  for (const std::string& text : {std::string("II*\0", 4) + tail, std::string(kLittle.substr(0, 10)) + tail}) {
    const int value = orientation(text);
    RC_ASSERT(value >= 1 && value <= 8);
  }
}

}  // namespace
}  // namespace paritas
