#include "paritas/compare/compare.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paritas/compare/test_streams.h"

namespace paritas {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

GateSet gate_set(const std::vector<std::string>& texts, NonfinitePolicy policy = NonfinitePolicy::kSameInf) {
  GateSet set;
  for (const std::string& text : texts) set.gates.push_back(parse_gate(text).value());
  set.nonfinite = policy;
  return set;
}

// Most of these tests are about outputs: unrecorded inputs may count as equal.
CompareResult compare(MemoryStream& reference, MemoryStream& device, GateSet gates = {},
                      bool inputs_unverified = true) {
  CompareOptions options;
  options.inputs_unverified = inputs_unverified;
  options.gates = std::move(gates);
  options.threads = 2;
  auto result = compare_streams(reference, device, options);
  EXPECT_TRUE(result) << result.error().message();
  return result.value();
}

class Compare : public ::testing::Test {
 protected:
  CompareResult run(const std::vector<std::string>& gates = {}, NonfinitePolicy policy = NonfinitePolicy::kSameInf) {
    return compare(reference_, device_, gate_set(gates, policy));
  }
  MemoryStream reference_{"ref"};
  MemoryStream device_{"dev"};
};

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

TEST_F(Compare, TypesMayDiffer) {
  reference_.output("a", {1, 2});
  device_.add("a", Role::kOutput, tensor_from_values<double>(DType::kF64, {2}, {1, 2}));
  EXPECT_EQ(run({"a: max_abs<=0"}).verdict, Verdict::kPass);
}

TEST_F(Compare, NanOnTheDeviceAloneDeviatesWithoutGatesToo) {
  reference_.output("a", {1, 2, 3});
  device_.output("a", {1, kNan, kInf});
  const CompareResult result = run();
  EXPECT_EQ(result.verdict, Verdict::kDeviates);
  EXPECT_EQ(result.reasons.front(), "a: 2 of 3 elements are NaN or infinite on the device only");
}

TEST_F(Compare, FiniteElementsDoNotHideNanBehindAPassingGate) {
  reference_.output("a", {1, 2, 3});
  device_.output("a", {1, kNan, 3});
  EXPECT_EQ(run({"a: max_abs<=0"}).verdict, Verdict::kDeviates);
}

struct PolicyCase {
  float reference, device;
  NonfinitePolicy policy;
  Verdict verdict;
};
class Nonfinite : public ::testing::TestWithParam<PolicyCase> {};
TEST_P(Nonfinite, IsJudgedByThePolicy) {
  const PolicyCase& c = GetParam();
  MemoryStream reference("ref"), device("dev");
  reference.output("a", {1, c.reference});
  device.output("a", {1, c.device});
  EXPECT_EQ(compare(reference, device, gate_set({"a: max_abs<=0"}, c.policy)).verdict, c.verdict)
      << c.reference << " and " << c.device;
}
INSTANTIATE_TEST_SUITE_P(Policies, Nonfinite,
                         ::testing::Values(PolicyCase{kInf, kInf, NonfinitePolicy::kForbid, Verdict::kInvalid},
                                           PolicyCase{kNan, kNan, NonfinitePolicy::kForbid, Verdict::kInvalid},
                                           PolicyCase{kInf, 1, NonfinitePolicy::kForbid, Verdict::kInvalid},
                                           PolicyCase{kInf, kInf, NonfinitePolicy::kSameInf, Verdict::kPass},
                                           PolicyCase{kInf, -kInf, NonfinitePolicy::kSameInf, Verdict::kDeviates},
                                           PolicyCase{kInf, 1, NonfinitePolicy::kSameInf, Verdict::kDeviates},
                                           PolicyCase{kNan, kNan, NonfinitePolicy::kSameInf, Verdict::kInvalid},
                                           PolicyCase{kNan, 1, NonfinitePolicy::kSameInf, Verdict::kInvalid},
                                           PolicyCase{1, kNan, NonfinitePolicy::kSameInf, Verdict::kDeviates},
                                           PolicyCase{kInf, kInf, NonfinitePolicy::kEqual, Verdict::kPass},
                                           PolicyCase{kNan, kNan, NonfinitePolicy::kEqual, Verdict::kPass},
                                           PolicyCase{kNan, 1, NonfinitePolicy::kEqual, Verdict::kDeviates},
                                           PolicyCase{1, kNan, NonfinitePolicy::kEqual, Verdict::kDeviates},
                                           PolicyCase{kInf, -kInf, NonfinitePolicy::kEqual, Verdict::kDeviates}));

TEST_F(Compare, OnlyNonfinitePairsAreNoEvidenceForACosineGate) {
  reference_.output("a", {kInf, kInf});
  device_.output("a", {kInf, kInf});
  // Every figure over finite pairs is NaN here, and NaN passes no gate.
  EXPECT_EQ(run({"a: cosine>=0.9"}).verdict, Verdict::kDeviates);
}

TEST_F(Compare, AGateThatCannotBeJudgedIsInvalid) {
  const Tensor labels = tensor_from_values<int64_t>(DType::kI64, {2}, {1, 2});
  reference_.add("a", Role::kOutput, labels);
  device_.add("a", Role::kOutput, labels);
  const CompareResult result = run({"a: max_ulp<=4"});
  EXPECT_EQ(result.verdict, Verdict::kInvalid);
  EXPECT_EQ(result.reasons.front(), "a: max_ulp does not exist for these types");
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

TEST_F(Compare, EmptyTensorsAreNoEvidence) {
  reference_.output("a", {});
  device_.output("a", {});
  const CompareResult result = run({"a: max_abs<=0"});
  EXPECT_EQ(result.verdict, Verdict::kInvalid);
  EXPECT_EQ(result.reasons.front(), "a: holds no element: nothing was compared");
}

TEST_F(Compare, DifferingInputsMakeThePairingInvalid) {
  reference_.input("x", {1, 2, 3}).output("a", {1});
  device_.input("x", {1, 2, 4}).output("a", {1});
  const CompareResult result = run({"a: max_abs<=0"});
  EXPECT_EQ(result.verdict, Verdict::kInvalid);
  EXPECT_EQ(result.reasons.front(), "x: the inputs differ: 1 of 3 elements");
}

TEST_F(Compare, NoGateExcusesDifferingInputs) {
  reference_.input("x", {1, 2, 3}).output("a", {1});
  device_.input("x", {1, 2, 4}).output("a", {1});
  EXPECT_EQ(run({"a: max_abs<=0", "x: max_abs<=100"}).verdict, Verdict::kInvalid);
  EXPECT_EQ(run({"*: max_abs<=100"}).verdict, Verdict::kInvalid);
}

TEST_F(Compare, InputsOfOtherShapesAreInvalid) {
  reference_.input("x", {1, 2}).output("a", {1});
  device_.input("x", {1}).output("a", {1});
  EXPECT_EQ(run({"a: max_abs<=0"}).verdict, Verdict::kInvalid);
}

TEST_F(Compare, EqualInputsHaveNoSayAndNoNote) {
  reference_.input("x", {1, kNan}).output("a", {1});
  device_.input("x", {1, kNan}).output("a", {1});
  const CompareResult result = run({"a: max_abs<=0"});
  EXPECT_EQ(result.verdict, Verdict::kPass);
  EXPECT_THAT(result.notes, Not(Contains(HasSubstr("inputs"))));
  EXPECT_EQ(run().verdict, Verdict::kNotJudged);
}

TEST_F(Compare, EqualInputsDoNotCountAsAJudgedOutput) {
  reference_.input("x", {1}).output("a", {1});
  device_.input("x", {1}).output("a", {1});
  EXPECT_EQ(run({"x: max_abs<=0"}).verdict, Verdict::kNotJudged);
}

TEST_F(Compare, AGateThatNamesAnInputIsNotIgnored) {
  reference_.input("x", {1}).output("a", {1});
  device_.input("x", {1}).output("a", {1});
  EXPECT_EQ(run({"a: max_abs<=0", "x: max_abs>=5"}).verdict, Verdict::kDeviates);
}

TEST_F(Compare, UnrecordedInputsLeaveNothingJudgedUnlessTheUserSaysSo) {
  reference_.input("x", {1}).output("a", {1});
  device_.output("a", {1});
  const CompareResult asked = run({"*: max_abs<=0"});
  EXPECT_EQ(asked.verdict, Verdict::kPass);
  EXPECT_THAT(asked.notes, Contains(HasSubstr("equal inputs are assumed, as asked")));
  EXPECT_EQ(run({"a: max_abs<=0", "x: max_abs<=0"}).verdict, Verdict::kInvalid);
  const CompareResult strict = compare(reference_, device_, gate_set({"*: max_abs<=0"}), false);
  EXPECT_EQ(strict.verdict, Verdict::kNotJudged);
  EXPECT_THAT(strict.reasons, Contains(HasSubstr("the inputs are not recorded on both sides")));
  // A failed gate stays a deviation: it is no pass, whatever it was fed with.
  EXPECT_EQ(compare(reference_, device_, gate_set({"a: max_abs>=5"}), false).verdict, Verdict::kDeviates);
}

TEST_F(Compare, OutputsAreNotJudgedWhereInputsDiffer) {
  reference_.input("x", {1}).output("a", {1}).intermediate("i", {1});
  device_.input("x", {2}).output("a", {7}).intermediate("i", {1});
  const CompareResult result = run({"a: max_abs<=0"});
  EXPECT_EQ(result.verdict, Verdict::kInvalid);
  EXPECT_EQ(result.tensors.front().verdict, Verdict::kNotJudged);
  EXPECT_THAT(result.tensors.front().rule, HasSubstr("the inputs differ"));
}

TEST_F(Compare, AQuantisedInputCountsAsEqualByItsRule) {
  reference_.input("x", {-1, 0, 0.5F, 1}).output("a", {1});
  const std::vector<uint8_t> codes = {64, 128, 160, 192};
  device_.add("x", Role::kInput, tensor_from_values(DType::kU8, {4}, codes)).output("a", {1});
  EXPECT_EQ(run({"a: max_abs<=0"}).verdict, Verdict::kInvalid);  // nothing declared: the values differ
  CompareOptions options;
  options.gates = gate_set({"a: max_abs<=0"});
  options.input_rules["x"] = parse_quantisation_rule("scale=0.015625,zero_point=128", "r").value();
  const auto result = compare_streams(reference_, device_, options).value();
  EXPECT_EQ(result.verdict, Verdict::kPass);
  EXPECT_THAT(result.tensors[1].rule, HasSubstr("equal after quantisation"));
}

TEST_F(Compare, AnotherRoundingRuleIsNamed) {
  reference_.input("x", {0.5F, 1.5F, 2.5F, -0.5F}).output("a", {1});
  const std::vector<int8_t> away = {1, 2, 3, -1};
  device_.add("x", Role::kInput, tensor_from_values(DType::kI8, {4}, away)).output("a", {1});
  CompareOptions options;
  options.gates = gate_set({"a: max_abs<=0"});
  options.input_rules["x"] = parse_quantisation_rule("scale=1,zero_point=0", "r").value();
  auto result = compare_streams(reference_, device_, options).value();
  EXPECT_EQ(result.verdict, Verdict::kInvalid);
  EXPECT_THAT(result.reasons.front(), AllOf(HasSubstr("by up to 1 step"), HasSubstr("ties away from zero")));
  options.input_rules["x"] = parse_quantisation_rule("scale=1,zero_point=0,rounding=away", "r").value();
  result = compare_streams(reference_, device_, options).value();
  EXPECT_EQ(result.verdict, Verdict::kPass);
}

TEST_F(Compare, QuantisedTensorsAreComparedInRealValuesAndInSteps) {
  const auto quantised = [](MemoryStream& stream, std::vector<uint8_t> codes, int64_t zero_point) {
    stream.add("q", Role::kOutput, tensor_from_values(DType::kU8, {4}, codes));
    stream.edit_info().tensors.back().quantisation = Quantisation{{0.5}, {zero_point}, {}};
  };
  quantised(reference_, {10, 20, 30, 40}, 10);
  quantised(device_, {10, 21, 30, 38}, 10);
  const CompareResult same = run({"q: max_step<=2 and mean_step<=0.75"});
  EXPECT_EQ(same.verdict, Verdict::kPass) << same.reasons.front();
  EXPECT_EQ(same.tensors[0].metrics->max_abs, 1);  // two steps of 0.5
  EXPECT_EQ(same.tensors[0].metrics->codes->max_step, 2u);
  MemoryStream shifted("dev");
  quantised(shifted, {12, 22, 32, 42}, 12);
  const CompareResult equal = compare(reference_, shifted, gate_set({"q: max_abs<=0"}));
  EXPECT_EQ(equal.verdict, Verdict::kPass) << equal.reasons.front();
  EXPECT_EQ(equal.tensors[0].metrics->steps->max, 0);
  MemoryStream floats("dev");
  floats.output("q", {0, 5, 10, 14});
  const CompareResult mixed = compare(reference_, floats, gate_set({"q: max_step<=2"}));
  EXPECT_EQ(mixed.verdict, Verdict::kPass) << mixed.reasons.front();
  EXPECT_EQ(mixed.tensors[0].metrics->steps->max, 2);
}

TEST_F(Compare, IdsOfEqualScoresMayComeInAnyOrder) {
  const auto ids = [](MemoryStream& stream, std::vector<int64_t> values) {
    stream.add("ids", Role::kOutput, tensor_from_values(DType::kI64, {3}, values));
  };
  reference_.output("scores", {0.5F, 0.5F, 0.1F});
  ids(reference_, {4, 7, 1});
  device_.output("scores", {0.5F, 0.5F, 0.1F});
  ids(device_, {7, 4, 1});
  CompareOptions options;
  options.inputs_unverified = true;
  options.gates = gate_set({"*: differing<=0"});
  EXPECT_EQ(compare_streams(reference_, device_, options)->verdict, Verdict::kDeviates);
  options.ranked = {{"scores", "ids"}};
  EXPECT_EQ(compare_streams(reference_, device_, options)->verdict, Verdict::kPass);
  MemoryStream other("dev");
  other.output("scores", {0.5F, 0.5F, 0.1F});
  ids(other, {4, 1, 7});
  EXPECT_EQ(compare_streams(reference_, other, options)->verdict, Verdict::kDeviates);
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

TEST_F(Compare, OnlyAnotherOrderOfEqualScoresIsExcused) {
  const int64_t big = int64_t{1} << 53;
  const auto stream = [](MemoryStream& s, std::vector<int64_t> scores, std::vector<int64_t> ids) {
    s.add("scores", Role::kOutput, tensor_from_values(DType::kI64, {2}, scores));
    s.add("ids", Role::kOutput, tensor_from_values(DType::kI64, {2}, ids));
  };
  const auto verdict = [&](std::vector<int64_t> scores, std::vector<int64_t> ids, std::vector<int64_t> device_ids) {
    MemoryStream x("ref"), y("dev");
    stream(x, scores, ids);
    stream(y, scores, device_ids);
    CompareOptions options;
    options.inputs_unverified = true;
    options.gates = gate_set({"*: differing<=0"});
    options.ranked = {{"scores", "ids"}};
    return compare_streams(x, y, options)->verdict;
  };
  EXPECT_EQ(verdict({5, 5}, {1, 2}, {2, 1}), Verdict::kPass);
  EXPECT_EQ(verdict({big + 1, big}, {1, 2}, {2, 1}), Verdict::kDeviates);  // no tie
  EXPECT_EQ(verdict({5, 5}, {big, 2}, {2, big + 1}), Verdict::kDeviates);  // other ids
}

TEST_F(Compare, SamplesWithOtherNamesAreNotPaired) {
  for (MemoryStream* s : {&reference_, &device_}) s->output("a", {1}, 0).output("a", {1}, 1);
  reference_.edit_info().sample_names = {"cat", "dog"};
  EXPECT_EQ(run({"a: max_abs<=0"}).verdict, Verdict::kPass);
  device_.edit_info().sample_names = {"dog", "zebra"};
  EXPECT_EQ(run({"a: max_abs<=0"}).verdict, Verdict::kInvalid);
}

TEST_F(Compare, LongIntegersThatDifferNeverReadAsEqual) {
  const int64_t big = int64_t{1} << 53;
  reference_.add("a", Role::kOutput, tensor_from_values<int64_t>(DType::kI64, {2}, {big, 0}));
  device_.add("a", Role::kOutput, tensor_from_values<int64_t>(DType::kI64, {2}, {big + 1, 0}));
  for (const char* gate : {"a: max_abs<=0", "a: mean_abs<=0", "a: nmse<=0", "a: cosine_distance<=0", "a: abs_p99<=0"})
    EXPECT_EQ(run({gate}).verdict, Verdict::kDeviates) << gate;
  EXPECT_EQ(run({"a: mse<=0.5"}).verdict, Verdict::kPass) << "what differs is known exactly";
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

TEST_F(Compare, InputsWithoutEvidenceAreNotRecorded) {
  reference_.input("x", {}).output("a", {1});
  device_.input("x", {}).output("a", {1});
  const auto strict = [&] { return compare(reference_, device_, gate_set({"a: max_abs<=0"}), false).verdict; };
  EXPECT_EQ(strict(), Verdict::kNotJudged);  // no element
  MemoryStream x("ref"), y("dev");
  for (MemoryStream* s : {&x, &y}) {
    s->input("p", {1}, 0).input("q", {1}, 0).output("a", {1}, 0);
    s->input("p", {1}, 1).output("a", {1}, 1);  // q is missing in the second sample
  }
  EXPECT_EQ(compare(x, y, gate_set({"a: max_abs<=0"}), false).verdict, Verdict::kNotJudged);
}

TEST_F(Compare, NanIsNoCode) {
  reference_.input("x", {kNan, 1}).output("a", {1});
  device_.add("x", Role::kInput, tensor_from_values<int8_t>(DType::kI8, {2}, {-128, 1})).output("a", {1});
  CompareOptions options;
  options.gates = gate_set({"a: max_abs<=0"});
  options.input_rules["x"] = parse_quantisation_rule("scale=1,zero_point=0", "r").value();
  EXPECT_EQ(compare_streams(reference_, device_, options)->verdict, Verdict::kInvalid);
  MemoryStream fine("ref");
  fine.input("x", {-128, 1}).output("a", {1});
  EXPECT_EQ(compare_streams(fine, device_, options)->verdict, Verdict::kPass);
  device_.edit_info().tensors[0].quantisation = Quantisation{{0.5}, {0}, {}};
  EXPECT_EQ(compare_streams(fine, device_, options)->verdict, Verdict::kInvalid);  // contradicts the recording
}

TEST_F(Compare, QuantisedLongIntegersBeyondDoublesAreRefused) {
  const int64_t big = int64_t{1} << 53;
  for (MemoryStream* s : {&reference_, &device_}) {
    s->add("a", Role::kOutput, tensor_from_values<int64_t>(DType::kI64, {1}, {s == &device_ ? big + 1 : big}));
    s->edit_info().tensors[0].quantisation = Quantisation{{1.0}, {0}, {}};
  }
  CompareOptions options;
  EXPECT_FALSE(compare_streams(reference_, device_, options));
}

TEST_F(Compare, AnInputOfTheDeviceIsNoOutput) {
  reference_.output("y", {1, 2});
  device_.input("y", {1, 2});
  EXPECT_EQ(run({"*: max_abs<=0"}).verdict, Verdict::kInvalid);  // no output was compared
  reference_.output("a", {1});
  device_.output("a", {1});
  EXPECT_EQ(run({"a: max_abs<=0"}).verdict, Verdict::kPass);
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

TEST(Mistrust, TellsTailsOfExtremeValues) {
  PairMetrics m;
  m.finite = 100;
  m.reference_max = 1e-190;
  m.mean_abs = m.rmse = 1e-200;  // no tail, though both squares vanish
  m.mse = 5e-324;
  for (const std::string& note : mistrust(m)) EXPECT_THAT(note, Not(HasSubstr("few large")));
  m.mean_abs = 1e160;
  m.rmse = 1e161;
  m.mse = std::numeric_limits<double>::infinity();
  EXPECT_THAT(mistrust(m), Contains(HasSubstr("mse is 100 mean_abs^2")));
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

TEST(ComparePair, LeavesMetricsOutWhenShapesDiffer) {
  const Tensor a = MemoryStream::vector({1, 2}), b = MemoryStream::vector({1});
  const auto pair = compare_pair("a", Role::kOutput, a, b, {});
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->status, PairStatus::kShapeDiffers);
  EXPECT_FALSE(pair->metrics);
}

TEST(EqualBytes, SeesTypeShapeSignOfZeroAndTheLastByte) {
  const Tensor a = MemoryStream::vector({1, 0});
  EXPECT_TRUE(equal_bytes(a, MemoryStream::vector({1, 0})).value());
  EXPECT_FALSE(equal_bytes(a, MemoryStream::vector({1, -0.0F})).value());
  EXPECT_FALSE(equal_bytes(a, tensor_from_values<float>(DType::kF32, {1, 2}, {1, 0})).value());
  EXPECT_FALSE(equal_bytes(a, tensor_from_values<float>(DType::kI32, {2}, {1, 0})).value());
  std::vector<float> large(600000, 1), other = large;
  other.back() = 2;
  EXPECT_FALSE(equal_bytes(MemoryStream::vector(large), MemoryStream::vector(other)).value());
}

TEST(PairStatusName, IsWhatJsonSays) {
  EXPECT_EQ(name(PairStatus::kCompared), "compared");
  EXPECT_EQ(name(PairStatus::kShapeDiffers), "shape differs");
  EXPECT_EQ(name(PairStatus::kMissingReference), "missing in reference");
  EXPECT_EQ(name(PairStatus::kMissingDevice), "missing on device");
}

}  // namespace
}  // namespace paritas
