#include "paritas/onnx/graph_index.h"

#include <gmock/gmock.h>

#include <chrono>

#include "paritas/onnx/testing.h"

namespace paritas::onnx_model {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

std::string failure(const GraphBuilder& builder) {
  const auto index = GraphIndex::build(builder.model());
  return index ? "built" : index.error().message();
}

TEST(GraphIndex, ProducersAndConsumers) {
  GraphBuilder builder;
  builder.input("x").initializer("w", floats({2}, {1, 2})).node("Add", {"x", "w"}, {"a"}, false);
  builder.node("Mul", {"a", "a"}, {"b"}).node("Clip", {"b", "", "w"}, {"y"}).output("y");
  const auto index = must(GraphIndex::build(builder.model()));
  EXPECT_THAT(index.inputs(), ElementsAre("x"));
  EXPECT_THAT(index.outputs(), ElementsAre("y"));
  EXPECT_TRUE(index.is_initializer("w"));
  EXPECT_EQ(index.nodes()[0].name, "a");  // nameless: its first output
  EXPECT_EQ(index.nodes()[1].name, "Mul:b");
  EXPECT_THAT(index.nodes()[2].inputs, ElementsAre("b", "w"));
  EXPECT_EQ(index.producer("b"), 1);
  EXPECT_EQ(index.producer("x"), -1);
  EXPECT_THAT(index.consumers("a"), ElementsAre(1));  // once, though read twice
  EXPECT_THAT(index.consumers("w"), ElementsAre(0, 2));
  EXPECT_THAT(index.consumers("nothing"), ElementsAre());
}

TEST(GraphIndex, OtherDomainsArePartOfTheOperator) {
  GraphBuilder builder;
  builder.input("x").node("Gelu", {"x"}, {"y"}).output("y");
  builder.last().set_domain("com.microsoft");
  EXPECT_EQ(must(GraphIndex::build(builder.model())).nodes()[0].op, "com.microsoft::Gelu");
}

TEST(GraphIndex, NodesAreSorted) {
  GraphBuilder builder;
  builder.input("x").node("Neg", {"b"}, {"y"}).node("Abs", {"a"}, {"b"}).node("Exp", {"x"}, {"a"}).output("y");
  const auto index = must(GraphIndex::build(builder.model()));
  EXPECT_EQ(index.nodes()[0].name, "Exp:a");
  EXPECT_EQ(index.nodes()[0].proto_index, 2);
  EXPECT_EQ(index.nodes()[2].name, "Neg:y");
  EXPECT_EQ(index.producer("y"), 2);
  EXPECT_THAT(index.consumers("a"), ElementsAre(1));
}

TEST(GraphIndex, CapturesOfNestedBodies) {
  GraphBuilder innermost;
  innermost.node("Add", {"deep", "local"}, {"i"}).output("i");
  GraphBuilder then_body;
  then_body.node("Exp", {"x"}, {"local"}).node("If", {"c2"}, {"t"});
  then_body.body("then_branch", innermost).body("else_branch", innermost).output("t");
  GraphBuilder else_body;
  else_body.initializer("shadow", floats({1}, {1})).node("Add", {"x", "shadow"}, {"e"}).output("e");
  GraphBuilder builder;
  builder.input("x").input("c", {}, DType::kBool).input("c2", {}, DType::kBool);
  builder.node("Neg", {"x"}, {"deep"}).node("Abs", {"x"}, {"shadow"});
  builder.node("If", {"c"}, {"y"}).body("then_branch", then_body).body("else_branch", else_body).output("y");
  const auto index = must(GraphIndex::build(builder.model()));
  EXPECT_THAT(index.nodes()[2].captures, UnorderedElementsAre("x", "c2", "deep"));
  EXPECT_THAT(index.consumers("deep"), ElementsAre(2));
  EXPECT_THAT(index.consumers("shadow"), ElementsAre());  // the body's own
}

TEST(GraphIndex, InitialisersListedAsInputsAreNoInputs) {
  GraphBuilder builder;
  builder.input("x").input("w", {2}).initializer("w", floats({2}, {1, 2})).node("Add", {"x", "w"}, {"y"}).output("y");
  const auto index = must(GraphIndex::build(builder.model(3)));
  EXPECT_THAT(index.inputs(), ElementsAre("x"));
  EXPECT_FALSE(index.is_input("w"));
}

TEST(GraphIndex, InvalidGraphsAreRefused) {
  GraphBuilder twice;
  twice.input("x").node("Neg", {"x"}, {"y"}).node("Abs", {"x"}, {"y"}).output("y");
  EXPECT_THAT(failure(twice), HasSubstr("\"y\" is made twice"));
  GraphBuilder over_input;
  over_input.input("x").node("Neg", {"x"}, {"x"}).output("x");
  EXPECT_THAT(failure(over_input), HasSubstr("\"x\" is made twice"));
  GraphBuilder cycle;
  cycle.input("x").node("Add", {"x", "b"}, {"a"}).node("Neg", {"a"}, {"b"}).output("b");
  EXPECT_THAT(failure(cycle), HasSubstr("is part of a cycle"));
  GraphBuilder missing;
  missing.input("x").node("Add", {"x", "ghost"}, {"y"}).output("y");
  EXPECT_THAT(failure(missing), HasSubstr("reads \"ghost\", which nothing makes"));
  GraphBuilder no_output;
  no_output.input("x").node("Neg", {"x"}, {"y"}).output("z");
  EXPECT_THAT(failure(no_output), HasSubstr("graph output \"z\" is made by nothing"));
  GraphBuilder constants;
  constants.input("x").initializer("w", floats({1}, {1})).initializer("w", floats({1}, {2}));
  constants.node("Add", {"x", "w"}, {"y"}).output("y");
  EXPECT_THAT(failure(constants), HasSubstr("initialiser \"w\" is given twice"));
  GraphBuilder body;
  body.node("Neg", {"x"}, {"t"}).node("Abs", {"x"}, {"t"}).output("t");
  GraphBuilder outer;
  outer.input("x").input("c", {}, DType::kBool).node("If", {"c"}, {"y"}).body("then_branch", body).output("y");
  EXPECT_THAT(failure(outer), HasSubstr("\"t\" is made by two nodes of a body"));
}

TEST(GraphIndex, EightThousandNodesAreQuick) {
  GraphBuilder builder;
  builder.input("x");
  std::string last = "x";
  for (int i = 0; i < 8000; ++i) {
    const std::string next = "/encoder/layers." + std::to_string(i) + "/Add_output_0";
    builder.node("Add", {last, last}, {next});
    last = next;
  }
  builder.output(last);
  const Model model = builder.model();
  const auto start = std::chrono::steady_clock::now();
  const auto index = must(GraphIndex::build(model));
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  RecordProperty("milliseconds", std::to_string(took.count()));
  EXPECT_EQ(index.nodes().size(), 8000u);
  EXPECT_LT(took.count(), 1000);  // 50 ms meant; a sanitizer build on a busy machine must pass, a quadratic one not
}

}  // namespace
}  // namespace paritas::onnx_model
