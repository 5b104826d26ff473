#include "paritas/onnx/walk.h"

#include <gmock/gmock.h>

#include "paritas/onnx/testing.h"

namespace paritas::onnx_model {
namespace {

using namespace testing;
using ::testing::ElementsAre;

// An If whose body defines "a" itself and reads "b" from outside, also in a body of its own.
GraphBuilder shadowing() {
  GraphBuilder inner;
  inner.node("Add", {"a", "b"}, {"i"}).output("i");
  GraphBuilder body;
  body.node("Neg", {"b"}, {"a"}).node("If", {"c"}, {"t"}).body("then_branch", inner).output("t");
  GraphBuilder builder;
  builder.node("If", {"c"}, {"y"}).body("then_branch", body);
  return builder;
}

TEST(Walk, CapturesLeaveOutWhatBodiesDefine) { EXPECT_THAT(captures_of(shadowing().last()), ElementsAre("b", "c")); }

TEST(Walk, RenamingRespectsNamesThatBodiesDefine) {
  GraphBuilder builder = shadowing();
  rename_reads(builder.last(), {{"a", "A"}, {"b", "B"}, {"c", "C"}});
  const auto& node = builder.last();
  EXPECT_THAT(inputs_of(node), ElementsAre("C"));
  const auto& body = node.attribute(0).g();
  EXPECT_THAT(inputs_of(body.node(0)), ElementsAre("B"));
  EXPECT_EQ(body.node(0).output(0), "a");
  EXPECT_THAT(inputs_of(body.node(1)), ElementsAre("C"));
  EXPECT_THAT(inputs_of(body.node(1).attribute(0).g().node(0)), ElementsAre("a", "B"));
}

TEST(Walk, UniqueNamesKnowBodies) {
  UniqueNames names(shadowing().graph());
  EXPECT_EQ(names.make("fresh"), "fresh");
  EXPECT_EQ(names.make("fresh"), "fresh_2");
  EXPECT_EQ(names.make("i"), "i_2");
}

}  // namespace
}  // namespace paritas::onnx_model
