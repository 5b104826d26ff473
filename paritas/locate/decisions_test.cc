#include "paritas/locate/decisions.h"

#include <gtest/gtest.h>

#include "paritas/locate/testing.h"

namespace paritas {
namespace {

using testing::model_of;

Tensor integers(Shape shape, std::vector<int64_t> values) {
  return tensor_from_values(DType::kI64, std::move(shape), values);
}

onnx_model::GraphIndex::Node topk() {
  onnx_model::GraphIndex::Node node;
  node.name = "topk";
  node.op = "TopK";
  return node;
}

TEST(CompareDecision, MovedIsNotPickedOtherwise) {
  auto report = compare_decision(topk(), "i", integers({1, 4}, {7, 3, 5, 1}), integers({1, 4}, {3, 7, 5, 2}));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->count, 4u);
  EXPECT_EQ(report->moved, 3u);
  EXPECT_EQ(report->picks, 1u);
  EXPECT_TRUE(report->changed());
}

TEST(CompareDecision, PicksAreCountedPerRow) {
  auto report = compare_decision(topk(), "i", integers({2, 2}, {1, 2, 3, 4}), integers({2, 2}, {3, 4, 1, 2}));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->picks, 4u);
}

TEST(CompareDecision, AnotherNumberOfPicksIsAChange) {
  auto report = compare_decision(topk(), "i", integers({3}, {1, 2, 3}), integers({2}, {1, 2}));
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->changed());
}

TEST(FindDecisions, IntegersFromFloatsButNoNumbers) {
  auto model = model_of({"x"},
                        {{"ArgMax", {"x"}, {"picked"}},
                         {"Cast", {"x"}, {"index"}},
                         {"TopK", {"x"}, {"values", "unused"}},
                         {"Gather", {"x", "picked"}, {"y"}},
                         {"Gather", {"y", "index"}, {"z"}}},
                        {"z", "values"});
  Prepared prepared{std::move(model), {}, {}, {}, {}};
  prepared.index = *onnx_model::GraphIndex::build(prepared.folded);
  prepared.dependence = onnx_model::value_dependence(prepared.folded, prepared.index);
  std::unordered_map<std::string, Tensor> reference;
  for (const char* name : {"x", "values", "y", "z"})
    reference[name] = tensor_from_values(DType::kF32, {1}, std::vector<float>{0});
  for (const char* name : {"picked", "index", "unused"}) reference[name] = integers({1}, {0});
  const auto points = find_decisions(prepared, reference);
  ASSERT_EQ(points.size(), 1u) << "a cast is a number, an index that nobody reads decides nothing";
  EXPECT_EQ(points[0].tensor, "picked");
}

TEST(NodesBehind, EverythingDownstream) {
  auto model = model_of({"x"}, {{"Mul", {"x"}, {"a"}}, {"Mul", {"a"}, {"b"}}, {"Mul", {"x"}, {"c"}}}, {"b", "c"});
  auto index = onnx_model::GraphIndex::build(model);
  EXPECT_EQ(nodes_behind(*index, {"a"}), (std::vector<bool>{false, true, false}));
}

}  // namespace
}  // namespace paritas
