#include "paritas/placement/node_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paritas/onnx/testing.h"

namespace paritas {
namespace {

using onnx_model::GraphIndex;
using onnx_model::testing::GraphBuilder;
using onnx_model::testing::must;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr const char* kDevice = "DeviceProvider";
constexpr const char* kCpu = "CPUExecutionProvider";

// 0 MatMul:m -> 1 Add:a (with x), 2 Relu:r (m), 3 Erf:e (a), 4 Mul:y (e, r)
GraphIndex graph() {
  return must(GraphIndex::build(GraphBuilder()
                                    .input("x")
                                    .node("MatMul", {"x", "x"}, {"m"})
                                    .node("Add", {"m", "x"}, {"a"})
                                    .node("Relu", {"m"}, {"r"})
                                    .node("Erf", {"a"}, {"e"})
                                    .node("Mul", {"e", "r"}, {"y"})
                                    .output("y")
                                    .model()));
}

AssignedNode assigned(const std::string& name, const std::string& op, const std::string& provider) {
  return {name, op, provider, 0};
}

TEST(SourceNodes, ByExactName) { EXPECT_THAT(source_nodes("Erf:e", graph()), ElementsAre(3)); }

TEST(SourceNodes, WithoutATokenSuffix) {
  EXPECT_THAT(source_nodes("Erf:e_token_12", graph()), ElementsAre(3));
  EXPECT_THAT(source_nodes("Erf:e_token_", graph()), IsEmpty());
  EXPECT_THAT(source_nodes("Erf:e_token_x1", graph()), IsEmpty());
}

TEST(SourceNodes, AMatMulAddFusionIsTheMatMulAndTheAddThatReadsIt) {
  // The Relu reads it too, and is not part of the fusion.
  EXPECT_THAT(source_nodes("MatMul:m/MatMulAddFusion", graph()), ElementsAre(0, 1));
  EXPECT_THAT(source_nodes("MatMul:m/MatMulAddFusion_token_3", graph()), ElementsAre(0, 1));
  EXPECT_THAT(source_nodes("/MatMulAddFusion", graph()), IsEmpty());
}

TEST(SourceNodes, NothingIsGuessed) {
  EXPECT_THAT(source_nodes("gemm_input_reshape_7", graph()), IsEmpty());
  EXPECT_THAT(source_nodes("Erf", graph()), IsEmpty());
  EXPECT_THAT(source_nodes("", graph()), IsEmpty());
}

TEST(SourceNodes, ANodeThatReallyEndsInTokenIsFoundByItsOwnName) {
  GraphBuilder builder;
  builder.input("x").node("Relu", {"x"}, {"y"}).output("y");
  builder.last().set_name("Relu_token_1");
  EXPECT_THAT(source_nodes("Relu_token_1", must(GraphIndex::build(builder.model()))), ElementsAre(0));
}

TEST(NodeTableTest, CountsTheOptimisedGraphAndMapsItBack) {
  const NodeTable table =
      node_table(kDevice,
                 {assigned("MatMul:m/MatMulAddFusion", "Gemm", kDevice), assigned("Relu:r", "Relu", kDevice),
                  assigned("Erf:e", "Erf", kCpu), assigned("made_up", "Reshape", kDevice)},
                 2, graph());
  EXPECT_EQ(table.counts.requested, kDevice);
  EXPECT_THAT(table.counts.nodes, ElementsAre(Pair(kDevice, 3), Pair(kCpu, 1)));
  EXPECT_EQ(table.counts.partitions, 2u);
  EXPECT_THAT(table.counts.evidence, ElementsAre("session assignment"));
  EXPECT_THAT(table.provider, ElementsAre(kDevice, kDevice, kDevice, kCpu, ""));
  EXPECT_THAT(table.unmapped, ElementsAre("made_up"));
  EXPECT_THAT(table.elsewhere, ElementsAre("1 x Erf on CPUExecutionProvider: Erf:e"));
}

TEST(NodeTableTest, LongListsElsewhereAreCut) {
  std::vector<AssignedNode> nodes;
  for (int i = 0; i < 5; ++i) nodes.push_back(assigned("n" + std::to_string(i), "Erf", kCpu));
  EXPECT_THAT(node_table(kDevice, nodes, 0, graph()).elsewhere,
              ElementsAre("5 x Erf on CPUExecutionProvider: n0, n1, n2, ..."));
}

TEST(NodeTableTest, WithoutAnAssignmentNothingIsKnown) {
  const NodeTable table = node_table(kDevice, {}, -1, graph());
  EXPECT_EQ(table.counts.total(), 0u);
  EXPECT_EQ(table.counts.partitions, 0u);
  EXPECT_THAT(table.counts.evidence, IsEmpty());
  EXPECT_THAT(table.provider, ElementsAre("", "", "", "", ""));
}

OpTrace trace(const std::vector<DeviceOp>& ops) { return {"htp", "m", ops}; }

TEST(FusedGroups, AreTwoNodesOrMoreOfOneDeviceOperation) {
  const auto groups = fused_groups(trace({{"d1", "Gelu", "GeluFusion", {"Mul:y", "Erf:e"}},
                                          {"d2", "MatMul", "OrtNodeUnit", {"MatMul:m"}},
                                          {"d3", "Fc", "MatMulAdd", {"Add:a", "MatMul:m"}}}),
                                   graph());
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_THAT(groups[0].nodes, ElementsAre(0, 1));  // graph order, indices ascending
  EXPECT_EQ(groups[0].kind, "MatMulAdd");
  EXPECT_THAT(groups[1].nodes, ElementsAre(3, 4));
}

TEST(FusedGroups, AreLeftOutWhenASourceIsNotInTheModel) {
  EXPECT_THAT(fused_groups(trace({{"d", "Gelu", "GeluFusion", {"Erf:e", "made_up"}}}), graph()), IsEmpty());
  EXPECT_THAT(fused_groups(trace({{"d", "Gelu", "GeluFusion", {"Erf:e", "Mul:y_token_1"}}}), graph()), IsEmpty());
}

TEST(FusedGroups, AreDisjoint) {
  const auto groups = fused_groups(
      trace({{"d1", "A", "first", {"MatMul:m", "Add:a"}}, {"d2", "B", "second", {"Add:a", "Erf:e"}}}), graph());
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].kind, "first");
}

TEST(FusedGroups, ANodeNamedTwiceIsNoGroup) {
  EXPECT_THAT(fused_groups(trace({{"d", "A", "k", {"Add:a", "Add:a"}}}), graph()), IsEmpty());
}

}  // namespace
}  // namespace paritas
