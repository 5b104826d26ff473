#include <gtest/gtest.h>

#include <cmath>

#include "paritas/monitor/layers.h"
#include "paritas/monitor/reduce.h"

namespace paritas {
namespace {

TensorInfo tensor(const std::string& name, Role role = Role::kIntermediate) {
  TensorInfo info;
  info.name = name;
  info.role = role;
  return info;
}

TEST(PairLayers, TakesTheDequantisedTwinButNotOfAnOutput) {
  const LayerNames reference{{tensor("y", Role::kOutput), tensor("a")}, {}, {}};
  const LayerNames device{
      {tensor("y", Role::kOutput), tensor("a"), tensor("a_dq"), tensor("y_dq")}, {{"a", "a_dq"}, {"y", "y_dq"}}, {}};
  const auto found = pair_layers(reference, device, {}, "r", "d");
  ASSERT_TRUE(found);
  ASSERT_EQ(found->pairs.size(), 2U);
  EXPECT_EQ(found->pairs[0].device, "y");
  EXPECT_EQ(found->pairs[1].device, "a_dq");
  EXPECT_EQ(found->pairs[1].rule, "exact + dequantised");
}

TEST(PairLayers, AnActivationInTheQuantiserStandsForItsInput) {
  const LayerNames reference{{tensor("conv"), tensor("clip")}, {}, {{"conv", "clip"}}};
  const LayerNames device{{tensor("conv"), tensor("conv_dq")}, {{"conv", "conv_dq"}}, {}};
  const auto found = pair_layers(reference, device, {}, "r", "d");
  ASSERT_TRUE(found);
  ASSERT_EQ(found->pairs.size(), 1U);
  EXPECT_EQ(found->pairs[0].reference, "clip");
  EXPECT_EQ(found->pairs[0].device, "conv_dq");
  EXPECT_EQ(found->unmatched_reference, std::vector<std::string>{"conv"});
}

TEST(PairLayers, NothingIsPairedByPosition) {
  const auto found = pair_layers({{tensor("a")}, {}, {}}, {{tensor("b")}, {}, {}}, {}, "r", "d");
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->pairs.empty());
  EXPECT_EQ(found->unmatched_reference.size(), 1U);
  EXPECT_EQ(found->unmatched_device.size(), 1U);
}

MonitorRecord record(const std::string& id, double inner, double output) {
  MonitorRecord made;
  made.id = id;
  made.layers.resize(2);
  made.layers[0].metrics["nmse"] = output;
  made.layers[1].metrics["nmse"] = inner;
  return made;
}

MonitorResult two_layers() {
  MonitorResult result;
  result.layers.resize(2);
  result.layers[0].name = "y";
  result.layers[0].role = Role::kOutput;
  result.layers[1].name = "a";
  return result;
}

TEST(Reduce, NamesSamplesOnWhichAnOrdinaryErrorReachesTheOutput) {
  MonitorResult result = two_layers();
  reduce({record("s0", 1e-3, 1e-4), record("s1", 1e-3, 1e-4), record("s2", 1.5e-3, 1e-2)}, result);
  ASSERT_EQ(result.amplified.size(), 1U);
  EXPECT_EQ(result.amplified[0].sample, "s2");
  MonitorResult worse_inside = two_layers();
  reduce({record("s0", 1e-3, 1e-4), record("s1", 1e-3, 1e-4), record("s2", 1e-1, 1e-2)}, worse_inside);
  EXPECT_TRUE(worse_inside.amplified.empty());
}

TEST(Reduce, WorstIsTheSmallestCosineAndNaNIsWorseStill) {
  EXPECT_EQ(summary_of_metric("cosine", {{0.9, "a"}, {0.5, "b"}, {1.0, "c"}}).worst_sample, "b");
  EXPECT_EQ(summary_of_metric("max_abs", {{0.9, "a"}, {NAN, "b"}, {1.0, "c"}}).worst_sample, "b");
}

TEST(MonitorRecord, ComesBackFromJsonAsItWas) {
  MonitorRecord made = record("s0", 0.1, INFINITY);
  made.layers[0].verdict = Verdict::kDeviates;
  made.inputs.push_back({"x", {{-1, 1, 0.25, 3, 7}}, false, true});
  ClassificationRow row;
  row.label = 3;
  row.reference.top = {{3, 0.75}};
  row.reference.first = {3};
  row.reference.hit = LabelHit::kRight;
  row.device.digest = 0xFFFFFFFFFFFFFFFFU;
  made.tasks.push_back({{row}, {{Verdict::kDeviates, "text"}}});
  const auto back = monitor_record_from_json(to_json(made), "test");
  ASSERT_TRUE(back);
  EXPECT_EQ(to_json(*back), to_json(made));
  Json broken = to_json(made);
  broken["layers"][0].erase("verdict");
  EXPECT_FALSE(monitor_record_from_json(broken, "test"));
}

}  // namespace
}  // namespace paritas
