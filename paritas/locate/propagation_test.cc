#include "paritas/locate/propagation.h"

#include <cmath>

#include <gtest/gtest.h>

#include "paritas/locate/testing.h"

namespace paritas {
namespace {

using testing::metrics;
using testing::model_of;
using testing::row;

TEST(Diverges, ByCosineScaleAndNonfinite) {
  EXPECT_FALSE(diverges(metrics(0.9999, 1e-4)));
  EXPECT_TRUE(diverges(metrics(0.98, 0.04)));
  PairMetrics scaled = metrics(1.0, 0.25);
  scaled.scale_ratio = 1.5;
  EXPECT_TRUE(diverges(scaled)) << "a cosine of 1 hides a wrong scale";
  PairMetrics nan = metrics(1.0, 0.0);
  nan.nonfinite.device_only = 1;
  EXPECT_TRUE(diverges(nan));
  PairMetrics nothing_finite = metrics(std::nan(""), std::nan(""));
  nothing_finite.differing = 4;
  EXPECT_TRUE(diverges(nothing_finite)) << "figures that do not exist are no agreement";
  PairMetrics equal = metrics(1.0, 0.0);
  EXPECT_FALSE(diverges(equal));
}

TEST(Deviates, NotWhenStoringCostsAsMuch) {
  PairMetrics m = metrics(0.0, 1.0);
  m.max_abs = 1e-8;
  EXPECT_TRUE(deviates(m));
  m.storage = StorageBaseline{};
  m.storage->max_abs = 1e-8;
  EXPECT_FALSE(deviates(m)) << "values that the type flushes to zero cannot come out better";
  m.max_abs = 1e-7;
  EXPECT_TRUE(deviates(m));
  m.max_abs = 1e-8;
  m.storage->overflowed = 1;
  EXPECT_TRUE(deviates(m)) << "what does not fit is no baseline";
}

TEST(Reaching, FollowsDivergingTensorsToTheSink) {
  // x -> a -> b -> y, and a side branch c that diverges but dies in d, which agrees.
  auto model = model_of({"x"},
                        {{"Mul", {"x"}, {"a"}},
                         {"Mul", {"a"}, {"b"}},
                         {"Mul", {"x"}, {"c"}},
                         {"Mul", {"c"}, {"d"}},
                         {"Add", {"b", "d"}, {"y"}}},
                        {"y"});
  auto index = onnx_model::GraphIndex::build(model);
  ASSERT_TRUE(index);
  std::vector<NodeRow> rows = {row("a", 0.5, 0), row("b", 0.5, 0), row("c", 0.5, 0), row("d", 1.0, 0),
                               row("y", 0.5, 0)};
  const auto found = reaching(rows, *index, {"y"}, {});
  EXPECT_EQ(found, (std::unordered_set<std::string>{"a", "b", "y"}));
}

TEST(Reaching, ATensorWithoutFiguresDoesNotStopThePath) {
  auto model = model_of({"x"}, {{"Mul", {"x"}, {"a"}}, {"Mul", {"a"}, {"b"}}, {"Mul", {"b"}, {"y"}}}, {"y"});
  auto index = onnx_model::GraphIndex::build(model);
  std::vector<NodeRow> rows = {row("a", 0.5, 0), row("b", 1, 0), row("y", 0.5, 0)};
  rows[1].accumulated.reset();
  EXPECT_EQ(reaching(rows, *index, {"y"}, {}).count("a"), 1u);
  EXPECT_EQ(reaching(rows, *index, {"y"}, {"b"}).count("a"), 0u) << "behind a fed tensor runs the reference's value";
}

TEST(Reaching, IntegersCountByEquality) {
  auto model = model_of({"x"}, {{"Mul", {"x"}, {"a"}}, {"Cast", {"a"}, {"i"}}, {"Gather", {"x", "i"}, {"y"}}}, {"y"});
  auto index = onnx_model::GraphIndex::build(model);
  std::vector<NodeRow> rows = {row("a", 0.5, 0), row("i", 1, 0), row("y", 0.5, 0)};
  rows[1].dtype = DType::kI64;
  rows[1].accumulated = metrics(0.99999, 1e-9);  // one index of many is off by one
  EXPECT_EQ(reaching(rows, *index, {"y"}, {}).count("a"), 1u);
  rows[1].accumulated->differing = 0;
  EXPECT_EQ(reaching(rows, *index, {"y"}, {}).count("a"), 0u);
}

}  // namespace
}  // namespace paritas
