#include "paritas/onnx/random_operators.h"

#include <gmock/gmock.h>

#include "paritas/onnx/testing.h"

namespace paritas::onnx_model {
namespace {

using ::testing::ElementsAre;
using testing::floats;
using testing::GraphBuilder;
using ::testing::IsEmpty;
using testing::must;

RandomDependence of(const GraphBuilder& builder, bool seeds_repeat = true) {
  const Model model = builder.model();
  return random_dependence(model, must(GraphIndex::build(model)), seeds_repeat);
}

Tensor truth(bool value) { return tensor_from_values(DType::kBool, {}, std::vector<uint8_t>{value}); }

TEST(RandomDependence, FollowsTheDrawAndNothingElse) {
  GraphBuilder g;
  g.input("x", {4}).node("RandomNormalLike", {"x"}, {"noise"}).node("Add", {"x", "noise"}, {"y"}).output("y");
  g.node("Exp", {"x"}, {"z"}).output("z").node("Shape", {"noise"}, {"shape"}).output("shape");
  const auto found = of(g);
  ASSERT_EQ(found.operators.size(), 1U);
  EXPECT_EQ(found.operators[0].node, "RandomNormalLike:noise");
  EXPECT_EQ(found.operators[0].inside, "");
  EXPECT_THAT(found.drawn, ElementsAre("noise"));
  EXPECT_TRUE(found.depends("noise") && found.depends("y"));
  EXPECT_FALSE(found.depends("z"));
  EXPECT_FALSE(found.depends("shape"));  // of a drawn tensor, but not of what was drawn
  EXPECT_EQ(found.operators_behind("y").size(), 1U);
  EXPECT_THAT(found.operators_behind("z"), IsEmpty());
}

TEST(RandomDependence, EveryOperatorThatDraws) {
  for (const char* op :
       {"RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial", "Bernoulli"}) {
    GraphBuilder g;
    g.input("x", {4}).node(op, {"x"}, {"y"}).output("y");
    EXPECT_TRUE(of(g).depends("y")) << op;
    g = GraphBuilder();
    g.input("x", {4}).node(op, {"x"}, {"y"}).seed(3).output("y");
    EXPECT_FALSE(of(g).any()) << op;
    EXPECT_TRUE(of(g, /*seeds_repeat=*/false).depends("y")) << op;
  }
}

TEST(RandomDependence, DropoutDrawsInTrainingOnly) {
  const auto dropout = [](const Tensor& training) {
    GraphBuilder g;
    g.input("x", {4}).initializer("ratio", floats({}, {0.5F})).initializer("training", training);
    g.node("Dropout", {"x", "ratio", "training"}, {"y"}).output("y");
    return of(g).depends("y");
  };
  EXPECT_TRUE(dropout(truth(true)));
  EXPECT_FALSE(dropout(truth(false)));
  GraphBuilder plain;
  plain.input("x", {4}).node("Dropout", {"x"}, {"y"}).output("y");
  EXPECT_FALSE(of(plain).any());
  GraphBuilder asked;  // whoever runs it decides
  asked.input("x", {4}).initializer("ratio", floats({}, {0.5F})).input("training", {}, DType::kBool);
  asked.node("Dropout", {"x", "ratio", "training"}, {"y"}).output("y");
  EXPECT_TRUE(of(asked).depends("y"));
}

TEST(RandomDependence, BodiesDraw) {
  GraphBuilder draws, constant;
  draws.node("RandomUniformLike", {"x"}, {"r"}).output("r");
  constant.node("Neg", {"x"}, {"n"}).output("n");
  GraphBuilder g;
  g.input("x", {4}).input("c", {}, DType::kBool).node("If", {"c"}, {"y"});
  g.body("then_branch", draws).body("else_branch", constant).output("y").node("Exp", {"y"}, {"z"}).output("z");
  const auto found = of(g);
  ASSERT_EQ(found.operators.size(), 1U);
  EXPECT_EQ(found.operators[0].node, "If:y");
  EXPECT_EQ(found.operators[0].op, "RandomUniformLike");
  EXPECT_EQ(found.operators[0].inside, "If");
  EXPECT_TRUE(found.depends("z"));
}

}  // namespace
}  // namespace paritas::onnx_model
