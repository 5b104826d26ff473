#include "paritas/locate/ranking.h"

#include <cmath>

#include <gtest/gtest.h>

#include "paritas/locate/testing.h"

namespace paritas {
namespace {

using testing::model_of;
using testing::row;

Sensitivities::Effect material() { return {0.5, 0.9, false}; }

class Rank : public ::testing::Test {
 protected:
  // a -> b -> c -> y
  Rank()
      : model_(model_of({"x"},
                        {{"Mul", {"x"}, {"a"}}, {"Mul", {"a"}, {"b"}}, {"Mul", {"b"}, {"c"}}, {"Mul", {"c"}, {"y"}}},
                        {"y"})),
        index_(*onnx_model::GraphIndex::build(model_)) {
    measured_.complete = true;
    measured_.all_share = 1;
  }

  std::vector<std::string> order(std::vector<NodeRow>& rows, bool deviates = true) {
    return rank(rows, index_, reach_, measured_, deviates).nodes;
  }

  onnx_model::Model model_;
  onnx_model::GraphIndex index_;
  std::unordered_set<std::string> reach_;
  Sensitivities measured_;
};

TEST_F(Rank, HealthyNetworksAreOrderedByLocalErrorAlone) {
  std::vector<NodeRow> rows = {row("a", 1, 1e-7), row("b", 1, 1e-5), row("c", 1, 1e-6)};
  rows[2].local->metrics.storage->overflowed = 3;  // an infinite anchor, say
  EXPECT_EQ(order(rows, false), (std::vector<std::string>{"b", "c", "a"}));
  EXPECT_FALSE(rows[2].consequential);
  EXPECT_EQ(rows[2].range, RangeViolation::kOverflow) << "it is still a fact";
}

TEST_F(Rank, ConsequentialRangeViolationsComeFirstHoweverSmall) {
  std::vector<NodeRow> rows = {row("a", 0.5, 1e-3), row("b", 0.5, 1e-9), row("c", 0.5, 0.5)};
  rows[1].local->metrics.storage->overflowed = 1;
  rows[1].local->metrics.storage->max_over_limit = 2;
  measured_.alone["b"] = material();
  measured_.alone["c"] = material();
  EXPECT_EQ(order(rows), (std::vector<std::string>{"b", "c", "a"}));
}

TEST_F(Rank, GraphOrderAmongCulpritsNotSize) {
  // An addition that rounds a little before a subtraction that shows it: the addition made it.
  std::vector<NodeRow> rows = {row("a", 1, 1e-8), row("b", 0.5, 0.7), row("c", 0.5, 1e-4)};
  measured_.alone["a"] = {0.17, 0.5, false};
  measured_.alone["b"] = {0.17, 0.5, false};
  EXPECT_EQ(order(rows), (std::vector<std::string>{"a", "b", "c"}));
}

TEST_F(Rank, MeasuredAndHarmlessIsAcquitted) {
  std::vector<NodeRow> rows = {row("a", 0.5, 0.9), row("b", 0.5, 1e-6)};
  rows[0].local->metrics.storage->overflowed = 1;
  reach_ = {"a", "b"};
  measured_.alone["a"] = {1e-9, 1e-9, false};
  measured_.alone["b"] = material();
  EXPECT_EQ(order(rows), (std::vector<std::string>{"b", "a"}));
  EXPECT_FALSE(rows[0].consequential);
}

TEST_F(Rank, WithoutConvictionThePathDecidesRangeFirst) {
  std::vector<NodeRow> rows = {row("a", 0.5, 1e-6), row("b", 0.5, 1e-7), row("c", 1, 1e-2)};
  rows[1].local->metrics.storage->overflowed = 1;
  reach_ = {"a", "b"};
  EXPECT_EQ(order(rows), (std::vector<std::string>{"b", "c", "a"}));
  rows[1].local->metrics.storage->overflowed = 0;
  EXPECT_EQ(order(rows), (std::vector<std::string>{"a", "c", "b"})) << "the path starts at a";
}

TEST_F(Rank, FirstDivergenceIsOnThePath) {
  std::vector<NodeRow> rows = {row("a", 0.5, 0), row("b", 0.5, 1e-3)};
  reach_ = {"b"};  // a diverges and dies
  EXPECT_EQ(rank(rows, index_, reach_, measured_, true).first_divergence, "b");
  EXPECT_EQ(rank(rows, index_, reach_, measured_, false).first_divergence, "");
}

TEST_F(Rank, ATensorWithoutFiguresIsNoDivergence) {
  std::vector<NodeRow> rows = {row("a", 0.5, 0), row("b", 0.5, 1e-3)};
  rows[0].accumulated.reset();
  reach_ = {"a", "b"};
  EXPECT_EQ(rank(rows, index_, reach_, measured_, true).first_divergence, "b");
}

TEST(ClassifyRange, UnderflowMustAccountForTheError) {
  NodeRow r = row("a", 1, 0.5);
  r.local->metrics.storage->subnormal = 4;
  r.local->metrics.storage->lost_energy = 0.5;
  classify_range(r, nullptr);
  EXPECT_EQ(r.range, RangeViolation::kUnderflow);
  r.local->metrics.error_norm = 100;  // wrong for another reason
  classify_range(r, nullptr);
  EXPECT_EQ(r.range, RangeViolation::kNone);
}

TEST(ClassifyRange, ALostEpsilonCountsOnceItIsFatal) {
  NodeRow r = row("a", 1, 1e-20);
  r.local->metrics.storage->flushed = 1;
  r.local->metrics.storage->lost_energy = 1e-20;
  classify_range(r, nullptr);
  EXPECT_EQ(r.range, RangeViolation::kNone);
  const auto effect = material();
  classify_range(r, &effect);
  EXPECT_EQ(r.range, RangeViolation::kUnderflow);
}

TEST(ClassifyRange, ConstantsAreChargedToTheReader) {
  NodeRow r = row("a", 1, 0.9);
  r.constant = "mask";
  r.constant_storage = StorageBaseline{};
  r.constant_storage->overflowed = 1;
  r.constant_storage->max_over_limit = 15000;
  classify_range(r, nullptr);
  EXPECT_EQ(r.range, RangeViolation::kOverflow);
  EXPECT_TRUE(r.range_of_constant);
  r.local->metrics.differing = 0;  // it changed nothing
  classify_range(r, nullptr);
  EXPECT_EQ(r.range, RangeViolation::kNone);
}

TEST(ClassifyRange, DeviceOnlyNanIsAnInnerOverflow) {
  NodeRow r = row("a", 1, 0);
  r.local->metrics.nonfinite.device_only = 2;
  classify_range(r, nullptr);
  EXPECT_EQ(r.range, RangeViolation::kOverflow);
}

}  // namespace
}  // namespace paritas
