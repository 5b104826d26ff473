#include "paritas/base/nearest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paritas {
namespace {

TEST(EditDistance, CountsChanges) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("compare", "compare"), 0u);
  EXPECT_EQ(edit_distance("comprae", "compare"), 2u);
}

TEST(NearestFirst, KeepsTheOrderOfTies) {
  EXPECT_THAT(nearest_first("chek", {"run", "compare", "check", "init"}),
              ::testing::ElementsAre("check", "run", "init", "compare"));
}

}  // namespace
}  // namespace paritas
