#include "paritas/compare/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paritas/compare/testing.h"

namespace paritas {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class CompareInputs : public CompareFixture {};

TEST_F(CompareInputs, DifferingInputsMakeThePairingInvalid) {
  reference_.input("x", {1, 2, 3}).output("a", {1});
  device_.input("x", {1, 2, 4}).output("a", {1});
  const CompareResult result = run({"a: max_abs<=0"});
  EXPECT_EQ(result.verdict, Verdict::kInvalid);
  EXPECT_EQ(result.reasons.front(), "x: the inputs differ: 1 of 3 elements");
}

TEST_F(CompareInputs, NoGateExcusesDifferingInputs) {
  reference_.input("x", {1, 2, 3}).output("a", {1});
  device_.input("x", {1, 2, 4}).output("a", {1});
  EXPECT_EQ(run({"a: max_abs<=0", "x: max_abs<=100"}).verdict, Verdict::kInvalid);
  EXPECT_EQ(run({"*: max_abs<=100"}).verdict, Verdict::kInvalid);
}

TEST_F(CompareInputs, InputsOfOtherShapesAreInvalid) {
  reference_.input("x", {1, 2}).output("a", {1});
  device_.input("x", {1}).output("a", {1});
  EXPECT_EQ(run({"a: max_abs<=0"}).verdict, Verdict::kInvalid);
}

TEST_F(CompareInputs, EqualInputsHaveNoSayAndNoNote) {
  reference_.input("x", {1, kNan}).output("a", {1});
  device_.input("x", {1, kNan}).output("a", {1});
  const CompareResult result = run({"a: max_abs<=0"});
  EXPECT_EQ(result.verdict, Verdict::kPass);
  EXPECT_THAT(result.notes, Not(Contains(HasSubstr("inputs"))));
  EXPECT_EQ(run().verdict, Verdict::kNotJudged);
}

TEST_F(CompareInputs, EqualInputsDoNotCountAsAJudgedOutput) {
  reference_.input("x", {1}).output("a", {1});
  device_.input("x", {1}).output("a", {1});
  EXPECT_EQ(run({"x: max_abs<=0"}).verdict, Verdict::kNotJudged);
}

TEST_F(CompareInputs, AGateThatNamesAnInputIsNotIgnored) {
  reference_.input("x", {1}).output("a", {1});
  device_.input("x", {1}).output("a", {1});
  EXPECT_EQ(run({"a: max_abs<=0", "x: max_abs>=5"}).verdict, Verdict::kDeviates);
}

TEST_F(CompareInputs, UnrecordedInputsLeaveNothingJudgedUnlessTheUserSaysSo) {
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

TEST_F(CompareInputs, OutputsAreNotJudgedWhereInputsDiffer) {
  reference_.input("x", {1}).output("a", {1}).intermediate("i", {1});
  device_.input("x", {2}).output("a", {7}).intermediate("i", {1});
  const CompareResult result = run({"a: max_abs<=0"});
  EXPECT_EQ(result.verdict, Verdict::kInvalid);
  EXPECT_EQ(result.tensors.front().verdict, Verdict::kNotJudged);
  EXPECT_THAT(result.tensors.front().rule, HasSubstr("the inputs differ"));
}

TEST_F(CompareInputs, AQuantisedInputCountsAsEqualByItsRule) {
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

TEST_F(CompareInputs, AnotherRoundingRuleIsNamed) {
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

TEST_F(CompareInputs, InputsWithoutEvidenceAreNotRecorded) {
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

TEST_F(CompareInputs, NanIsNoCode) {
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

TEST_F(CompareInputs, AnInputOfTheDeviceIsNoOutput) {
  reference_.output("y", {1, 2});
  device_.input("y", {1, 2});
  EXPECT_EQ(run({"*: max_abs<=0"}).verdict, Verdict::kInvalid);  // no output was compared
  reference_.output("a", {1});
  device_.output("a", {1});
  EXPECT_EQ(run({"a: max_abs<=0"}).verdict, Verdict::kPass);
}

TEST_F(CompareInputs, AnUndecidableGateOnAnInputIsInvalidHoweverTheInputsWereFoundEqual) {
  // What was quantised and what was not take one way through the gates.
  for (const bool quantised : {false, true}) {
    MemoryStream x("ref"), y("dev");
    x.add("x", Role::kInput,
          quantised ? MemoryStream::vector({1, 2}) : tensor_from_values<int8_t>(DType::kI8, {2}, {1, 2}));
    y.add("x", Role::kInput, tensor_from_values<int8_t>(DType::kI8, {2}, {1, 2}));
    for (MemoryStream* s : {&x, &y}) s->output("a", {1});
    CompareOptions options;
    options.gates = gate_set({"a: max_abs<=0", "x: max_ulp<=0"});
    options.input_rules["x"] = parse_quantisation_rule("scale=1,zero_point=0", "r").value();
    const auto result = compare_streams(x, y, options).value();
    EXPECT_EQ(result.verdict, Verdict::kInvalid) << quantised;
    EXPECT_EQ(result.tensors[1].rule, "max_ulp does not exist for these types") << quantised;
    options.gates = gate_set({"a: max_abs<=0", "x: max_abs>=5"});
    EXPECT_EQ(compare_streams(x, y, options)->verdict, Verdict::kDeviates) << quantised;
  }
}

}  // namespace
}  // namespace paritas
