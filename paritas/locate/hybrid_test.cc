#include "paritas/locate/hybrid.h"

#include <gmock/gmock.h>

#include <set>

#include <fmt/format.h>

#include <rapidcheck/gtest.h>

#include "paritas/locate/testing.h"

namespace paritas {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

struct Graph {
  onnx_model::Model model;
  onnx_model::GraphIndex index;
  onnx_model::ValueDependence dependence;

  explicit Graph(onnx_model::Model given)
      : model(std::move(given)),
        index(*onnx_model::GraphIndex::build(model)),
        dependence(onnx_model::value_dependence(model, index)) {}

  std::vector<HybridPart> parts(const std::vector<std::string>& restored) const {
    std::vector<bool> flags;
    for (const auto& node : index.nodes())
      flags.push_back(std::find(restored.begin(), restored.end(), node.name) != restored.end());
    return hybrid_parts(index, dependence, flags);
  }
  std::vector<std::string> names(const HybridPart& part) const {
    std::vector<std::string> names;
    for (const int node : part.nodes) names.push_back(index.nodes()[static_cast<size_t>(node)].name);
    return names;
  }
};

// x - a - b - c - d - y, and a side branch a - s - y
Graph chain() {
  return Graph(testing::model_of({"x"},
                                 {{"Relu", {"x"}, {"a"}},
                                  {"Exp", {"a"}, {"b"}},
                                  {"Neg", {"b"}, {"c"}},
                                  {"Exp", {"c"}, {"d"}},
                                  {"Abs", {"a"}, {"s"}},
                                  {"Add", {"d", "s"}, {"y"}}},
                                 {"y"}));
}

TEST(HybridParts, EverythingOnTheDevice) {
  const Graph graph = chain();
  const auto parts = graph.parts({});
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_FALSE(parts[0].on_reference);
  EXPECT_THAT(parts[0].inputs, ElementsAre("x"));
  EXPECT_THAT(parts[0].outputs, ElementsAre("y"));
}

TEST(HybridParts, OneRestoredNodeMakesThreeTurns) {
  const Graph graph = chain();
  const auto parts = graph.parts({"b"});
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_THAT(graph.names(parts[0]), UnorderedElementsAre("a", "s"));
  EXPECT_THAT(parts[0].outputs, UnorderedElementsAre("a", "s"));
  EXPECT_TRUE(parts[1].on_reference);
  EXPECT_THAT(parts[1].inputs, ElementsAre("a"));
  EXPECT_THAT(parts[1].outputs, ElementsAre("b"));
  EXPECT_THAT(graph.names(parts[2]), UnorderedElementsAre("c", "d", "y"));
  EXPECT_THAT(parts[2].inputs, UnorderedElementsAre("b", "s"));
}

TEST(HybridParts, NodesThatAreNotAdjacentTakeTheirOwnTurns) {
  const Graph graph = chain();
  const auto parts = graph.parts({"b", "d"});
  ASSERT_EQ(parts.size(), 5U);
  EXPECT_THAT(graph.names(parts[1]), ElementsAre("b"));
  EXPECT_THAT(graph.names(parts[2]), ElementsAre("c"));
  EXPECT_THAT(graph.names(parts[3]), ElementsAre("d"));
}

// Property: every value-dependent node stands in exactly one part, of its own side, and reads only what earlier parts
// hand out or the graph is fed with.
RC_GTEST_PROP(HybridPartsProperty, EveryNodeOnceAndNothingFromTheFuture, ()) {
  const int count = *rc::gen::inRange(1, 25);
  std::vector<testing::NodeSpec> nodes;
  for (int i = 0; i < count; ++i) {
    auto pick = [&] {
      const int at = *rc::gen::inRange(-1, i);
      return at < 0 ? std::string("x") : fmt::format("n{}", at);
    };
    nodes.push_back({"Add", {pick(), pick()}, {fmt::format("n{}", i)}});
  }
  const auto restored = *rc::gen::container<std::vector<bool>>(static_cast<size_t>(count), rc::gen::arbitrary<bool>());
  const Graph graph(testing::model_of({"x"}, nodes, {fmt::format("n{}", count - 1), "n0"}));
  const auto parts = hybrid_parts(graph.index, graph.dependence, restored);
  std::set<std::string> known{"x"};
  std::set<int> seen;
  for (const HybridPart& part : parts) {
    std::set<std::string> inside(known);
    for (const auto& input : part.inputs) RC_ASSERT(known.count(input) == 1U);
    std::set<std::string> made;
    for (const int node : part.nodes) {
      RC_ASSERT(seen.insert(node).second);
      RC_ASSERT(restored[static_cast<size_t>(node)] == part.on_reference);
      for (const auto& output : graph.index.nodes()[static_cast<size_t>(node)].outputs) made.insert(output);
    }
    const std::set<std::string> fed(part.inputs.begin(), part.inputs.end());
    for (const int node : part.nodes)
      for (const auto& input : graph.index.nodes()[static_cast<size_t>(node)].inputs)
        RC_ASSERT(made.count(input) + fed.count(input) == 1U);
    for (const auto& output : part.outputs) {
      RC_ASSERT(made.count(output) == 1U);
      known.insert(output);
    }
  }
  for (const auto& output : graph.index.outputs()) RC_ASSERT(known.count(output) == 1U);
}

}  // namespace
}  // namespace paritas
