#include "paritas/metrics/groups.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paritas {
namespace {

using ::testing::ElementsAre;

Tensor floats(Shape shape, const std::vector<float>& values) {
  return tensor_from_values(DType::kF32, std::move(shape), values);
}

TEST(GroupWalk, NumbersGroupsInRowMajorOrder) {
  GroupWalk walk({2, 3, 2}, {0, 2});
  EXPECT_EQ(walk.groups(), 4U);
  std::vector<uint64_t> groups;
  for (int i = 0; i < 12; ++i, walk.next()) groups.push_back(walk.group());
  EXPECT_THAT(groups, ElementsAre(0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3));
  EXPECT_EQ(GroupWalk({4}, {}).groups(), 1U);
}

TEST(GroupErrors, EnergyMaximumAndShareOfEachGroup) {
  const Tensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor y = floats({2, 3}, {1, 2, 4, 4, 7, 6});
  auto g = group_errors(x, y, {1});
  ASSERT_TRUE(g);
  EXPECT_EQ(g->groups, 3U);
  EXPECT_DOUBLE_EQ(g->error_energy, 5);
  EXPECT_DOUBLE_EQ(g->reference_energy, 91);
  EXPECT_THAT(g->largest[0].index, ElementsAre(1));
  EXPECT_DOUBLE_EQ(g->largest[0].error_share, 0.8);
  EXPECT_DOUBLE_EQ(g->largest[0].nmse, 4.0 / 29);
  EXPECT_DOUBLE_EQ(g->largest[0].max_abs, 2);
  EXPECT_EQ(g->largest[0].count, 2U);
  EXPECT_DOUBLE_EQ(g->largest[2].error_energy, 0);
}

TEST(GroupErrors, NanOnTheDeviceComesFirst) {
  auto g = group_errors(floats({3, 2}, {1, 1, 1, 1, 1, 1}), floats({3, 2}, {9, 1, 1, NAN, 1, 1}), {0});
  ASSERT_TRUE(g);
  EXPECT_THAT(g->largest[0].index, ElementsAre(1));
  EXPECT_EQ(g->largest[0].device_only, 1U);
  ASSERT_EQ(g->uneven.size(), 1U);
  EXPECT_EQ(to_string(g->uneven[0]), "index 1");
}

TEST(GroupErrors, ShapesMustAgree) { EXPECT_FALSE(group_errors(floats({2}, {1, 2}), floats({1, 2}, {1, 2}), {0})); }

TEST(GroupErrors, EmptyTensor) {
  auto g = group_errors(floats({0, 2}, {}), floats({0, 2}, {}), {1});
  ASSERT_TRUE(g);
  EXPECT_EQ(g->error_energy, 0);
  EXPECT_TRUE(g->uneven.empty());
}

TEST(UnevenSet, OneIndex) {
  const std::vector<double> even(8, 1.0);
  EXPECT_EQ(to_string(*uneven_set({1, 1, 1, 9, 1, 1, 1, 1}, even)), "index 3");
  EXPECT_EQ(to_string(*uneven_set({9, 1, 1, 1, 1, 1, 1, 1}, even)), "the first index (0)");
  EXPECT_FALSE(uneven_set({1, 1, 1, 2, 1, 1, 1, 1}, even));
  EXPECT_FALSE(uneven_set(even, even));
  EXPECT_FALSE(uneven_set(std::vector<double>(8, 0.0), even));
}

TEST(UnevenSet, LargeValuesHaveLargeErrors) {
  EXPECT_FALSE(uneven_set({1, 1, 1, 9, 1, 1, 1, 1}, {1, 1, 1, 8, 1, 1, 1, 1}));
  EXPECT_TRUE(uneven_set({1, 1, 1, 9, 1, 1, 1, 1}, {1, 1, 1, 2, 1, 1, 1, 1}));
}

TEST(UnevenSet, PeriodsAndWindows) {
  const std::vector<double> even(12, 1.0);
  EXPECT_EQ(to_string(*uneven_set({5, 0, 5, 0, 5, 0, 5, 0, 5, 0, 5, 0}, even)), "even indices");
  EXPECT_EQ(to_string(*uneven_set({0, 5, 0, 5, 0, 5, 0, 5, 0, 5, 0, 5}, even)), "odd indices");
  EXPECT_EQ(to_string(*uneven_set({0, 0, 5, 0, 0, 5, 0, 0, 5, 0, 0, 5}, even)), "every 3rd index from 2 on");
  EXPECT_EQ(to_string(*uneven_set({0, 0, 0, 0, 0, 0, 0, 0, 5, 5, 5, 5}, even)), "the last 4 indices (8 to 11)");
  EXPECT_FALSE(uneven_set({3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2}, even));
}

TEST(ResolveAxes, NegativeTwiceAndBeyond) {
  EXPECT_THAT(*resolve_axes({-1, 0}, 3, "t"), ElementsAre(2, 0));
  EXPECT_EQ(resolve_axes({3}, 3, "t").error().cause, "the tensor has 3 dimensions, there is no axis 3");
  EXPECT_FALSE(resolve_axes({1, -2}, 3, "t"));
  EXPECT_FALSE(resolve_axes({}, 3, "t"));
}

}  // namespace
}  // namespace paritas
