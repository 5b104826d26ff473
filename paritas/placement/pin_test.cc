#include "paritas/placement/pin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paritas/placement/conclude.h"
#include "paritas/placement/testing.h"

namespace paritas {
namespace {

using namespace paritas::testing;
using onnx_model::testing::floats;
using onnx_model::testing::int64s;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

NamedTensors scores(const std::vector<float>& values) { return {{"scores", floats({4}, values)}}; }

const NamedTensors kReference = scores({0.9F, 0.1F, 0.2F, 0.3F});
const NamedTensors kBroken = scores({0.3F, 0.3F, 0.1F, 0.3F});
const NamedTensors kRight = scores({0.9F, 0.1F, 0.2F, 0.301F});

// The pin moved Softmax:s; the Mul went with it.
PinExperiment moved() {
  PinExperiment pin;
  pin.pins = {"Softmax=CPU"};
  trace_pins(parse_pins(pin.pins).value(), kDevice,
             {assigned("MatMul:m", "MatMul", kDevice, 0), assigned("Softmax:s", "Softmax", kDevice, 0),
              assigned("Mul:y", "Mul", kDevice, 0)},
             {assigned("MatMul:m", "MatMul", kDevice, 0), assigned("Softmax:s", "Softmax", kCpu, 0),
              assigned("Mul:y", "Mul", kCpu, 0)},
             pin);
  return pin;
}

PinExperiment judged(const NamedTensors& before, const NamedTensors& after,
                     const std::vector<std::string>& gates = {}) {
  PinExperiment pin = moved();
  const GateSet set = load_gates(std::nullopt, gates).value();
  EXPECT_TRUE(judge_pin(kReference, before, after, set, nullptr, 1, pin).has_value());
  return pin;
}

Finding finding(const PinExperiment& pin, uint64_t device_nodes = 1) {
  PlacementAudit after;
  after.requested = kDevice;
  after.totals.optimised_on_device = device_nodes;
  after.totals.device_partitions = 2;
  return pin_finding(pin, after);
}

TEST(Pins, AreParsedOrRefused) {
  EXPECT_EQ(parse_pins({"Softmax=CPU", "com.microsoft::Gelu=CPU"})->at(1).op, "com.microsoft::Gelu");
  EXPECT_THAT(parse_pins({"Softmax"}).error().message(), HasSubstr("is not OP_TYPE=CPU"));
  EXPECT_THAT(parse_pins({"=CPU"}).error().message(), HasSubstr("is not OP_TYPE=CPU"));
  EXPECT_THAT(parse_pins({"Softmax=GPU"}).error().message(), HasSubstr("cannot be pinned to \"GPU\""));
  EXPECT_THAT(parse_pins({"Erf=CPU", "Erf=CPU"}).error().message(), HasSubstr("pinned twice"));
  EXPECT_EQ(parse_json(op_affinity_json(parse_pins({"Softmax=CPU", "Erf=CPU"}).value()), "")->dump(),
            R"({"op_type":{"Softmax":"CPU","Erf":"CPU"}})");
}

TEST(Pins, TouchedNodesAreKnownBeforeAnythingRuns) {
  const SmallGraph graph = small_graph();
  EXPECT_THAT(touched_nodes(parse_pins({"Softmax=CPU", "Add=CPU"}).value(), graph.index),
              ElementsAre("Add:a", "Softmax:s"));
  EXPECT_THAT(touched_nodes(parse_pins({"Erf=CPU"}).value(), graph.index), IsEmpty());
}

TEST(Pins, WhatMovedAndWhatMovedWithIt) {
  const PinExperiment pin = moved();
  EXPECT_THAT(pin.touched_optimised, ElementsAre("Softmax:s"));
  EXPECT_THAT(pin.on_cpu_after, ElementsAre("Softmax:s"));
  EXPECT_THAT(pin.moved_too, ElementsAre("Mul:y"));
}

TEST(Pins, ThatDoNotRepairSaySo) {
  const PinExperiment pin = judged(kBroken, kBroken);
  EXPECT_TRUE(pin.deviated);
  EXPECT_FALSE(pin.recovered);
  const Finding f = finding(pin);
  EXPECT_EQ(f.id, "pin-did-not-repair");
  EXPECT_THAT(f.text, AllOf(HasSubstr("Softmax=CPU moved 1 node to the CPU"), HasSubstr("1 other node"),
                            HasSubstr("scores still deviates"), HasSubstr("0.3 without the pin, 0.3 with it, 0.9")));
}

TEST(Pins, ThatMatchAgainSayThatTheCpuComputedIt) {
  const PinExperiment pin = judged(kBroken, kRight);
  EXPECT_TRUE(pin.recovered);
  EXPECT_EQ(finding(pin).id, "pin-matches-on-cpu");
  EXPECT_THAT(finding(pin).does_not_show, HasSubstr("that the device is repaired"));
  EXPECT_THAT(finding(pin, 0).text, HasSubstr("because everything was computed by the CPU"));
}

TEST(Pins, OnOutputsThatAgreedHadNothingToRepair) {
  EXPECT_EQ(finding(judged(kRight, kRight)).id, "pin-nothing-to-repair");
  EXPECT_THAT(finding(judged(kRight, kBroken)).text, HasSubstr("and scores no longer do"));
}

TEST(Pins, ThatMoveNothingClaimNothing) {
  PinExperiment pin = judged(kBroken, kBroken);
  pin.on_cpu_after.clear();
  EXPECT_EQ(finding(pin).id, "pin-without-effect");
  pin.touched_optimised.clear();
  EXPECT_THAT(finding(pin).text, HasSubstr("touches no node"));
}

TEST(Pins, GatesDecideWhereTheyAreDeclared) {
  EXPECT_TRUE(judged(kBroken, kRight, {"scores: max_abs<=0.01"}).recovered);
  EXPECT_FALSE(judged(kBroken, kRight, {"scores: max_abs<=0.0001"}).recovered);
  EXPECT_FALSE(judged(kBroken, kRight, {"scores: max_abs<=1"}).deviated);
}

TEST(Pins, IntegersWithoutAGateAreNotJudged) {
  PinExperiment pin = moved();
  const NamedTensors labels = {{"labels", int64s({1, 2})}}, other = {{"labels", int64s({2, 1})}};
  ASSERT_TRUE(judge_pin(labels, other, other, {}, nullptr, 1, pin).has_value());
  EXPECT_FALSE(pin.deviated);
  EXPECT_THAT(pin.outputs[0].rule, HasSubstr("not judged"));
}

// Two draws agree or differ by chance: neither says anything, whatever the gates are.
TEST(Pins, OutputsBehindRandomOperatorsAreNotCompared) {
  onnx_model::RandomDependence random;
  random.operators.push_back({"draw", "RandomNormalLike", "", false});
  random.behind["scores"] = {0};
  PinExperiment pin = moved();
  const GateSet gates = load_gates(std::nullopt, {"scores: cosine>=0.99"}).value();
  ASSERT_TRUE(judge_pin(kReference, kBroken, kRight, gates, &random, 1, pin).has_value());
  EXPECT_FALSE(pin.deviated);
  EXPECT_FALSE(pin.recovered);
  ASSERT_TRUE(pin.outputs[0].cannot_tell);
  EXPECT_THAT(pin.outputs[0].rule, HasSubstr("depends on \"draw\""));
  EXPECT_EQ(finding(pin).id, "pin-cannot-tell");
  PlacementResult result;
  result.pin = pin;
  result.pin->ran = true;
  RequirementOutcome met;
  met.met = true;
  result.requirements = {met};
  conclude(/*gated=*/true, result);
  EXPECT_EQ(result.verdict, Verdict::kInvalid);
}

TEST(Pins, OtherOutputsAreJudgedAllTheSame) {
  onnx_model::RandomDependence random;
  random.operators.push_back({"draw", "RandomNormalLike", "", false});
  random.behind["noise"] = {0};
  const auto with_noise = [](NamedTensors tensors, float value) {
    tensors.emplace_back("noise", floats({1}, {value}));
    return tensors;
  };
  PinExperiment pin = moved();
  ASSERT_TRUE(judge_pin(with_noise(kReference, 1), with_noise(kBroken, 2), with_noise(kRight, -3), {}, &random, 1, pin)
                  .has_value());
  EXPECT_TRUE(pin.recovered);
  EXPECT_THAT(finding(pin).text, HasSubstr("Nothing can be told about noise"));
}

TEST(Pins, OutputsThatAreMissingOrOfAnotherShapeAreErrors) {
  PinExperiment pin = moved();
  EXPECT_THAT(judge_pin(kReference, {}, kRight, {}, nullptr, 1, pin).error().message(), HasSubstr("did not hand out"));
  EXPECT_THAT(judge_pin(kReference, {{"scores", floats({2}, {1, 2})}}, kRight, {}, nullptr, 1, pin).error().message(),
              HasSubstr("has shape [2] on the device and [4] on the reference"));
}

}  // namespace
}  // namespace paritas
