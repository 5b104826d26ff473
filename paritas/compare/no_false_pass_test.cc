// Ways in which a comparison could say "pass" although something was not compared. Each of them once did.
#include <gmock/gmock.h>

#include "paritas/compare/stored.h"
#include "paritas/compare/testing.h"

namespace paritas {
namespace {

using ::testing::HasSubstr;

class NoFalsePass : public CompareFixture {
 protected:
  CompareResult with_extra(const std::vector<std::string>& gates) {
    GateSet set = gate_set(gates);
    set.allow_extra_outputs = true;
    return compare(reference_, device_, std::move(set));
  }
  static Tensor codes(DType type, const std::vector<int8_t>& values) {
    return tensor_from_values(type, {static_cast<int64_t>(values.size())}, values);
  }
};

TEST_F(NoFalsePass, AReferenceWithoutOutputsHasNothingToCompare) {
  reference_.input("x", {1});
  device_.input("x", {1}).output("y", {5});
  EXPECT_EQ(with_extra({"*: max_abs<=0"}).verdict, Verdict::kInvalid);
  EXPECT_EQ(with_extra({}).verdict, Verdict::kInvalid);
  const CompareResult stored = with_extra({"*: max_abs<=0"});
  GateSet again = gate_set({"*: max_abs<=0"});
  again.allow_extra_outputs = true;
  EXPECT_EQ(judge_again(stored, again)->verdict, Verdict::kInvalid);
}

TEST_F(NoFalsePass, AnOutputThatTheReferenceLacksInOneSampleIsNotExtra) {
  reference_.output("z", {1}, 0).output("y", {1}, 0).output("z", {1}, 1);
  device_.output("z", {1}, 0).output("y", {1}, 0).output("z", {1}, 1).output("y", {-9}, 1);
  EXPECT_EQ(with_extra({"*: max_abs<=0"}).verdict, Verdict::kInvalid);
}

TEST_F(NoFalsePass, AnOutputThatOnlyTheDeviceListsIsExtra) {
  reference_.output("z", {1});
  device_.output("z", {1}).output("more", {4});
  EXPECT_EQ(with_extra({"z: max_abs<=0"}).verdict, Verdict::kPass);
}

TEST_F(NoFalsePass, WhatTheDevicePutsOutHasASay) {
  reference_.output("z", {1}).intermediate("y", {1, 2, 3});
  device_.output("z", {1}).output("y", {700, 2, 3});
  EXPECT_EQ(run({"z: max_abs<=0"}).verdict, Verdict::kNotJudged);
  device_ = MemoryStream("dev");
  device_.output("z", {1}).output("y", {kNan, 2, 3});
  EXPECT_EQ(run({"z: max_abs<=0"}).verdict, Verdict::kDeviates);
}

TEST_F(NoFalsePass, AHugeZeroPointIsRefused) {
  reference_.add("q", Role::kOutput, codes(DType::kI8, {1, 2, 3}));
  device_.add("q", Role::kOutput, codes(DType::kI8, {1, 2, 23}));
  for (MemoryStream* side : {&reference_, &device_})
    side->edit_info().tensors[0].quantisation = Quantisation{{0.1}, {int64_t{1} << 60}, std::nullopt};
  CompareOptions options;
  options.inputs_unverified = true;
  options.gates = gate_set({"q: max_abs<=0"});
  const auto result = compare_streams(reference_, device_, options);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message(), HasSubstr("beyond 32 bits"));
}

TEST_F(NoFalsePass, JudgingAgainLooksAtInputsAsComparingDoes) {
  reference_.input("x", {1, 2}).output("y", {1});
  device_.input("x", {1, 2}).output("y", {1});
  const CompareResult equal = compare(reference_, device_, gate_set({"y: max_abs<=0"}), false);
  EXPECT_EQ(equal.verdict, Verdict::kPass);
  EXPECT_EQ(judge_again(equal, gate_set({"y: max_abs<=0", "x: max_ulp<=0"}))->verdict, Verdict::kPass);
  device_ = MemoryStream("dev");
  device_.output("y", {1});
  const CompareResult unrecorded = compare(reference_, device_, gate_set({"y: max_abs<=0"}));
  EXPECT_EQ(unrecorded.verdict, Verdict::kPass);  // as asked: inputs are taken as equal
  EXPECT_EQ(judge_again(unrecorded, gate_set({"y: max_abs<=0", "x: max_abs<=0"}))->verdict, Verdict::kInvalid);
}

TEST_F(NoFalsePass, LimitsThatNoTensorOfThisSizeExceedsProveNothing) {
  reference_.output("a", {1, 2, 3});
  device_.output("a", {4, 5, 6});
  EXPECT_EQ(run({"a: differing<=3"}).verdict, Verdict::kNotJudged);
  EXPECT_EQ(run({"a: differing<=1e9"}).verdict, Verdict::kNotJudged);
  EXPECT_EQ(run({"a: outside<=3, atol=1"}).verdict, Verdict::kNotJudged);
  EXPECT_EQ(run({"a: differing<=2"}).verdict, Verdict::kDeviates);
}

// What a runtime that does not know an operator's kernel made of a classifier: status OK and zeros.
TEST_F(NoFalsePass, AnOutputThatIsConstantOnTheDeviceAloneNeverPasses) {
  reference_.output("a", {1, 2, 3, 4, 5});
  device_.output("a", {3, 3, 3, 3, 3});
  const CompareResult wide = run({"a: max_abs<=2"});
  EXPECT_EQ(wide.verdict, Verdict::kNotJudged);
  EXPECT_THAT(wide.tensors.front().rule, HasSubstr("the device's output is 3 everywhere, and the reference's is not"));
  EXPECT_EQ(run({"a: max_abs<=1"}).verdict, Verdict::kDeviates);
  device_ = MemoryStream("dev");
  device_.output("a", {1, 2, 3, 4, 5});
  EXPECT_EQ(run({"a: max_abs<=2"}).verdict, Verdict::kPass);
}

TEST_F(NoFalsePass, AReferenceThatIsConstantInEverySampleIsNoEvidence) {
  reference_.output("a", {0, 0, 0, 0}, 0).output("a", {0, 0, 0, 0}, 1);
  device_.output("a", {0, 0, 0, 0}, 0).output("a", {0, 0, 0, 0}, 1);
  const CompareResult dead = run({"a: max_abs<=0"});
  EXPECT_EQ(dead.verdict, Verdict::kNotJudged);
  EXPECT_THAT(dead.reasons, ::testing::Contains(HasSubstr("a: the reference is the same everywhere in every sample")));
  // One sample in which it says something is enough: empty answers are common.
  reference_.output("a", {0, 1, 0, 0}, 2);
  device_.output("a", {0, 1, 0, 0}, 2);
  EXPECT_EQ(run({"a: max_abs<=0"}).verdict, Verdict::kPass);
}

TEST_F(NoFalsePass, EveryFailingGateIsNamed) {
  reference_.output("a", {1, 2, 3});
  device_.output("a", {4, 5, 7});
  const CompareResult result = run({"a: max_abs<=1", "a: cosine>=0", "a: mean_abs<=2"});
  EXPECT_EQ(result.verdict, Verdict::kDeviates);
  EXPECT_EQ(result.tensors.front().rule, "max_abs 4 > 1; mean_abs 3.333 > 2");
}

class Names : public CompareFixture {
 protected:
  CompareResult run_ids(const std::vector<int64_t>& x, const std::vector<int64_t>& y,
                        const std::vector<std::string>& gates) {
    const auto tensor = [](const std::vector<int64_t>& v) {
      return tensor_from_values(DType::kI64, {static_cast<int64_t>(v.size())}, v);
    };
    MemoryStream reference("ref"), device("dev");
    reference.add("ids", Role::kOutput, tensor(x));
    device.add("ids", Role::kOutput, tensor(y));
    CompareOptions options;
    options.inputs_unverified = true;
    options.gates = gate_set(gates);
    options.roles = {{"ids", "labels"}};
    return compare_streams(reference, device, options).value();
  }
};

TEST_F(Names, ClassIdsAreEqualOrNotAndNothingElse) {
  const CompareResult equal = run_ids({3, 7, 9}, {3, 7, 9}, {"ids: cosine>=0.99", "ids: max_abs<=1 range"});
  EXPECT_EQ(equal.verdict, Verdict::kPass);
  const CompareResult near = run_ids({100, 200, 300, 400}, {100, 200, 300, 401}, {"ids: cosine>=0.99"});
  EXPECT_EQ(near.verdict, Verdict::kInvalid);  // the cosine of these numbers would be 0.9999
  EXPECT_THAT(near.reasons.front(), HasSubstr("1 of 4 class ids differ"));
  EXPECT_EQ(run_ids({100, 200}, {100, 201}, {"ids: differing<=0"}).verdict, Verdict::kDeviates);
}

}  // namespace
}  // namespace paritas
