#include "paritas/locate/consistency_precision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paritas/onnx/testing.h"

namespace paritas {
namespace {

using onnx_model::testing::floats;
using onnx_model::testing::GraphBuilder;

onnx_model::Model model(const GraphBuilder& graph) {
  const std::string bytes = graph.proto().SerializeAsString();
  return std::move(*onnx_model::Model::parse(std::as_bytes(std::span(bytes)), ".", "test"));
}

Tensor bytes_of(DType dtype, Shape shape, size_t size) {
  return Tensor{dtype, std::move(shape), Bytes::in_memory(std::vector<std::byte>(size))};
}

TEST(ConsistencyPrecision, AFloatGraphPrescribesNothing) {
  EXPECT_TRUE(declared_precision(model(GraphBuilder().input("x").node("Relu", {"x"}, {"y"}).output("y"))).empty());
}

TEST(ConsistencyPrecision, QuantisedTensorsAreComputedQuantisedWeightsAreKept) {
  const auto found = declared_precision(model(GraphBuilder()
                                                  .input("x")
                                                  .initializer("s", floats({}, {0.5F}))
                                                  .initializer("z", bytes_of(DType::kU8, {}, 1))
                                                  .initializer("w", bytes_of(DType::kI8, {2, 2}, 4))
                                                  .node("QuantizeLinear", {"x", "s", "z"}, {"q"})
                                                  .node("DequantizeLinear", {"q", "s", "z"}, {"d"})
                                                  .node("DequantizeLinear", {"w", "s"}, {"wf"})
                                                  .node("MatMul", {"d", "wf"}, {"y"})
                                                  .output("y")));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].format, "uint8");
  EXPECT_TRUE(found[0].computed);
  EXPECT_EQ(found[0].nodes, 2U);
  EXPECT_THAT(found[0].ops, ::testing::ElementsAre("DequantizeLinear", "QuantizeLinear"));
  EXPECT_EQ(found[1].format, "int8");
  EXPECT_FALSE(found[1].computed);
  EXPECT_EQ(found[1].constants, 1U);
}

TEST(ConsistencyPrecision, Float16WeightsThatAreCastUpAreOnlyKept) {
  auto graph = GraphBuilder().input("x").initializer("w", bytes_of(DType::kF16, {2, 2}, 8));
  graph.node("Cast", {"w"}, {"wf"}).attribute("to", 1);
  const auto found = declared_precision(model(graph.node("MatMul", {"x", "wf"}, {"y"}).output("y")));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].format, "float16");
  EXPECT_FALSE(found[0].computed);
  EXPECT_EQ(found[0].constants, 1U);
}

TEST(ConsistencyPrecision, ACastDownIsComputed) {
  auto graph = GraphBuilder().input("x");
  graph.node("Cast", {"x"}, {"h"}).attribute("to", 16);
  graph.node("Relu", {"h"}, {"r"});
  graph.node("Cast", {"r"}, {"y"}).attribute("to", 1);
  const auto found = declared_precision(model(graph.output("y")));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].format, "bfloat16");
  EXPECT_TRUE(found[0].computed);
  EXPECT_EQ(found[0].nodes, 3U);
}

}  // namespace
}  // namespace paritas
