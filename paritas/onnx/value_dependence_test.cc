#include <gmock/gmock.h>

#include "paritas/onnx/edit.h"
#include "paritas/onnx/testing.h"

namespace paritas::onnx_model {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

struct Analysed {
  explicit Analysed(const GraphBuilder& builder) : model(builder.model()), index(must(GraphIndex::build(model))) {
    dependence = value_dependence(model, index);
  }
  bool depends(const std::string& tensor) const { return dependence.depends(tensor); }
  std::vector<std::string> frontier() const { return constant_frontier(model, index, dependence); }

  Model model;
  GraphIndex index;
  ValueDependence dependence;
};

// x -> Shape -> Gather -> Concat -> Reshape(x): what exporters write for "view".
GraphBuilder view(const Shape& input_shape) {
  GraphBuilder builder;
  builder.input("x", input_shape).initializer("zero", int64s({0})).initializer("rest", int64s({-1}));
  builder.node("Shape", {"x"}, {"shape"}).node("Gather", {"shape", "zero"}, {"batch"});
  builder.node("Concat", {"batch", "rest"}, {"target"}).attribute("axis", 0);
  builder.node("Reshape", {"x", "target"}, {"y"}).output("y");
  return builder;
}

TEST(ValueDependence, ShapeOfAFixedInputIsConstant) {
  const Analysed graph(view({2, 3}));
  EXPECT_TRUE(graph.depends("x"));
  EXPECT_TRUE(graph.depends("y"));
  EXPECT_FALSE(graph.depends("target"));
  EXPECT_FALSE(graph.depends("zero"));
  EXPECT_THAT(graph.frontier(), ElementsAre("target"));
}

TEST(ValueDependence, ShapeOfAFreeInputIsNot) {
  const Analysed graph(view({-1, 3}));
  EXPECT_TRUE(graph.depends("target"));
  EXPECT_THAT(graph.frontier(), ElementsAre());
}

TEST(ValueDependence, ShapesBehindNonZeroDependOnValues) {
  GraphBuilder builder;
  builder.input("x")
      .node("NonZero", {"x"}, {"n"})
      .node("Shape", {"n"}, {"s"})
      .node("ConstantOfShape", {"s"}, {"c"})
      .output("c");
  const Analysed graph(builder);
  EXPECT_TRUE(graph.depends("s"));
  EXPECT_TRUE(graph.depends("c"));
}

TEST(ValueDependence, ShapeOperandsThatDependOnValuesMakeShapesDepend) {
  GraphBuilder builder;
  builder.input("x").input("n", {1}, DType::kI64);
  builder.node("Reshape", {"x", "n"}, {"r"}).node("Shape", {"r"}, {"rs"});
  builder.node("Add", {"x", "x"}, {"a"}).node("Shape", {"a"}, {"as"});
  builder.node("Slice", {"x", "n", "n"}, {"c"}).node("Neg", {"c"}, {"d"}).node("Size", {"d"}, {"ds"});
  builder.output("rs").output("as").output("ds");
  const Analysed graph(builder);
  EXPECT_TRUE(graph.depends("rs"));
  EXPECT_FALSE(graph.depends("as"));
  EXPECT_TRUE(graph.depends("ds"));
}

TEST(ValueDependence, RandomOperatorsCountAsValues) {
  GraphBuilder builder;
  builder.input("x")
      .node("RandomNormal", {}, {"r"})
      .node("Neg", {"r"}, {"m"})
      .node("Shape", {"m"}, {"s"})
      .output("m")
      .output("s");
  const Analysed graph(builder);
  EXPECT_TRUE(graph.depends("m"));
  EXPECT_FALSE(graph.depends("s"));
}

TEST(ValueDependence, UnknownOperatorsGiveUnknownShapes) {
  GraphBuilder builder;
  builder.input("x").node("Mystery", {"x"}, {"m"});
  builder.last().set_domain("own");
  builder.node("Shape", {"m"}, {"s"}).output("s");
  EXPECT_TRUE(Analysed(builder).depends("s"));
}

TEST(ValueDependence, BothBranchesOfAnIfCount) {
  GraphBuilder constant;
  constant.node("Neg", {"k"}, {"t"}).output("t");
  GraphBuilder variable;
  variable.node("Neg", {"x"}, {"t"}).output("t");
  GraphBuilder builder;
  builder.input("x").initializer("k", floats({2, 2}, {1, 2, 3, 4}));
  builder.initializer("c", tensor_from_values<uint8_t>(DType::kBool, {}, {1}));
  builder.node("If", {"c"}, {"kk"}).body("then_branch", constant).body("else_branch", constant);
  builder.node("If", {"c"}, {"kx"}).body("then_branch", constant).body("else_branch", variable);
  builder.node("Shape", {"kx"}, {"s"}).output("kk").output("s");
  const Analysed graph(builder);
  EXPECT_FALSE(graph.depends("kk"));
  EXPECT_TRUE(graph.depends("kx"));
  EXPECT_FALSE(graph.depends("s"));
  EXPECT_THAT(graph.frontier(), UnorderedElementsAre("kk", "s"));
}

TEST(ValueDependence, ALoopDependsOnWhatItsBodyCaptures) {
  GraphBuilder body;
  body.input("i", {}, DType::kI64).input("go", {}, DType::kBool).input("a");
  body.node("Identity", {"go"}, {"on"}).node("Add", {"a", "x"}, {"b"}).output("on").output("b");
  GraphBuilder builder;
  builder.input("x").initializer("n", int64s({3})).initializer("k", floats({2, 2}, {1, 2, 3, 4}));
  builder.node("Loop", {"n", "", "k"}, {"y"}).body("body", body).output("y");
  EXPECT_TRUE(Analysed(builder).depends("y"));
}

TEST(ConstantFrontier, SkipsConstantNodesAndSequences) {
  GraphBuilder builder;
  builder.input("x").constant("k", floats({2, 2}, {1, 2, 3, 4})).node("Neg", {"k"}, {"m"}).node("Exp", {"m"}, {"e"});
  builder.node("SequenceConstruct", {"m"}, {"seq"}).node("SequenceInsert", {"seq", "x"}, {"more"});
  builder.node("Add", {"x", "k"}, {"a"}).node("Add", {"a", "e"}, {"y"}).output("y").output("more");
  EXPECT_THAT(Analysed(builder).frontier(), ElementsAre("e"));
}

}  // namespace
}  // namespace paritas::onnx_model
