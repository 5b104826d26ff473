#include "paritas/placement/name_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paritas/onnx/testing.h"

namespace paritas {
namespace {

using onnx_model::testing::GraphBuilder;
using onnx_model::testing::must;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// 0 "a", 1 "b;c", 2 "d"
onnx_model::GraphIndex graph() {
  GraphBuilder builder;
  const char* names[] = {"a", "b;c", "d"};
  builder.input("x");
  std::string from = "x";
  for (const char* name : names) {
    builder.node("Relu", {from}, {std::string(name) + "_out"});
    builder.last().set_name(name);
    from = std::string(name) + "_out";
  }
  return must(onnx_model::GraphIndex::build(builder.output(from).model()));
}

// node_table_test.cc has the rules for single names.
TEST(NameMapTest, ANewReshapeIsItsNode) {
  const auto index = graph();
  const NameMap map(index);
  EXPECT_THAT(map.find("a_new_reshape"), ElementsAre(0));
  EXPECT_THAT(map.find("a_token_3_new_reshape_token_4"), ElementsAre(0));
  EXPECT_THAT(map.find("_new_reshape"), IsEmpty());
}

// x -> Conv -> Relu -> r -> MaxPool -> p; p -> Conv -> c -> Add(p) -> a -> Sigmoid -> s; MatMul -> m
onnx_model::GraphIndex convolutions() {
  GraphBuilder builder;
  builder.input("x").initializer("w", onnx_model::testing::floats({1}, {1}));
  builder.node("Conv", {"x", "w"}, {"c0"}).node("Relu", {"c0"}, {"r"}).node("MaxPool", {"r"}, {"p"});
  builder.node("Conv", {"p", "w"}, {"c"}).node("Add", {"c", "p"}, {"a"}).node("Sigmoid", {"a"}, {"s"});
  builder.node("MatMul", {"s", "w"}, {"m"}).node("Relu", {"m"}, {"y"}).output("y");
  return must(onnx_model::GraphIndex::build(builder.model()));
}

TEST(NameMapTest, NodesInBlockedLayoutAreNamedAfterTheirTensor) {
  const auto index = convolutions();
  const NameMap map(index);
  const auto at = [&](const char* tensor) { return index.producer(tensor); };
  EXPECT_THAT(map.find("r_nchwc"), ElementsAre(at("r"), at("c0")));
  EXPECT_THAT(map.find("p_nchwc"), ElementsAre(at("p")));
  EXPECT_THAT(map.find("c_nchwc"), ElementsAre(at("c")));
  EXPECT_THAT(map.find("s_nchwc"), ElementsAre(at("s")));  // the addition may have gone with either side
  EXPECT_THAT(map.find("y_nchwc"), ElementsAre(at("y")));  // no convolution in front
  EXPECT_THAT(map.find("InsertedPrecisionFreeCast_p_nchwc"), ElementsAre(at("p")));  // the tensor in float32
  EXPECT_TRUE(is_made_up("InsertedPrecisionFreeCast_p"));
  EXPECT_THAT(map.find("x_nchwc"), IsEmpty());
  EXPECT_THAT(map.find("nothing_nchwc"), IsEmpty());
  EXPECT_TRUE(is_made_up("ReorderInput"));
  EXPECT_TRUE(is_made_up("ReorderOutput_token_3"));
  EXPECT_FALSE(is_made_up("ReorderOutputs"));
}

// Limits of a Clip and statistics of a normalisation may come out of nodes: they are no second way to go.
TEST(NameMapTest, ConstantsMadeByNodesAreNoWayBack) {
  GraphBuilder builder;
  builder.input("x").initializer("w", onnx_model::testing::floats({1}, {1}));
  builder.node("Conv", {"x", "w"}, {"c"}).node("Identity", {"w"}, {"low"}).node("Identity", {"low"}, {"lower"});
  builder.node("Clip", {"c", "lower"}, {"y"}).output("y");
  const auto index = must(onnx_model::GraphIndex::build(builder.model()));
  EXPECT_THAT(NameMap(index).find("y_nchwc"), ElementsAre(index.producer("y"), index.producer("c")));
}

TEST(NameMapTest, NodesWithoutANameAreNumbered) {
  GraphBuilder builder;
  builder.input("x").initializer("w", onnx_model::testing::floats({1}, {1}));
  builder.node("Relu", {"x"}, {"r"}).node("Constant", {}, {"k"}).node("Add", {"r", "w"}, {"a"});
  builder.node("Mul", {"a", "w"}, {"y"}).output("y");
  for (int i = 0; i < 3; ++i) builder.graph().mutable_node(i)->clear_name();
  builder.graph().mutable_node(3)->set_name("named");
  const auto index = must(onnx_model::GraphIndex::build(builder.model()));
  const NameMap map(index);
  EXPECT_EQ(map.numbered("Relu_0"), index.producer("r"));
  EXPECT_EQ(map.numbered("Add_1"), index.producer("a"));
  EXPECT_EQ(map.numbered("Add_2"), -1);  // another operator
  EXPECT_EQ(map.numbered("Mul_2"), -1);  // has a name
  EXPECT_THAT(map.find("Add_1"), IsEmpty());
}

TEST(NameMapTest, AFusionIsTheNodeThatItIsNamedAfter) {
  const auto index = graph();
  const NameMap map(index);
  EXPECT_THAT(map.find("a/QuickGeluFusion/"), ElementsAre(0));
  EXPECT_THAT(map.find("a/GeluFusion"), ElementsAre(0));
  EXPECT_THAT(map.find("a/MatmulTransposeFusion//MatMulScaleFusion/"), ElementsAre(0));
  EXPECT_THAT(map.find("a/Gelu2Fusion/"), IsEmpty());
  EXPECT_THAT(map.find("a/duplicated"), ElementsAre(0));
  EXPECT_THAT(map.find("/QuickGeluFusion/"), IsEmpty());
}

// Files may use a name twice: which node is meant, nobody knows.
TEST(NameMapTest, ANameOfTwoNodesIsAmbiguous) {
  GraphBuilder builder;
  builder.input("x").node("MatMul", {"x", "x"}, {"one"}).node("Add", {"one", "x"}, {"two"});
  builder.node("Relu", {"two"}, {"three"}).output("three");
  for (int i = 0; i < 2; ++i) builder.graph().mutable_node(i)->set_name("same");
  const auto index = must(onnx_model::GraphIndex::build(builder.model()));
  const NameMap map(index);
  EXPECT_EQ(map.exact("same"), -1);
  for (const char* name : {"same", "same_token_3", "same_new_reshape", "same/MatMulAddFusion"}) {
    EXPECT_TRUE(map.is_ambiguous(name)) << name;
    EXPECT_THAT(map.find(name), IsEmpty()) << name;
  }
  EXPECT_FALSE(map.is_ambiguous("Relu:three"));
  EXPECT_THAT(map.find("Relu:three"), ElementsAre(2));
}

TEST(NameMapTest, PiecesAreJoinedWhereOnlyThatGivesAName) {
  const auto index = graph();
  const NameMap map(index);
  size_t unknown = 9;
  EXPECT_THAT(map.find_joined({"a", "b", "c", "d_token_1"}, &unknown), ElementsAre(0, 1, 2));
  EXPECT_EQ(unknown, 0u);
  EXPECT_THAT(map.find_joined({"gemm_input_reshape", "c", "a"}, &unknown), ElementsAre(0));
  EXPECT_EQ(unknown, 1u);  // "c"; the reshape is the runtime's own
  EXPECT_THAT(map.find_joined({}), IsEmpty());
}

TEST(NameMapTest, MadeUpNames) {
  for (const char* name :
       {"gemm_input_reshape", "gemm_output_reshape_token_9_new_reshape", "Transpose_token_417", "a__paritas_Round"})
    EXPECT_TRUE(is_made_up(name)) << name;
  for (const char* name : {"/enc/Mul", "Transpose", "Transpose_417", "/enc/Concat_1_token_5", ""})
    EXPECT_FALSE(is_made_up(name)) << name;
}

}  // namespace
}  // namespace paritas
