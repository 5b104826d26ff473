#include "paritas/compare/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paritas/compare/conclude.h"
#include "paritas/compare/testing.h"

namespace paritas {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Compare : public CompareFixture {};

TEST_F(Compare, EqualOutputsPassWhenEveryOutputIsGated) {
  reference_.output("a", {1, 2}).output("b", {3});
  device_.output("a", {1, 2}).output("b", {3});
  const CompareResult both = run({"a: max_abs<=0", "b: max_abs<=0"});
  EXPECT_EQ(both.verdict, Verdict::kPass);
  EXPECT_EQ(both.coverage.outputs_gated, 2u);
}

TEST_F(Compare, AnUngatedOutputKeepsTheVerdictAtNotJudged) {
  reference_.output("a", {1, 2}).output("b", {3});
  device_.output("a", {1, 2}).output("b", {3});
  const CompareResult result = run({"a: max_abs<=0"});
  EXPECT_EQ(result.verdict, Verdict::kNotJudged);
  EXPECT_EQ(result.reasons.front(), "b: no gate covers it");
  EXPECT_EQ(result.coverage.outputs, 2u);
  EXPECT_EQ(result.coverage.outputs_gated, 1u);
}

TEST_F(Compare, WithoutGatesNothingIsJudgedHoweverLargeTheDifference) {
  reference_.output("a", {1, 2});
  device_.output("a", {100, -2});
  const CompareResult result = run();
  EXPECT_EQ(result.verdict, Verdict::kNotJudged);
  EXPECT_THAT(result.notes, Contains("no gates were declared"));
}

TEST_F(Compare, AFailedGateDeviatesAndSaysByHowMuch) {
  reference_.output("a", {1, 2});
  device_.output("a", {1, 2.5});
  const CompareResult result = run({"a: max_abs<=0.1"});
  EXPECT_EQ(result.verdict, Verdict::kDeviates);
  EXPECT_EQ(result.reasons.front(), "a: max_abs 0.5 > 0.1");
  EXPECT_EQ(result.tensors.front().rule, "max_abs 0.5 > 0.1");
}

TEST_F(Compare, AMissingDeviceOutputDeviatesEvenWithoutGates) {
  reference_.output("a", {1}).output("b", {2});
  device_.output("a", {1});
  const CompareResult result = run();
  EXPECT_EQ(result.verdict, Verdict::kDeviates);
  EXPECT_EQ(result.reasons.front(), "b: missing on the device");
  EXPECT_THAT(result.unmatched_reference, ElementsAre("b"));
  EXPECT_EQ(result.coverage.outputs_compared, 1u);
  EXPECT_EQ(result.coverage.outputs, 2u);
}

TEST_F(Compare, AnOutputThatOnlyTheDeviceHasIsInvalid) {
  reference_.output("a", {1});
  device_.output("a", {1}).output("b", {2});
  const CompareResult result = run({"a: max_abs<=0"});
  EXPECT_EQ(result.verdict, Verdict::kInvalid);
  EXPECT_EQ(result.reasons.front(), "b: missing in the reference");
  EXPECT_THAT(result.unmatched_device, ElementsAre("b"));
}

TEST_F(Compare, AnOutputThatNeitherSampleHoldsIsNoPass) {
  reference_.output("a", {1}).list("b", Role::kOutput);
  device_.output("a", {1}).list("b", Role::kOutput);
  EXPECT_EQ(run({"*: max_abs<=0"}).verdict, Verdict::kInvalid);
}

TEST_F(Compare, RecordingsWithoutSamplesAreInvalid) {
  reference_.list("a", Role::kOutput);
  device_.list("a", Role::kOutput);
  const CompareResult result = run({"a: max_abs<=0"});
  EXPECT_EQ(result.verdict, Verdict::kInvalid);
  EXPECT_THAT(result.reasons.front(), HasSubstr("nothing was compared"));
}

TEST_F(Compare, SamplesWithoutTensorsAreInvalid) {
  reference_.intermediate("m", {1});
  device_.intermediate("m", {1});
  const CompareResult result = run();
  EXPECT_EQ(result.verdict, Verdict::kInvalid);
  EXPECT_THAT(result.reasons.front(), HasSubstr("no output was compared"));
}

TEST_F(Compare, DifferentSampleCountsAreInvalid) {
  reference_.output("a", {1}).output("a", {2}, 1);
  device_.output("a", {1});
  const CompareResult result = run({"a: max_abs<=0"});
  EXPECT_EQ(result.verdict, Verdict::kInvalid);
  EXPECT_EQ(result.reasons.front(), "the reference has 2 samples, the device 1: they cannot be paired");
}

TEST_F(Compare, OneBadSampleOfSeveralIsNamed) {
  reference_.output("a", {1}).output("a", {2}, 1);
  device_.output("a", {1}).output("a", {3}, 1);
  const CompareResult result = run({"a: max_abs<=0.5"});
  EXPECT_EQ(result.verdict, Verdict::kDeviates);
  EXPECT_EQ(result.reasons.front(), "a: max_abs 1 > 0.5 (sample-000001)");
  EXPECT_EQ(result.samples, 2u);
  EXPECT_EQ(result.tensors.size(), 2u);
}

TEST_F(Compare, DifferingShapesDeviateAndAreNotCompared) {
  reference_.output("a", {1, 2});
  device_.output("a", {1, 2, 3});
  const CompareResult result = run();
  EXPECT_EQ(result.verdict, Verdict::kDeviates);
  EXPECT_EQ(result.reasons.front(), "a: shapes differ: reference [2], device [3]");
  EXPECT_FALSE(result.tensors.front().metrics);
  EXPECT_EQ(result.coverage.outputs_compared, 0u);
}

TEST_F(Compare, EqualElementCountsDoNotMakeShapesEqual) {
  reference_.add("a", Role::kOutput, tensor_from_values<float>(DType::kF32, {2, 3}, {1, 2, 3, 4, 5, 6}));
  device_.add("a", Role::kOutput, tensor_from_values<float>(DType::kF32, {3, 2}, {1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(run({"a: max_abs<=0"}).verdict, Verdict::kDeviates);
}

TEST_F(Compare, AMissingIntermediateIsCountedAndListed) {
  reference_.output("a", {1}).intermediate("m", {1}).intermediate("n", {2});
  device_.output("a", {1}).intermediate("n", {2});
  const CompareResult result = run({"a: max_abs<=0"});
  EXPECT_EQ(result.verdict, Verdict::kPass);
  EXPECT_EQ(result.coverage.intermediates, 2u);
  EXPECT_EQ(result.coverage.intermediates_compared, 1u);
  EXPECT_THAT(result.unmatched_reference, ElementsAre("m"));
}

TEST_F(Compare, AMissingIntermediateThatAGateNamesIsNoPass) {
  reference_.output("a", {1}).intermediate("m", {1});
  device_.output("a", {1});
  EXPECT_EQ(run({"a: max_abs<=0", "m: max_abs<=0"}).verdict, Verdict::kDeviates);
  EXPECT_EQ(compare(device_, reference_, gate_set({"a: max_abs<=0", "m: max_abs<=0"})).verdict, Verdict::kInvalid);
}

TEST_F(Compare, AGatedIntermediateThatBothListButNeitherHoldsIsNoPass) {
  reference_.output("a", {1}).list("m", Role::kIntermediate);
  device_.output("a", {1}).list("m", Role::kIntermediate);
  EXPECT_EQ(run({"a: max_abs<=0"}).verdict, Verdict::kPass);
  EXPECT_EQ(run({"a: max_abs<=0", "m: max_abs<=0"}).verdict, Verdict::kInvalid);
}

TEST_F(Compare, AnUngatedIntermediateHasNoSay) {
  reference_.output("a", {1}).intermediate("m", {1});
  device_.output("a", {1}).intermediate("m", {kNan});
  const CompareResult result = run({"a: max_abs<=0"});
  EXPECT_EQ(result.verdict, Verdict::kPass);
  EXPECT_EQ(result.tensors[1].rule, "not gated");
}

TEST_F(Compare, AGatedIntermediateIsJudged) {
  reference_.output("a", {1}).intermediate("m", {1});
  device_.output("a", {1}).intermediate("m", {2});
  EXPECT_EQ(run({"a: max_abs<=0", "m: max_abs<=0.5"}).verdict, Verdict::kDeviates);
}

TEST_F(Compare, ExtraOutputsAndOtherTypesAsDeclared) {
  reference_.output("a", {1});
  device_.output("a", {1}).output("b", {1});
  GateSet gates = gate_set({"a: max_abs<=0"});
  EXPECT_EQ(compare(reference_, device_, gates).verdict, Verdict::kInvalid);
  gates.allow_extra_outputs = true;
  EXPECT_EQ(compare(reference_, device_, gates).verdict, Verdict::kPass);
  MemoryStream wide("dev");
  wide.add("a", Role::kOutput, tensor_from_values<double>(DType::kF64, {1}, {1}));
  EXPECT_EQ(compare(reference_, wide, gates).verdict, Verdict::kPass);
  gates.exact_dtypes = true;
  EXPECT_EQ(compare(reference_, wide, gates).verdict, Verdict::kDeviates);
}

TEST_F(Compare, SamplesWithOtherNamesAreNotPaired) {
  for (MemoryStream* s : {&reference_, &device_}) s->output("a", {1}, 0).output("a", {1}, 1);
  reference_.edit_info().sample_names = {"cat", "dog"};
  EXPECT_EQ(run({"a: max_abs<=0"}).verdict, Verdict::kPass);
  device_.edit_info().sample_names = {"dog", "zebra"};
  EXPECT_EQ(run({"a: max_abs<=0"}).verdict, Verdict::kInvalid);
}

TEST_F(Compare, DeclaredNamesMustExist) {
  reference_.output("a", {1});
  device_.output("a", {1});
  CompareOptions options;
  options.ranked = {{"a", "idss"}};
  EXPECT_FALSE(compare_streams(reference_, device_, options));
  options.ranked.clear();
  options.input_rules["nope"] = {};
  EXPECT_FALSE(compare_streams(reference_, device_, options));
}

TEST_F(Compare, GatesOnTasksAreNotForgotten) {
  reference_.output("a", {1});
  device_.output("a", {1});
  EXPECT_EQ(run({"a: max_abs<=0", "task=detections: unmatched<=0"}).verdict, Verdict::kNotJudged);
}

TEST_F(Compare, UnpairedTensorsAreProposedByContentOnly) {
  reference_.output("a", {1}).intermediate("p", {1, 2, 3, 4, 5, 6, 7, 8}).intermediate("q", {8, 7, 6, 5, 4, 3, 2, 0});
  device_.output("a", {1}).intermediate("x9", {8, 7, 6, 5, 4, 3, 2, 0}).intermediate("x3", {1, 2, 3, 4, 5, 6, 7, 8.1F});
  const CompareResult result = run({"a: max_abs<=0"});
  ASSERT_EQ(result.proposals.size(), 2u);
  EXPECT_EQ(result.proposals[0].device, "x3");
  EXPECT_EQ(result.proposals[0].runner_up, "x9");
  EXPECT_EQ(result.proposals[1].device, "x9");
  EXPECT_EQ(result.coverage.intermediates_compared, 0u);
}

TEST_F(Compare, AnotherModelFileIsNoted) {
  reference_.output("a", {1}).edit_info().model_sha256 = "aa";
  device_.output("a", {1}).edit_info().model_sha256 = "bb";
  EXPECT_THAT(run().notes, Contains("the two sides ran different model files"));
  device_.edit_info().model_sha256 = "aa";
  EXPECT_THAT(run().notes, Not(Contains("the two sides ran different model files")));
}

TEST_F(Compare, OutputsComeFirstInTheReferencesOrder) {
  reference_.intermediate("m", {1}).output("b", {1}).output("a", {1});
  device_.output("a", {1}).output("b", {1}).intermediate("m", {1});
  const CompareResult result = run();
  ASSERT_EQ(result.tensors.size(), 3u);
  EXPECT_EQ(result.tensors[0].name, "b");
  EXPECT_EQ(result.tensors[1].name, "a");
  EXPECT_EQ(result.tensors[2].name, "m");
}

TEST_F(Compare, AMisspeltGateIsAnError) {
  reference_.output("scores", {1});
  device_.output("scores", {1});
  CompareOptions options;
  options.gates = gate_set({"score: max_abs<=0"});
  const auto result = compare_streams(reference_, device_, options);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message(), AllOf(HasSubstr("no tensor is called \"score\""), HasSubstr("scores")));
}

TEST_F(Compare, ManyTensorsGiveTheSameResultOnAnyNumberOfThreads) {
  for (int i = 0; i < 200; ++i) {
    reference_.output("t" + std::to_string(i), {1, static_cast<float>(i)});
    device_.output("t" + std::to_string(i), {1, static_cast<float>(i) + (i == 77 ? 0.5F : 0)});
  }
  CompareOptions options;
  options.gates = gate_set({"*: max_abs<=0.1"});
  for (int threads : {1, 2, 7}) {
    options.threads = threads;
    const auto result = compare_streams(reference_, device_, options);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->verdict, Verdict::kDeviates);
    EXPECT_EQ(result->reasons.front(), "t77: max_abs 0.5 > 0.1");
    EXPECT_EQ(result->tensors.size(), 200u);
  }
}

// 3.4e308 is no double: an infinite figure fails its gate, and those that exist are judged as they are.
TEST_F(Compare, DifferencesBeyondTheLargestDoubleDeviate) {
  reference_.add("a", Role::kOutput, tensor_from_values<double>(DType::kF64, {2}, {1.7e308, 1}));
  device_.add("a", Role::kOutput, tensor_from_values<double>(DType::kF64, {2}, {-1.7e308, 1}));
  for (const char* gate : {"a: max_abs<=1e308", "a: mse<=1e308", "a: outside<=0, rtol=1.5", "a: abs_p99<=1e308"}) {
    const CompareResult result = run({gate});
    EXPECT_EQ(result.verdict, Verdict::kDeviates) << gate << ": " << result.tensors[0].rule;
  }
  EXPECT_EQ(run({"a: max_rel<=2"}).verdict, Verdict::kPass);
  EXPECT_EQ(run({"a: cosine>=0"}).verdict, Verdict::kDeviates);
}

TEST(PairStatusName, IsWhatJsonSays) {
  EXPECT_EQ(name(PairStatus::kCompared), "compared");
  EXPECT_EQ(name(PairStatus::kShapeDiffers), "shape differs");
  EXPECT_EQ(name(PairStatus::kMissingReference), "missing in reference");
  EXPECT_EQ(name(PairStatus::kMissingDevice), "missing on device");
}

TEST_F(Compare, SamplesAreComparedWithoutAConclusion) {
  reference_.intermediate("m", {1}).output("a", {1});
  device_.intermediate("m", {1}).output("a", {3});
  CompareOptions options;
  options.inputs_unverified = true;
  options.gates = gate_set({"a: max_abs<=0"});
  CompareResult result = compare_samples(reference_, device_, options).value();
  EXPECT_TRUE(result.reasons.empty());
  EXPECT_EQ(result.coverage.outputs, 0u);
  EXPECT_EQ(result.tensors[1].verdict, Verdict::kDeviates);
  conclude(result);
  EXPECT_EQ(result.verdict, Verdict::kDeviates);
  EXPECT_EQ(result.coverage.outputs, 1u);
}

}  // namespace
}  // namespace paritas
