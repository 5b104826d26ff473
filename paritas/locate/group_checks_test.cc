#include "paritas/locate/group_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paritas/locate/testing.h"

namespace paritas {
namespace {

using ::testing::ElementsAre;

TEST(GroupChecks, Forms) {
  auto one = parse_groups("a::b: axis=-1");
  ASSERT_TRUE(one);
  EXPECT_EQ(one->tensor, "a::b");
  EXPECT_THAT(one->axes, ElementsAre(-1));
  auto two = parse_groups("t: axes=1,2 names=head,token");
  ASSERT_TRUE(two);
  EXPECT_THAT(two->axes, ElementsAre(1, 2));
  EXPECT_THAT(two->names, ElementsAre("head", "token"));
  EXPECT_EQ(parse_groups("t").error().cause, "no axis is named");
  EXPECT_EQ(parse_groups("t: names=a").error().cause, "no axis is named");
  EXPECT_EQ(parse_groups("t: axis=x").error().cause, "\"x\" is no axis");
  EXPECT_EQ(parse_groups("t: axis=99999999999999999999").error().cause, "\"99999999999999999999\" is no axis");
  EXPECT_EQ(parse_groups("t: axes=1,2 names=a").error().cause, "2 axes have 1 names");
  EXPECT_EQ(parse_groups("t: axis=1 heads").error().cause, "\"heads\" is not known here");
}

TEST(GroupChecks, ANodeStandsForItsFirstOutput) {
  const auto model = testing::model_of({"x"}, {{"Neg", {"x"}, {"y"}}}, {"y"});
  const auto index = onnx_model::GraphIndex::build(model);
  std::vector<GroupRequest> requests = {*parse_groups("y: axis=0")};
  EXPECT_TRUE(resolve_groups(requests, *index));
  requests = {*parse_groups("z: axis=0")};
  EXPECT_EQ(resolve_groups(requests, *index).error().cause, "no node and no tensor that a node makes is called \"z\"");
}

}  // namespace
}  // namespace paritas
