#include "paritas/locate/decision_ties.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paritas/locate/testing.h"

namespace paritas {
namespace {

using ::testing::ElementsAre;

Tensor floats(Shape shape, const std::vector<float>& values) {
  return tensor_from_values(DType::kF32, std::move(shape), values);
}
Tensor ints(Shape shape, const std::vector<int64_t>& values) {
  return tensor_from_values(DType::kI64, std::move(shape), values);
}
Tensor bools(const std::vector<uint8_t>& values) {
  return tensor_from_values(DType::kBool, {static_cast<int64_t>(values.size())}, values);
}

TEST(DecisionTies, TopKByPosition) {
  const Tensor scores = floats({2, 4}, {1, 8, 4, 7.5F, 5, 6, 2, 9});
  auto tie = tie_of_picks(scores, -1, true, true, ints({2, 2}, {1, 3, 3, 1}), ints({2, 2}, {3, 1, 3, 0}));
  ASSERT_TRUE(tie);
  EXPECT_DOUBLE_EQ(*tie->margin, 1);  // 6 against 5; 8 against 7.5 is nearer
  EXPECT_EQ(tie->compared, 3U);
  EXPECT_DOUBLE_EQ(*tie->runner_up, 1);  // 6 and 5 in the second row; 7.5 and 4 in the first
  EXPECT_DOUBLE_EQ(tie->at, 6);
}

TEST(DecisionTies, UnorderedTopKComparesSets) {
  const Tensor scores = floats({4}, {1, 8, 4, 7.5F});
  auto tie = tie_of_picks(scores, 0, true, false, ints({2}, {1, 3}), ints({2}, {3, 1}));
  ASSERT_TRUE(tie);
  EXPECT_FALSE(tie->margin);
  tie = tie_of_picks(scores, 0, true, false, ints({2}, {1, 3}), ints({2}, {2, 1}));
  EXPECT_DOUBLE_EQ(*tie->margin, 3.5);
}

TEST(DecisionTies, ArgMinAlongTheFirstAxis) {
  const Tensor scores = floats({3, 2}, {3, 1, 2, 5, 2.25F, 4});
  auto tie = tie_of_picks(scores, 0, false, true, ints({2}, {1, 0}), ints({2}, {2, 0}));
  ASSERT_TRUE(tie);
  EXPECT_DOUBLE_EQ(*tie->margin, 0.25);
  EXPECT_DOUBLE_EQ(*tie->runner_up, 0.25);
}

TEST(DecisionTies, IndicesBeyondTheScoresAreNotFollowed) {
  auto tie = tie_of_picks(floats({2}, {1, 2}), 0, true, true, ints({1}, {1}), ints({1}, {7}));
  ASSERT_TRUE(tie);
  EXPECT_FALSE(tie->margin);
  EXPECT_EQ(tie->not_taken, "an index lies beyond the scores");
}

TEST(DecisionTies, ComparisonWithABroadcastThreshold) {
  auto tie = tie_of_comparison(floats({4}, {0.5F, 0.25F, 1, 0.75F}), floats({}, {0.5F}), bools({0, 0, 1, 1}),
                               bools({1, 0, 1, 0}));
  ASSERT_TRUE(tie);
  EXPECT_DOUBLE_EQ(*tie->margin, 0.25);
  EXPECT_EQ(tie->compared, 2U);
  EXPECT_DOUBLE_EQ(*tie->runner_up, 0);
}

TEST(DecisionTies, NonZero) {
  auto tie = tie_of_nonzero(floats({2, 2}, {0, 3, 0.125F, 0}), ints({2, 2}, {0, 1, 1, 0}), ints({2, 1}, {0, 1}));
  ASSERT_TRUE(tie);
  EXPECT_DOUBLE_EQ(*tie->margin, 0.125);
  EXPECT_DOUBLE_EQ(*tie->runner_up, 0.125);
  EXPECT_FALSE(tie_of_nonzero(floats({2}, {1, 0}), ints({1, 1}, {9}), ints({1, 1}, {0})));
}

TEST(DecisionTies, TheSmallestSufficientErrorExplains) {
  DecisionTie tie;
  tie.accumulated_error = 1;
  EXPECT_EQ(explained_by(tie), "");  // nothing changed
  tie.margin = 0.5;
  tie.storage_step = 0.5;
  tie.local_error = 0.01;
  EXPECT_EQ(explained_by(tie), "storage");
  tie.storage_step = 0.1;
  EXPECT_EQ(explained_by(tie), "accumulated");
  tie.local_error = 0.25;
  EXPECT_EQ(explained_by(tie), "local");
  tie.margin = 3;
  EXPECT_EQ(explained_by(tie), "nothing");
}

TEST(DecisionTies, GathersByADecision) {
  const auto model = testing::model_of({"x"},
                                       {{"ArgMax", {"x"}, {"i"}},
                                        {"Unsqueeze", {"i"}, {"u"}},
                                        {"Gather", {"x", "u"}, {"g"}},
                                        {"Gather", {"x", "g"}, {"other"}}},
                                       {"other"});
  const auto index = onnx_model::GraphIndex::build(model);
  EXPECT_THAT(gathers_by(*index, "i", [](const std::string& t) { return t != "i" && t != "u"; }), ElementsAre("g"));
}

}  // namespace
}  // namespace paritas
