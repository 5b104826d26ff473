#include "paritas/base/shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paritas {
namespace {

TEST(ElementCount, MultipliesDimensions) {
  EXPECT_EQ(*element_count({}), 1u);
  EXPECT_EQ(*element_count({5}), 5u);
  EXPECT_EQ(*element_count({2, 3, 4}), 24u);
  EXPECT_EQ(*element_count({2, 0, 4}), 0u);
  EXPECT_EQ(*element_count({int64_t{1} << 59}), kMaxElements);
}

TEST(ElementCount, RefusesNegativeAndOverflowingShapes) {
  EXPECT_THAT(element_count({2, -1}).error().cause, ::testing::HasSubstr("[2,-1] has a negative dimension"));
  EXPECT_FALSE(element_count({0, -1}));
  EXPECT_FALSE(element_count({INT64_MIN}));
  EXPECT_FALSE(element_count({(int64_t{1} << 59) + 1}));
  EXPECT_FALSE(element_count({int64_t{1} << 32, int64_t{1} << 32}));
  EXPECT_FALSE(element_count({int64_t{1} << 32, int64_t{1} << 32, 0})) << "a dimension of 0 excuses nothing";
  EXPECT_FALSE(element_count({0, int64_t{1} << 32, int64_t{1} << 32}));
}

TEST(ShapeToString, WritesBrackets) {
  EXPECT_EQ(to_string(Shape{}), "[]");
  EXPECT_EQ(to_string(Shape{1, 3, 160}), "[1,3,160]");
}

}  // namespace
}  // namespace paritas
