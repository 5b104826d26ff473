#include "paritas/compare/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paritas/compare/testing.h"

namespace paritas {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class CompareValues : public CompareFixture {};

TEST_F(CompareValues, TypesMayDiffer) {
  reference_.output("a", {1, 2});
  device_.add("a", Role::kOutput, tensor_from_values<double>(DType::kF64, {2}, {1, 2}));
  EXPECT_EQ(run({"a: max_abs<=0"}).verdict, Verdict::kPass);
}

TEST_F(CompareValues, NanOnTheDeviceAloneDeviatesWithoutGatesToo) {
  reference_.output("a", {1, 2, 3});
  device_.output("a", {1, kNan, kInf});
  const CompareResult result = run();
  EXPECT_EQ(result.verdict, Verdict::kDeviates);
  EXPECT_EQ(result.reasons.front(), "a: 2 of 3 elements are NaN or infinite on the device only");
}

TEST_F(CompareValues, FiniteElementsDoNotHideNanBehindAPassingGate) {
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

TEST_F(CompareValues, OnlyNonfinitePairsAreNoEvidenceForACosineGate) {
  reference_.output("a", {kInf, kInf});
  device_.output("a", {kInf, kInf});
  // Every figure over finite pairs is NaN here, and NaN passes no gate.
  EXPECT_EQ(run({"a: cosine>=0.9"}).verdict, Verdict::kDeviates);
}

TEST_F(CompareValues, AGateThatCannotBeJudgedIsInvalid) {
  const Tensor labels = tensor_from_values<int64_t>(DType::kI64, {2}, {1, 2});
  reference_.add("a", Role::kOutput, labels);
  device_.add("a", Role::kOutput, labels);
  const CompareResult result = run({"a: max_ulp<=4"});
  EXPECT_EQ(result.verdict, Verdict::kInvalid);
  EXPECT_EQ(result.reasons.front(), "a: max_ulp does not exist for these types");
}

TEST_F(CompareValues, EmptyTensorsAreNoEvidence) {
  reference_.output("a", {});
  device_.output("a", {});
  const CompareResult result = run({"a: max_abs<=0"});
  EXPECT_EQ(result.verdict, Verdict::kInvalid);
  EXPECT_EQ(result.reasons.front(), "a: holds no element: nothing was compared");
}

TEST_F(CompareValues, QuantisedTensorsAreComparedInRealValuesAndInSteps) {
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

TEST_F(CompareValues, IdsOfEqualScoresMayComeInAnyOrder) {
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

TEST_F(CompareValues, OnlyAnotherOrderOfEqualScoresIsExcused) {
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

TEST_F(CompareValues, LongIntegersThatDifferNeverReadAsEqual) {
  const int64_t big = int64_t{1} << 53;
  reference_.add("a", Role::kOutput, tensor_from_values<int64_t>(DType::kI64, {2}, {big, 0}));
  device_.add("a", Role::kOutput, tensor_from_values<int64_t>(DType::kI64, {2}, {big + 1, 0}));
  for (const char* gate : {"a: max_abs<=0", "a: mean_abs<=0", "a: nmse<=0", "a: cosine_distance<=0", "a: abs_p99<=0"})
    EXPECT_EQ(run({gate}).verdict, Verdict::kDeviates) << gate;
  EXPECT_EQ(run({"a: mse<=0.5"}).verdict, Verdict::kPass) << "what differs is known exactly";
}

TEST_F(CompareValues, QuantisedLongIntegersBeyondDoublesAreRefused) {
  const int64_t big = int64_t{1} << 53;
  for (MemoryStream* s : {&reference_, &device_}) {
    s->add("a", Role::kOutput, tensor_from_values<int64_t>(DType::kI64, {1}, {s == &device_ ? big + 1 : big}));
    s->edit_info().tensors[0].quantisation = Quantisation{{1.0}, {0}, {}};
  }
  CompareOptions options;
  EXPECT_FALSE(compare_streams(reference_, device_, options));
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

// The reference's own infinities are lawful under "same-inf": what the device makes of other elements is its fault.
TEST_F(CompareValues, NanOfTheDeviceBesideInfinitiesOfTheReferenceDeviates) {
  const auto verdict = [&](const std::vector<float>& x, const std::vector<float>& y) {
    MemoryStream reference("ref"), device("dev");
    reference.output("a", x);
    device.output("a", y);
    return compare(reference, device, gate_set({"a: max_abs<=0"})).verdict;
  };
  EXPECT_EQ(verdict({kInf, 1, 2}, {kInf, 1, 2}), Verdict::kPass);
  EXPECT_EQ(verdict({kInf, 1, 2}, {kInf, kNan, 2}), Verdict::kDeviates);
  EXPECT_EQ(verdict({kInf, 1, 2}, {5, kNan, 2}), Verdict::kDeviates);  // one infinity lost, one NaN made
  EXPECT_EQ(verdict({kInf, 1, 2}, {kNan, 1, 2}), Verdict::kDeviates);  // NaN where the infinity belongs
  EXPECT_EQ(verdict({kInf, kNan, 2}, {5, kNan, kNan}), Verdict::kInvalid);
  EXPECT_EQ(verdict({kInf, kNan, 2}, {5, kInf, kNan}), Verdict::kInvalid);
}

TEST_F(CompareValues, GatesThatCannotFailProveNothing) {
  reference_.output("a", {1, 2}).output("b", {1}).intermediate("m", {1});
  device_.output("a", {1, 90}).output("b", {1}).intermediate("m", {-3});
  for (const char* gate : {"max_abs>=0", "cosine>=-1", "cosine<=1", "differing>=0", "max_abs>=-1 range",
                           "cosine_distance<=2", "cosine>=0.999 or max_abs>=0"}) {
    const CompareResult result = run({std::string("a: ") + gate, "b: max_abs<=0"});
    EXPECT_EQ(result.verdict, Verdict::kNotJudged) << gate;
    EXPECT_THAT(result.reasons.front(), HasSubstr("(this gate cannot fail)")) << gate;
    EXPECT_THAT(result.notes, Contains(HasSubstr("(--gate) cannot fail: "))) << gate;
  }
  EXPECT_THAT(run({"a: cosine<=1", "b: max_abs<=0"}).notes, Contains(HasSubstr("cosine lies between -1 and 1")));
  EXPECT_EQ(run({"a: max_abs>=0", "a: max_abs<=100", "b: max_abs<=0"}).verdict, Verdict::kPass);  // another judges it
  EXPECT_EQ(run({"a: max_abs<=100", "b: max_abs<=0", "m: cosine<=1"}).verdict, Verdict::kNotJudged);
  device_ = MemoryStream("dev");
  device_.output("a", {1, kNan}).output("b", {1}).intermediate("m", {1});
  EXPECT_EQ(run({"a: max_abs>=0", "b: max_abs<=0"}).verdict, Verdict::kDeviates);
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

}  // namespace
}  // namespace paritas
