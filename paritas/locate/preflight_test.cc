#include "paritas/locate/preflight.h"

#include <gmock/gmock.h>

#include <functional>

namespace paritas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

RangeRow row(const std::string& name, const std::string& op, double max_abs) {
  RangeRow r;
  r.node = r.tensor = name;
  r.op = op;
  r.elements = 10;
  r.max_abs = max_abs;
  r.factor = max_abs / 65504;
  r.overflowed = max_abs > 65504 ? 3 : 0;
  return r;
}

PreflightResult result_of(std::vector<RangeRow> rows) {
  PreflightResult result;
  result.limit = 65504;
  result.samples = 1;
  result.tensors = std::move(rows);
  return result;
}

std::vector<std::string> ids(const PreflightResult& result, Severity severity) {
  std::vector<std::string> found;
  for (const Finding& f : result.findings)
    if (f.severity == severity) found.push_back(f.id);
  return found;
}

TEST(Preflight, OverflowIsOneFindingWithWhatLiesBehindIt) {
  auto result = result_of(
      {row("pow", "Pow", 6e7), row("mean", "ReduceMean", 5e6), row("root", "Sqrt", 2200), row("far", "Mul", 7e4)});
  judge_ranges(result, {{"pow", {"x"}}, {"mean", {"pow"}}, {"root", {"mean"}}, {"far", {"root"}}});
  ASSERT_THAT(ids(result, Severity::kFault), ElementsAre("preflight-overflow", "preflight-overflow"));
  EXPECT_THAT(result.findings[0].nodes, ElementsAre("pow", "mean"));
  EXPECT_THAT(result.findings[0].text, HasSubstr("916"));  // 6e7 / 65504
  EXPECT_THAT(result.findings[1].nodes, ElementsAre("far"));
  EXPECT_TRUE(result.tensors[1].violates);
  EXPECT_FALSE(result.tensors[2].violates);
}

TEST(Preflight, WithinTheRangeNothingIsFound) {
  auto result = result_of({row("pow", "Pow", 65504), row("mean", "ReduceMean", 100)});
  judge_ranges(result, {{"mean", {"pow"}}});
  EXPECT_THAT(result.findings, IsEmpty());
}

TEST(Preflight, LostEnergyNeedsAThousandth) {
  auto result = result_of({row("a", "Mul", 1e-6), row("b", "Mul", 1)});
  result.tensors[0].subnormal = result.tensors[1].subnormal = 4;
  result.tensors[0].lost_energy = 0.002;
  result.tensors[1].lost_energy = 0.0009;
  judge_ranges(result, {{"b", {"a"}}});
  EXPECT_THAT(ids(result, Severity::kFault), ElementsAre("preflight-lost-energy"));
  EXPECT_THAT(ids(result, Severity::kNote), ElementsAre("preflight-tiny"));
  EXPECT_THAT(result.findings[1].nodes, ElementsAre("b"));
}

SoftmaxRow softmax(const std::string& operand, double loss, uint64_t nonfinite) {
  SoftmaxRow s;
  s.node = s.tensor = "soft";
  s.op = "Softmax";
  s.operand = operand;
  s.loss.result_loss = loss;
  s.loss.result_nonfinite = nonfinite;
  s.loss.weighted_max_abs = 3;
  return s;
}

TEST(Preflight, AMaskThatASoftmaxTurnsToNothingIsANote) {
  const std::map<std::string, std::vector<std::string>> inputs = {
      {"mask", {"keep"}}, {"scores", {"mask", "x"}}, {"soft", {"scores"}}};
  const auto judged = [&](const auto& change) {
    auto result = result_of({row("mask", "Mul", 3.4e38), row("scores", "Add", 3.4e38), row("soft", "Softmax", 1)});
    result.softmax = {softmax("scores", 0, 0)};
    change(result);
    judge_ranges(result, inputs);
    return result;
  };
  const auto harmless = judged([](auto&) {});
  EXPECT_THAT(ids(harmless, Severity::kFault), IsEmpty());
  EXPECT_THAT(ids(harmless, Severity::kNote), ElementsAre("preflight-masks"));
  EXPECT_THAT(harmless.findings[0].nodes, ElementsAre("mask", "scores"));
  // A row that is masked wholly.
  const auto whole = judged([](auto& r) { r.softmax[0].loss.result_nonfinite = 8; });
  EXPECT_THAT(ids(whole, Severity::kFault), ElementsAre("preflight-overflow"));
  // Values upwards, an output of the model, a result that moves, another reader: each is enough.
  for (const auto& change : std::vector<std::function<void(PreflightResult&)>>{
           [](auto& r) { r.tensors[1].overflowed_up = 1; }, [](auto& r) { r.tensors[1].output = true; },
           [](auto& r) { r.softmax[0].loss.result_loss = 0.01; },
           [](auto& r) {
             r.tensors[2].op = "Exp";
             r.softmax.clear();
           }})
    EXPECT_THAT(ids(judged(change), Severity::kFault), ElementsAre("preflight-overflow"));
}

TEST(Preflight, AMaskRuinsTheScaleOfInt8) {
  const auto judged = [](double max_abs, double loss) {
    auto result = result_of({row("scores", "Where", max_abs), row("soft", "Softmax", 1)});
    result.format = DType::kI8;
    result.tensors[0].overflowed = 0;
    result.softmax = {softmax("scores", loss, 0)};
    judge_ranges(result, {{"soft", {"scores"}}});
    return ids(result, Severity::kFault);
  };
  EXPECT_THAT(judged(1e9, 0.2), ElementsAre("preflight-ruined-scale"));
  EXPECT_THAT(judged(1e9, 1e-4), IsEmpty());
  EXPECT_THAT(judged(11, 0.2), IsEmpty());  // ordinary rounding: the scale follows what has weight
}

HiddenRow hidden(const std::string& node, double loss) {
  HiddenRow h;
  h.node = h.tensor = node;
  h.op = "LayerNormalization";
  h.figures.what = "mean square";
  h.figures.max_abs = 90000;
  h.figures.overflowed = 1;
  h.figures.result_loss = loss;
  h.factor = 1.37;
  return h;
}

TEST(Preflight, HiddenValuesNeedAConsequence) {
  auto result = result_of({row("x", "Add", 300), row("ln", "LayerNormalization", 2), row("other", "Sigmoid", 1)});
  result.hidden = {hidden("ln", 1), hidden("other", 1e-9)};
  judge_ranges(result, {{"ln", {"x"}}, {"other", {"x"}}});
  EXPECT_THAT(ids(result, Severity::kFault), ElementsAre("preflight-hidden"));
  EXPECT_THAT(ids(result, Severity::kNote), ElementsAre("preflight-hidden-harmless"));
}

TEST(Preflight, HiddenValuesBehindAnOverflowAreNoSecondFinding) {
  auto result = result_of({row("x", "Add", 3e5), row("ln", "LayerNormalization", 2)});
  result.hidden = {hidden("ln", 1)};
  judge_ranges(result, {{"ln", {"x"}}});
  EXPECT_THAT(ids(result, Severity::kFault), ElementsAre("preflight-overflow"));
}

ConstantRow mask() {
  ConstantRow c;
  c.constant = "mask";
  c.elements = c.overflowed = 1;
  c.max_abs = 3.4e38;
  return c;
}

TEST(Preflight, ZeroTimesWhatBecomesInfinite) {
  auto result = result_of({row("keep", "Sub", 1), row("mul", "Mul", 0)});
  result.constants = {mask()};
  result.tensors[0].zeros = 5;
  judge_ranges(result, {{"mul", {"keep", "mask"}}});
  EXPECT_THAT(ids(result, Severity::kFault), ElementsAre("preflight-zero-times-infinity"));
  EXPECT_THAT(result.findings[0].text, HasSubstr("5 zeros"));
  result.findings.clear();
  result.tensors[0].zeros = 0;  // nothing to multiply: the constant is a note
  result.tensors[1].violates = false;
  judge_ranges(result, {{"mul", {"keep", "mask"}}});
  EXPECT_THAT(ids(result, Severity::kFault), IsEmpty());
  EXPECT_THAT(ids(result, Severity::kNote), ElementsAre("preflight-constants"));
}

TEST(Preflight, WeightsThatBecomeInfinite) {
  auto result = result_of({row("m", "MatMul", 5)});
  result.constants = {mask()};
  judge_ranges(result, {{"m", {"x", "mask"}}});
  EXPECT_THAT(ids(result, Severity::kFault), ElementsAre("preflight-infinite-weights"));
  auto added = result_of({row("m", "Add", 5)});
  added.constants = {mask()};
  judge_ranges(added, {{"m", {"x", "mask"}}});
  EXPECT_THAT(ids(added, Severity::kFault), IsEmpty());
}

TEST(Preflight, AnInfiniteConstantIsANote) {
  auto result = result_of({row("anchors", "Add", 3)});
  result.constants = {mask()};
  result.constants[0].overflowed = 0;
  result.constants[0].nonfinite = 1;
  judge_ranges(result, {{"anchors", {"x", "mask"}}});
  EXPECT_THAT(ids(result, Severity::kFault), IsEmpty());
  EXPECT_THAT(ids(result, Severity::kNote), ElementsAre("preflight-constants"));
}

TEST(Preflight, DivisorsThatBecomeZero) {
  for (const std::string op : {"Log", "Div"}) {
    auto result = result_of({row("x", "Add", 1), row("y", op, 20)});
    result.tensors[0].subnormal = result.tensors[0].flushed = 2;
    const std::vector<std::string> inputs =
        op == "Div" ? std::vector<std::string>{"a", "x"} : std::vector<std::string>{"x"};
    judge_ranges(result, {{"y", inputs}});
    EXPECT_THAT(ids(result, Severity::kFault), ElementsAre("preflight-divides-by-zero")) << op;
    // A numerator that becomes zero is no divisor, and what stays a subnormal is not zero.
    auto harmless = result_of({row("x", "Add", 1), row("y", op, 20)});
    harmless.tensors[0].subnormal = 2;
    judge_ranges(harmless, {{"y", inputs}});
    EXPECT_THAT(ids(harmless, Severity::kFault), IsEmpty()) << op;
  }
  auto numerator = result_of({row("x", "Add", 1), row("y", "Div", 20)});
  numerator.tensors[0].flushed = 2;
  judge_ranges(numerator, {{"y", {"x", "a"}}});
  EXPECT_THAT(ids(numerator, Severity::kFault), IsEmpty());
}

TEST(Preflight, Formats) {
  EXPECT_EQ(*parse_range_format("fp16"), DType::kF16);
  EXPECT_EQ(*parse_range_format("bfloat16"), DType::kBF16);
  EXPECT_EQ(*parse_range_format("int8"), DType::kI8);
  EXPECT_THAT(parse_range_format("fp7").error().message(), HasSubstr("fp16, bf16 or int8"));
}

}  // namespace
}  // namespace paritas
