#include "paritas/onnx/cut.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paritas/onnx/testing.h"

namespace paritas::onnx_model {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// x -> a -> b -> c -> y, with a skip from a to c when `skip`.
GraphBuilder chain(bool skip) {
  GraphBuilder g;
  g.input("x").initializer("w", floats({2, 2}, {1, 2, 3, 4}));
  g.node("Mul", {"x", "w"}, {"/enc/a"}).node("Relu", {"/enc/a"}, {"/enc/b"});
  g.node("Add", {"/enc/b", skip ? "/enc/a" : "w"}, {"/dec/c"}).node("Relu", {"/dec/c"}, {"y"}).output("y");
  return g;
}

class CutTest : public ::testing::Test {
 protected:
  void use(const GraphBuilder& builder) {
    model_.emplace(builder.model());
    index_.emplace(must(GraphIndex::build(*model_)));
    dependence_ = value_dependence(*model_, *index_);
  }
  Result<Cut> cut(const std::string& text) {
    auto spec = parse_cut(text, "--cut");
    if (!spec) return tl::make_unexpected(spec.error());
    return resolve_cut(*model_, *index_, dependence_, *spec, "--cut");
  }
  std::string refusal(const std::string& text) {
    const auto result = cut(text);
    EXPECT_FALSE(result.has_value()) << text;
    return result ? std::string() : result.error().message();
  }

  std::optional<Model> model_;
  std::optional<GraphIndex> index_;
  ValueDependence dependence_;
};

TEST_F(CutTest, TextsAreTakenApart) {
  const auto named = must(parse_cut("enc=a,b\\,c,d{1,2}", "--cut"));
  EXPECT_EQ(named.name, "enc");
  EXPECT_THAT(named.patterns, ElementsAre("a", "b,c", "d{1,2}"));
  const auto bare = must(parse_cut("/enc/a_(?=out)", "--cut"));
  EXPECT_EQ(bare.name, "");
  EXPECT_THAT(bare.patterns, ElementsAre("/enc/a_(?=out)"));
  for (const char* bad : {"", "enc=", "a,,b", "a,"}) EXPECT_FALSE(parse_cut(bad, "--cut").has_value()) << bad;
}

TEST_F(CutTest, NamesSuffixesAndExpressionsMeanOneTensor) {
  use(chain(false));
  EXPECT_THAT(must(cut("/enc/b")).tensors, ElementsAre("/enc/b"));
  EXPECT_THAT(must(cut("/b")).tensors, ElementsAre("/enc/b"));
  EXPECT_THAT(must(cut("^/enc/[^a]$")).tensors, ElementsAre("/enc/b"));
  EXPECT_THAT(refusal("/enc/."), AllOf(HasSubstr("is found in 2 tensors: \"/enc/a\", \"/enc/b\""), HasSubstr("--cut")));
  EXPECT_THAT(refusal("nothing"), HasSubstr("matches no tensor of test.onnx"));
  EXPECT_THAT(refusal("("), HasSubstr("no regular expression"));
  EXPECT_THAT(refusal("Relu:/enc/b"), AllOf(HasSubstr("is a node"), HasSubstr("name what it makes: \"/enc/b\"")));
  EXPECT_THAT(refusal("/b,enc/b"), HasSubstr("both mean \"/enc/b\""));
  EXPECT_THAT(refusal("w"), HasSubstr("is a constant"));
}

TEST_F(CutTest, AnExactNameWinsOverLongerOnesThatEndInIt) {
  GraphBuilder g;
  g.input("x").node("Relu", {"x"}, {"b"}).node("Relu", {"b"}, {"a/b"}).node("Relu", {"a/b"}, {"y"}).output("y");
  use(g);
  EXPECT_THAT(must(cut("b")).tensors, ElementsAre("b"));
  EXPECT_THAT(must(cut("/b")).tensors, ElementsAre("a/b"));
}

TEST_F(CutTest, ACutThatSeparatesListsBothSides) {
  use(chain(false));
  const Cut found = must(cut("mid=/enc/b"));
  EXPECT_EQ(found.name, "mid");
  EXPECT_THAT(found.front_inputs, ElementsAre("x"));
  EXPECT_THAT(found.rear_inputs, IsEmpty());
  EXPECT_THAT(found.rear_outputs, ElementsAre("y"));
  EXPECT_EQ(found.front_nodes, 2);
  EXPECT_EQ(found.rear_nodes, 2);
  const Halves halves = must(extract_halves(*model_, found, {{"/enc/b", {DType::kF32, {2, 2}}}}, {}));
  EXPECT_THAT(node_names(halves.front), ElementsAre("Mul:/enc/a", "Relu:/enc/b"));
  EXPECT_THAT(node_names(halves.rear), ElementsAre("Add:/dec/c", "Relu:y"));
  EXPECT_THAT(names_of(halves.rear.graph().input()), ElementsAre("/enc/b"));
  // The weight is read on both sides, so both have it.
  EXPECT_EQ(halves.front.graph().initializer_size(), 1);
  EXPECT_EQ(halves.rear.graph().initializer_size(), 1);
}

TEST_F(CutTest, APathRoundTheCutIsNamed) {
  use(chain(true));
  const std::string text = refusal("/enc/b");
  EXPECT_THAT(text, HasSubstr("does not separate"));
  EXPECT_THAT(text, HasSubstr("\"x\" -> \"/enc/a\" -> \"/dec/c\" -> \"y\""));
  EXPECT_THAT(text, HasSubstr("add \"/enc/a\" to the cut"));
  EXPECT_THAT(must(cut("/enc/a,/enc/b")).tensors, ElementsAre("/enc/a", "/enc/b"));
}

TEST_F(CutTest, ALongPathIsShortened) {
  GraphBuilder g;
  g.input("x");
  std::string last = "x";
  for (int i = 0; i < 20; ++i) {
    const std::string next = "t" + std::to_string(i);
    g.node("Relu", {last}, {next});
    last = next;
  }
  g.node("Relu", {"x"}, {"side"}).node("Add", {last, "t18"}, {"y"}).output("y");
  use(g);
  EXPECT_THAT(refusal("t19"), HasSubstr("\"x\" -> ... -> \"t17\" -> \"t18\" -> \"y\""));
}

TEST_F(CutTest, ACutThatIsNotOneWayIsRefused) {
  // p -> q -> r, cut at p and r, while the rear half reads q: both halves would compute it.
  GraphBuilder g;
  g.input("x").node("Relu", {"x"}, {"p"}).node("Relu", {"p"}, {"q"}).node("Relu", {"q"}, {"r"});
  g.node("Add", {"r", "q"}, {"y"}).output("y");
  use(g);
  EXPECT_THAT(refusal("p,r"), AllOf(HasSubstr("not one-way: \"q\""), HasSubstr("add \"q\"")));
  const Cut whole = must(cut("p,q,r"));
  EXPECT_THAT(whole.unread, ElementsAre("p"));
}

TEST_F(CutTest, AnInputThatBothHalvesNeedIsPartOfTheCut) {
  GraphBuilder g;
  g.input("x").input("mask").input("size");
  g.node("Mul", {"x", "mask"}, {"a"}).node("Mul", {"a", "mask"}, {"b"}).node("Mul", {"b", "size"}, {"y"}).output("y");
  use(g);
  EXPECT_THAT(refusal("a"),
              AllOf(HasSubstr("a path goes round it, \"mask\" -> \"b\" -> \"y\""), HasSubstr("add \"mask\"")));
  const Cut found = must(cut("a,mask"));
  EXPECT_THAT(found.tensors, ElementsAre("mask", "a"));
  EXPECT_THAT(found.front_inputs, ElementsAre("x", "mask"));
  EXPECT_THAT(found.rear_inputs, ElementsAre("size"));
  const Halves halves = must(extract_halves(*model_, found, {{"a", {DType::kF32, {2, 2}}}}, {}));
  EXPECT_THAT(names_of(halves.front.graph().output()), ElementsAre("a"));
  EXPECT_THAT(names_of(halves.rear.graph().input()), ElementsAre("mask", "a", "size"));
}

TEST_F(CutTest, TensorsThatBodiesCaptureMustPassTheCut) {
  GraphBuilder body;
  body.node("Add", {"a", "b"}, {"inner"}).output("inner");
  GraphBuilder g;
  g.input("x").input("c", {}, DType::kBool).node("Relu", {"x"}, {"a"}).node("Relu", {"a"}, {"b"});
  g.node("If", {"c"}, {"y"}).body("then_branch", body).body("else_branch", body).output("y");
  use(g);
  EXPECT_THAT(refusal("b"), HasSubstr("\"x\" -> \"a\" -> \"y\""));
  const Cut found = must(cut("a,b"));
  EXPECT_THAT(found.rear_inputs, ElementsAre("c"));
}

TEST_F(CutTest, EmptyHalvesAreRefused) {
  use(chain(false));
  EXPECT_THAT(refusal("y"), HasSubstr("lies behind the outputs"));
  EXPECT_THAT(refusal("x"), HasSubstr("front half is empty"));
  GraphBuilder dead = chain(false);
  dead.node("Relu", {"/enc/b"}, {"dead"});
  use(dead);
  EXPECT_THAT(refusal("dead"), HasSubstr("does not separate"));
}

TEST_F(CutTest, OutputsOfTheFrontHalfStayWithIt) {
  GraphBuilder g = chain(false);
  g.output("/enc/a");
  use(g);
  const Cut found = must(cut("/enc/b"));
  EXPECT_THAT(found.front_outputs, ElementsAre("/enc/a"));
  EXPECT_THAT(found.rear_outputs, ElementsAre("y"));
  const Halves halves = must(extract_halves(*model_, found, {{"/enc/b", {DType::kF32, {2, 2}}}}, {}));
  EXPECT_THAT(names_of(halves.front.graph().output()), ElementsAre("/enc/b", "/enc/a"));
}

TEST_F(CutTest, ShapesOfTheOtherHalfBecomeConstants) {
  GraphBuilder g;
  g.input("x").node("Relu", {"x"}, {"a"}).node("Shape", {"x"}, {"s"}).node("Identity", {"s"}, {"s2"});
  g.node("Relu", {"a"}, {"b"}).node("Reshape", {"b", "s2"}, {"y"}).output("y");
  use(g);
  const Cut found = must(cut("a"));
  EXPECT_THAT(found.constants, ElementsAre("s2"));
  const Halves halves = must(extract_halves(*model_, found, {{"a", {DType::kF32, {2, 2}}}}, {{"s2", int64s({2, 2})}}));
  EXPECT_THAT(names_of(halves.rear.graph().input()), ElementsAre("a"));
  EXPECT_THAT(node_names(halves.rear), ElementsAre("Relu:b", "Reshape:y"));
}

TEST_F(CutTest, ShapesOfCutTensorsAreLeftToTheRearHalf) {
  GraphBuilder g;
  g.input("x").node("Relu", {"x"}, {"a"}).node("Shape", {"a"}, {"s"}).node("Relu", {"a"}, {"b"});
  g.node("Reshape", {"b", "s"}, {"y"}).output("y");
  use(g);
  const Cut found = must(cut("a"));
  EXPECT_THAT(found.constants, IsEmpty());
  EXPECT_THAT(node_names(must(extract_halves(*model_, found, {{"a", {DType::kF32, {2, 2}}}}, {})).rear),
              ElementsAre("Shape:s", "Relu:b", "Reshape:y"));
}

}  // namespace
}  // namespace paritas::onnx_model
