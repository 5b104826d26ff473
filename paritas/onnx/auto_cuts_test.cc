#include "paritas/onnx/auto_cuts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paritas/onnx/testing.h"

namespace paritas::onnx_model {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<Cut> propose(const GraphBuilder& builder, int count, const TensorBytes& bytes) {
  const Model model = builder.model();
  const GraphIndex index = must(GraphIndex::build(model));
  return propose_cuts(model, index, value_dependence(model, index), count, bytes);
}

const TensorBytes kEqual = [](const std::string&) { return std::optional<uint64_t>(64); };

GraphBuilder chain(const std::vector<std::string>& outputs) {
  GraphBuilder g;
  g.input("x");
  std::string last = "x";
  for (const auto& name : outputs) {
    g.node("Relu", {last}, {name}, false);
    last = name;
  }
  return std::move(g.output(last));
}

TEST(AutoCuts, PreferModuleBorders) {
  const auto cuts = propose(chain({"/enc/a", "/enc/b", "/enc/c", "/dec/d", "/dec/e", "/dec/f"}), 1, kEqual);
  ASSERT_THAT(cuts, SizeIs(1));
  EXPECT_THAT(cuts[0].tensors, ElementsAre("/enc/c"));
  EXPECT_EQ(cuts[0].name, "auto-1");
}

TEST(AutoCuts, PreferFewBytes) {
  const auto cuts = propose(chain({"a", "b", "c", "d", "e"}), 1, [](const std::string& tensor) {
    return std::optional<uint64_t>(tensor == "c" ? 16 : 1024);
  });
  ASSERT_THAT(cuts, SizeIs(1));
  EXPECT_THAT(cuts[0].tensors, ElementsAre("c"));
}

TEST(AutoCuts, PreferFewTensors) {
  GraphBuilder g;
  g.input("x").node("Relu", {"x"}, {"a"}).node("Relu", {"a"}, {"b1"}).node("Relu", {"a"}, {"b2"});
  g.node("Add", {"b1", "b2"}, {"c"}).node("Relu", {"c"}, {"d1"}).node("Add", {"d1", "c"}, {"y"}).output("y");
  for (const Cut& cut : propose(g, 2, kEqual)) EXPECT_THAT(cut.tensors, SizeIs(1));
}

TEST(AutoCuts, AreSpreadWithoutDuplicates) {
  const auto cuts = propose(chain({"a", "b", "c", "d", "e", "f", "g", "h"}), 3, kEqual);
  ASSERT_THAT(cuts, SizeIs(3));
  std::set<std::vector<std::string>> sets;
  for (const Cut& cut : cuts) sets.insert(cut.tensors);
  EXPECT_THAT(sets, SizeIs(3));
}

TEST(AutoCuts, InputsThatBothHalvesNeedAreIncluded) {
  GraphBuilder g;
  g.input("x").input("mask").node("Mul", {"x", "mask"}, {"a"}).node("Relu", {"a"}, {"b"});
  g.node("Mul", {"b", "mask"}, {"y"}).output("y");
  const auto cuts = propose(g, 1, kEqual);
  ASSERT_THAT(cuts, SizeIs(1));
  EXPECT_THAT(cuts[0].tensors, ::testing::Contains("mask"));
}

TEST(AutoCuts, NothingToCutGivesNone) {
  EXPECT_THAT(propose(chain({"y"}), 3, kEqual), IsEmpty());
  EXPECT_THAT(propose(chain({"a", "y"}), 3, [](const std::string&) { return std::optional<uint64_t>(); }), IsEmpty());
}

}  // namespace
}  // namespace paritas::onnx_model
