#include <gmock/gmock.h>

#include "paritas/onnx/edit.h"
#include "paritas/onnx/testing.h"

namespace paritas::onnx_model {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

GraphBuilder three_nodes() {
  GraphBuilder builder;
  builder.input("x")
      .initializer("w", floats({2, 2}, {1, 2, 3, 4}))
      .node("Add", {"x", "w"}, {"a"})
      .node("Mul", {"a", "w"}, {"b"})
      .node("Sub", {"b", "w"}, {"y"})
      .output("y");
  return builder;
}

TEST(SetApart, ReadsItsOwnConstantsAndIsReadThroughIdentity) {
  const SetApart apart = must(set_apart(three_nodes().model(), {"b"}));
  EXPECT_TRUE(GraphIndex::build(apart.model));
  EXPECT_THAT(names_of(apart.model.graph().initializer()), UnorderedElementsAre("w", "w__paritas_apart"));
  EXPECT_THAT(inputs_of(*maker_of(apart.model.graph(), "b")), ElementsAre("a", "w__paritas_apart"));
  EXPECT_THAT(inputs_of(*maker_of(apart.model.graph(), "y")), ElementsAre("b__paritas_handed_on", "w"));
  EXPECT_EQ(maker_of(apart.model.graph(), "b__paritas_handed_on")->op_type(), "Identity");
  EXPECT_THAT(apart.constants, UnorderedElementsAre("w__paritas_apart"));
}

TEST(SetApart, NeighboursReadEachOtherAndOutputsStayTheirs) {
  const SetApart apart = must(set_apart(three_nodes().model(), {"b", "y"}));
  EXPECT_THAT(inputs_of(*maker_of(apart.model.graph(), "y")), ElementsAre("b", "w__paritas_apart"));
  EXPECT_THAT(names_of(apart.model.graph().output()), ElementsAre("y"));
  EXPECT_EQ(maker_of(apart.model.graph(), "y")->op_type(), "Sub");
}

TEST(SetApart, ConstantNodesAreCopiedAndSetApartToo) {
  GraphBuilder builder;
  builder.input("x").constant("c", floats({2, 2}, {1, 2, 3, 4})).node("Add", {"x", "c"}, {"y"}).output("y");
  const SetApart apart = must(set_apart(builder.model(), {"y"}));
  EXPECT_THAT(inputs_of(*maker_of(apart.model.graph(), "y")), ElementsAre("x", "c__paritas_apart"));
  EXPECT_THAT(apart.first_outputs, UnorderedElementsAre("y", "c__paritas_apart"));
}

TEST(SetApart, UnknownNodesAreRefused) { EXPECT_FALSE(set_apart(three_nodes().model(), {"nowhere"})); }

TEST(SetApart, WhatIsInterposedDoesNotReachIt) {
  const SetApart apart = must(set_apart(three_nodes().model(), {"b"}));
  Interpose round;
  round.op_type = "Round";
  round.domain = "paritas";
  round.graph_inputs = round.initializers = round.node_outputs = true;
  round.wanted = [&](const std::string& tensor) { return apart.constants.count(tensor) == 0; };
  round.untouched = [&](const std::string& output) { return apart.first_outputs.count(output) != 0; };
  const Model model = must(interpose(apart.model, round));
  EXPECT_TRUE(GraphIndex::build(model));
  // b itself is exact, with an exact constant; what the next node reads of it is rounded.
  EXPECT_EQ(maker_of(model.graph(), "b")->op_type(), "Mul");
  EXPECT_EQ(maker_of(model.graph(), "w__paritas_apart"), nullptr);
  EXPECT_EQ(maker_of(model.graph(), "b__paritas_handed_on")->domain(), "paritas");
  EXPECT_EQ(maker_of(model.graph(), "a")->domain(), "paritas");
}

}  // namespace
}  // namespace paritas::onnx_model
