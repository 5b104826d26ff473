#include "paritas/judge/gates.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paritas/base/test_files.h"
#include "paritas/judge/metric_table.h"
#include "paritas/judge/profiles.h"

namespace paritas {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

// The message of an error, or what the text was taken for.
std::string refusal(const std::string& text) {
  const auto gate = parse_gate(text);
  return gate ? "accepted as " + gate->text() : gate.error().message();
}
std::string toml_refusal(const std::string& text) {
  const auto set = parse_gates_toml(text, "gates.toml");
  return set ? "accepted" : set.error().message();
}

std::vector<GateSubject> subjects(const std::vector<std::string>& names) { return {names.begin(), names.end()}; }

PairMetrics with_cosine(double value) {
  PairMetrics m;
  m.count = m.finite = 10;
  m.cosine = value;
  return m;
}

TEST(InlineGate, IsTensorMetricOperatorValue) {
  const Gate gate = parse_gate("scores: cosine>=0.99").value();
  EXPECT_EQ(gate.tensor, "scores");
  EXPECT_EQ(gate.any[0][0].metric, "cosine");
  EXPECT_EQ(gate.any[0][0].op, GateOp::kGreaterEqual);
  EXPECT_EQ(gate.any[0][0].value, 0.99);
  EXPECT_EQ(gate.origin, "--gate");
  EXPECT_EQ(gate.text(), "scores: cosine >= 0.99");
}

TEST(InlineGate, SpacesDoNotMatterAndNamesMayHoldColons) {
  const Gate gate = parse_gate("  output:0 :  max_abs  <  1e-3 ").value();
  EXPECT_EQ(gate.tensor, "output:0");
  EXPECT_EQ(gate.any[0][0].metric, "max_abs");
  EXPECT_EQ(gate.any[0][0].op, GateOp::kLess);
  EXPECT_EQ(gate.any[0][0].value, 1e-3);
}

TEST(InlineGate, KnowsEveryOperator) {
  const std::pair<const char*, GateOp> operators[] = {{"<", GateOp::kLess},
                                                      {"<=", GateOp::kLessEqual},
                                                      {">=", GateOp::kGreaterEqual},
                                                      {">", GateOp::kGreater},
                                                      {"==", GateOp::kEqual}};
  for (const auto& [text, op] : operators) {
    const Gate gate = parse_gate(std::string("a: nmse") + text + "0.5").value();
    EXPECT_EQ(gate.any[0][0].op, op) << text;
    EXPECT_EQ(name(gate.any[0][0].op), text);
  }
}

TEST(InlineGate, TakesTolerancesForOutside) {
  const Gate gate = parse_gate("logits*: outside<=0, atol=1e-5, rtol=2e-5").value();
  EXPECT_EQ(gate.any[0][0].atol, 1e-5);
  EXPECT_EQ(gate.any[0][0].rtol, 2e-5);
  EXPECT_EQ(gate.text(), "logits*: outside <= 0, atol=1e-05, rtol=2e-05");
  EXPECT_FALSE(parse_gate("a: outside<=0, rtol=1e-3")->any[0][0].atol);
}

TEST(InlineGate, RefusesWithTheCause) {
  EXPECT_THAT(refusal("cosine>=0.99"), HasSubstr("no colon"));
  EXPECT_THAT(refusal("a: cosine"), HasSubstr("no condition"));
  EXPECT_THAT(refusal("a: cosine>=high"), HasSubstr("the threshold is not a number"));
  EXPECT_THAT(refusal("a: cosine>=nan"), HasSubstr("the threshold is not a number"));
  EXPECT_THAT(refusal("a: cosine>=inf"), HasSubstr("the threshold is not a number"));
  EXPECT_THAT(refusal("a: cosine>=0.9x"), HasSubstr("the threshold is not a number"));
  EXPECT_THAT(refusal("a: cosin>=0.99"), AllOf(HasSubstr("\"cosin\" is not a metric"), HasSubstr("cosine_distance")));
  EXPECT_THAT(refusal(" : cosine>=0.99"), HasSubstr("a gate needs the name of a tensor"));
  EXPECT_THAT(refusal("a: outside<=0"), HasSubstr("needs atol, rtol or both"));
  EXPECT_THAT(refusal("a: cosine>=0.9, atol=1"), HasSubstr("belong to a gate on \"outside\""));
  EXPECT_THAT(refusal("a: outside<=0, atol=-1"), HasSubstr("not negative"));
  EXPECT_THAT(refusal("a: outside<=0, tol=1"), HasSubstr("\"tol=1\" is not understood"));
  EXPECT_THAT(refusal("a: outside<=0, atol"), HasSubstr("\"atol\" is not understood"));
  EXPECT_THAT(refusal("a: outside<=0,"), HasSubstr("is not understood"));
  EXPECT_THAT(refusal(""), HasSubstr("no colon"));
  EXPECT_EQ(parse_gate("").error().kind, ErrorKind::kUsage);
}

TEST(GatesFile, HoldsGatesAndThePolicy) {
  const GateSet set = parse_gates_toml(
                          "nonfinite = \"equal\"\n"
                          "[[gate]]\ntensor = \"scores\"\nmetric = \"cosine\"\nop = \">=\"\nvalue = 0.99\n"
                          "[[gate]]\ntensor = \"box*\"\nmetric = \"outside\"\nop = \"==\"\nvalue = 0\natol = 1e-4\n",
                          "gates.toml")
                          .value();
  EXPECT_EQ(set.nonfinite, NonfinitePolicy::kEqual);
  ASSERT_EQ(set.gates.size(), 2u);
  EXPECT_EQ(set.gates[0].text(), "scores: cosine >= 0.99");
  EXPECT_EQ(set.gates[1].text(), "box*: outside == 0, atol=0.0001");
  EXPECT_EQ(set.gates[1].origin, "gates.toml, gate 2");
  EXPECT_EQ(set.sha256.size(), 64u);
}

TEST(GatesFile, NamesAndCommentsMayHoldAnyCharacter) {
  const GateSet set =
      parse_gates_toml(
          "# für größere Netze\n[[gate]]\ntensor = \"größe\" # ü\nmetric = \"nmse\"\nop = \"<\"\nvalue = 1\n", "g")
          .value();
  EXPECT_EQ(set.gates[0].tensor, "größe");
}

TEST(GatesFile, DefaultPolicyTakesEqualInfinities) {
  const char* gate = "[[gate]]\ntensor=\"a\"\nmetric=\"nmse\"\nop=\"<\"\nvalue=1\n";
  EXPECT_EQ(parse_gates_toml(gate, "g")->nonfinite, NonfinitePolicy::kSameInf);
  EXPECT_EQ(parse_gates_toml(std::string("nonfinite=\"forbid\"\n") + gate, "g")->nonfinite, NonfinitePolicy::kForbid);
}

TEST(GatesFile, RefusesWithThePlaceAndTheCause) {
  const std::string gate = "[[gate]]\ntensor=\"a\"\nmetric=\"nmse\"\nop=\"<\"\nvalue=1\n";
  EXPECT_THAT(toml_refusal(gate + "[[gate"), AllOf(HasSubstr("gates.toml"), HasSubstr("not valid TOML at line 6")));
  EXPECT_THAT(toml_refusal(""), HasSubstr("declares no gate"));
  EXPECT_THAT(toml_refusal(gate + "Schwelle_für_a = 1\n"), HasSubstr("not valid TOML at line 6"));
  EXPECT_THAT(toml_refusal("gate = 3\n"), HasSubstr("unknown key \"gate\""));
  EXPECT_THAT(toml_refusal("gates = []\n" + gate), HasSubstr("unknown key \"gates\""));
  EXPECT_THAT(toml_refusal("nonfinite = \"maybe\"\n" + gate), HasSubstr("nonfinite must be"));
  EXPECT_THAT(toml_refusal("nonfinite = true\n" + gate), HasSubstr("nonfinite must be"));
  EXPECT_THAT(toml_refusal(gate + "[[gate]]\ntensor=\"a\"\n"), HasSubstr("gate 2: a gate needs a condition"));
  EXPECT_THAT(toml_refusal("[[gate]]\ntensor=3\nmetric=\"nmse\"\nop=\"<\"\nvalue=1\n"),
              HasSubstr("\"tensor\" must be a text"));
  EXPECT_THAT(toml_refusal("[[gate]]\ntensor=\"a\"\nmetric=\"nmse\"\nop=\"=<\"\nvalue=1\n"), HasSubstr("op \"=<\""));
  EXPECT_THAT(toml_refusal("[[gate]]\ntensor=\"a\"\nmetric=\"nmse\"\nop=\"<\"\nvalue=\"1\"\n"),
              HasSubstr("must be a number"));
  EXPECT_THAT(toml_refusal("[[gate]]\ntensor=\"a\"\nmetric=\"nmse\"\nop=\"<\"\nvalue=nan\n"),
              HasSubstr("finite number"));
  EXPECT_THAT(toml_refusal(gate + "treshold=1\n"), HasSubstr("unknown key \"treshold\""));
}

TEST(LoadGates, FileAndCommandLineAddUpAndChangeTheHash) {
  const TestFolder folder;
  const Path file = folder.write("g.toml", "[[gate]]\ntensor=\"a\"\nmetric=\"nmse\"\nop=\"<\"\nvalue=1\n");
  const GateSet both = load_gates(file, {"b: nmse<2"}).value();
  ASSERT_EQ(both.gates.size(), 2u);
  EXPECT_EQ(both.gates[1].tensor, "b");
  EXPECT_NE(both.sha256, load_gates(file, {})->sha256);
  EXPECT_NE(both.sha256, load_gates(std::nullopt, {"b: nmse<2"})->sha256);
  EXPECT_TRUE(load_gates(std::nullopt, {})->empty());
  EXPECT_EQ(load_gates(std::nullopt, {})->sha256, "");
  EXPECT_THAT(load_gates(folder.path() / "none.toml", {}).error().message(), HasSubstr("no such file"));
}

TEST(GateMatch, ExactNamesWinOverTheirMeaningAsPattern) {
  Gate gate;
  gate.tensor = "x[0]*?";
  EXPECT_TRUE(gate.matches("x[0]*?"));
  EXPECT_TRUE(gate.matches("x[0]abc"));
  EXPECT_FALSE(gate.matches("x[0]"));
}

TEST(GateSetConfigure, SetsToleranceAndQuantiles) {
  GateSet set;
  set.gates = {parse_gate("a: outside<=0, atol=1, rtol=2").value(), parse_gate("b: abs_p99<=1").value()};
  MetricOptions options;
  ASSERT_TRUE(set.configure("a", options));
  EXPECT_EQ(options.atol, 1.0);
  EXPECT_EQ(options.rtol, 2.0);
  EXPECT_FALSE(options.quantiles);
  ASSERT_TRUE(set.configure("b", options));
  EXPECT_TRUE(options.quantiles);
}

TEST(GateSetConfigure, RefusesTwoTolerancesForOneTensor) {
  GateSet set;
  set.gates = {parse_gate("a*: outside<=0, atol=1").value(), parse_gate("*b: outside<=3, atol=2").value()};
  MetricOptions options;
  EXPECT_TRUE(set.configure("a", options));
  EXPECT_TRUE(set.configure("b", options));
  const auto status = set.configure("ab", options);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message(), HasSubstr("\"ab\" has two gates on \"outside\" with different tolerances"));
  set.gates[1].any[0][0].atol = 1;
  EXPECT_TRUE(set.configure("ab", options));
}

TEST(CheckGatesMatch, AMisspeltTensorIsAnErrorThatListsTheKnownOnes) {
  GateSet set;
  set.gates = {parse_gate("scores: nmse<1").value(), parse_gate("score: nmse<1").value()};
  EXPECT_THAT(check_gates_match(set, subjects({"scores", "boxes"})).error().message(),
              AllOf(HasSubstr("no tensor is called \"score\""), HasSubstr("there is: scores, boxes")));
  set.gates.pop_back();
  EXPECT_TRUE(check_gates_match(set, subjects({"scores", "boxes"})));
  EXPECT_FALSE(check_gates_match(set, {}));
}

TEST(CheckGatesMatch, LongListsAreCut) {
  GateSet set;
  set.gates = {parse_gate("z: nmse<1").value()};
  EXPECT_THAT(check_gates_match(set, subjects(std::vector<std::string>(20, "t"))).error().message(),
              HasSubstr("and 12 more"));
}

bool passes(const char* condition, double value) {
  return evaluate(parse_gate(std::string("a: cosine") + condition).value(), with_cosine(value)).passed;
}

TEST(Evaluate, ComparesWithEveryOperatorAtItsEdge) {
  EXPECT_TRUE(passes("<0.5", 0.25));
  EXPECT_FALSE(passes("<0.5", 0.5));
  EXPECT_TRUE(passes("<=0.5", 0.5));
  EXPECT_FALSE(passes("<=0.5", 0.75));
  EXPECT_TRUE(passes(">=0.5", 0.5));
  EXPECT_FALSE(passes(">=0.5", 0.25));
  EXPECT_TRUE(passes(">0.5", 0.75));
  EXPECT_FALSE(passes(">0.5", 0.5));
  EXPECT_TRUE(passes("==0.5", 0.5));
  EXPECT_FALSE(passes("==0.5", std::nextafter(0.5, 1)));
}

TEST(Evaluate, NanNeverPasses) {
  for (const char* condition : {"<1", "<=1", ">=-1", ">-1", "==0"}) {
    const GateOutcome outcome = evaluate(parse_gate(std::string("a: cosine") + condition).value(), with_cosine(NAN));
    EXPECT_FALSE(outcome.passed) << condition;
    EXPECT_THAT(outcome.text, HasSubstr("cosine is NaN")) << condition;
  }
}

TEST(Evaluate, InfinityIsComparedAsItIs) {
  PairMetrics m;
  m.sqnr_db = INFINITY;
  EXPECT_TRUE(evaluate(parse_gate("a: sqnr_db>=40").value(), m).passed);
  EXPECT_FALSE(evaluate(parse_gate("a: sqnr_db<=40").value(), m).passed);
}

TEST(Evaluate, AMetricThatThisPairLacksNeverPasses) {
  const PairMetrics m;
  for (const char* gate : {"a: max_ulp<=4", "a: outside<=0, atol=1", "a: abs_p99<=1", "a: max_integer_difference<=1"}) {
    const GateOutcome outcome = evaluate(parse_gate(gate).value(), m);
    EXPECT_FALSE(outcome.passed);
    EXPECT_FALSE(outcome.value);
    EXPECT_THAT(outcome.text, AnyOf(HasSubstr("does not exist for these types"), HasSubstr("was not taken")));
  }
}

TEST(Evaluate, TextShowsOnWhichSideTheValueLies) {
  const Gate gate = parse_gate("a: cosine>=0.99").value();
  EXPECT_EQ(evaluate(gate, with_cosine(0.8696)).text, "cosine 0.8696 < 0.99");
  EXPECT_EQ(evaluate(gate, with_cosine(1)).text, "cosine 1 >= 0.99");
  // Never "0.99 < 0.99".
  EXPECT_EQ(evaluate(gate, with_cosine(0.98999999)).text, "cosine 0.98999999 < 0.99");
  const Gate narrow = parse_gate("a: cosine>=0.98999999").value();
  EXPECT_EQ(evaluate(narrow, with_cosine(0.99)).text, "cosine 0.99 >= 0.98999999");
  EXPECT_EQ(narrow.text(), "a: cosine >= 0.98999999");
  EXPECT_EQ(evaluate(parse_gate("a: cosine==1").value(), with_cosine(0.5)).text, "cosine 0.5 != 1");
}

// --- units, alternatives, roles, profiles

PairMetrics figures() {
  PairMetrics m;
  m.count = m.finite = 10;
  m.max_abs = 0.5;
  m.cosine = 0.9;
  m.reference_min = -1;
  m.reference_max = 3;
  m.reference_max_abs = 3;
  m.epsilon = 0x1p-10;
  m.steps = StepFigures{0.25, 2, 0.125};
  m.storage.emplace();
  m.storage->max_abs = 0.05;
  return m;
}

TEST(GateUnits, MeasureTheThresholdInWhatTheyName) {
  const auto outcome = [](const std::string& condition) {
    return evaluate(parse_gate("a: " + condition).value(), figures());
  };
  EXPECT_TRUE(outcome("max_abs<=0.125 range").passed);  // 0.125 * 4
  EXPECT_FALSE(outcome("max_abs<0.125 range").passed);
  EXPECT_TRUE(outcome("max_abs<=2 steps").passed);
  EXPECT_FALSE(outcome("max_abs<=1.9 steps").passed);
  EXPECT_TRUE(outcome("max_abs<=10 storage").passed);
  EXPECT_FALSE(outcome("max_abs<=9 storage").passed);
  EXPECT_FALSE(outcome("max_abs<=100 epsilon").passed);  // 100 * 3 / 1024
  EXPECT_TRUE(outcome("max_abs<=200 epsilon").passed);
  EXPECT_THAT(outcome("max_abs<=1 steps").text, HasSubstr("max_abs 0.5 > 1 steps = 0.25"));
  EXPECT_TRUE(outcome("max_step<=2").passed);
  EXPECT_FALSE(outcome("mean_step<=0.1").passed);
}

TEST(GateUnits, AMissingUnitIsNoPassAndNoFailure) {
  PairMetrics m = figures();
  m.storage->overflowed = 1;  // not representable: no baseline to measure in
  m.steps.reset();
  m.epsilon.reset();
  for (const char* condition : {"max_abs<=10 storage", "max_abs<=2 steps", "max_abs<=2 epsilon", "max_step<=2"}) {
    const auto outcome = evaluate(parse_gate(std::string("a: ") + condition).value(), m);
    EXPECT_FALSE(outcome.value) << condition;
    EXPECT_FALSE(outcome.passed) << condition;
  }
  EXPECT_THAT(refusal("a: cosine>=0.9 range"), HasSubstr("has no unit \"range\""));
  EXPECT_THAT(refusal("a: max_abs<=0.9 volts"), HasSubstr("the threshold is not a number"));
}

TEST(GateUnits, ALimitThatIsNotFiniteDecidesNothing) {
  PairMetrics m = figures();
  m.reference_min = -1.7e308;
  m.reference_max = 1.7e308;
  EXPECT_FALSE(evaluate(parse_gate("a: max_abs<=0.1 range").value(), m).value);
  m.steps->size = NAN;  // a scale per channel
  EXPECT_FALSE(evaluate(parse_gate("a: max_abs<=2 steps").value(), m).value);
}

TEST(GateAlternatives, AnyOfThemWithAllOfItsConditions) {
  const auto outcome = [](const std::string& condition) {
    return evaluate(parse_gate("a: " + condition).value(), figures());
  };
  EXPECT_TRUE(outcome("cosine>=0.99 or max_abs<=0.5").passed);
  EXPECT_FALSE(outcome("cosine>=0.99 or max_abs<=0.4").passed);
  EXPECT_FALSE(outcome("cosine>=0.8 and max_abs<=0.4").passed);
  EXPECT_TRUE(outcome("cosine>=0.99 and max_abs<=0.5 or cosine>=0.8 and max_step<=2").passed);
  EXPECT_THAT(outcome("cosine>=0.99 or max_abs<=0.4").text, HasSubstr("cosine 0.9 < 0.99 and max_abs 0.5 > 0.4"));
}

TEST(GateAlternatives, WhatCannotBeComputedSettlesNothing) {
  // max_ulp is missing: the pass must come from elsewhere, and a failure is proven only where a condition failed.
  const auto outcome = [](const std::string& condition) {
    return evaluate(parse_gate("a: " + condition).value(), figures());
  };
  EXPECT_TRUE(outcome("max_ulp<=1 or cosine>=0.8").passed);
  EXPECT_FALSE(outcome("max_ulp<=1 or cosine>=0.99").value);
  EXPECT_TRUE(outcome("max_ulp<=1 and cosine>=0.99").value);
  EXPECT_FALSE(outcome("max_ulp<=1 and cosine>=0.8").value);
}

TEST(GatesFile, HoldsUnitsAlternativesRolesAndPolicies) {
  const GateSet set = parse_gates_toml(R"(
extra_outputs = "allow"
dtypes = "exact"
[[gate]]
role = "scores"
any = [ {metric="cosine", op=">=", value=0.999},
        {all=[{metric="max_abs", op="<=", value=0.1, unit="range"}, {metric="sqnr_db", op=">=", value=30}]} ]
[[gate]]
task = "detections"
metric = "matched_iou_min"
op = ">="
value = 0.95
)",
                                       "g")
                          .value();
  EXPECT_TRUE(set.allow_extra_outputs);
  EXPECT_TRUE(set.exact_dtypes);
  EXPECT_EQ(set.gates[0].text(), "role=scores: cosine >= 0.999 or max_abs <= 0.1 range and sqnr_db >= 30");
  EXPECT_FALSE(set.gates[0].matches(GateSubject("x", Role::kOutput, "boxes", DType::kF32)));
  EXPECT_TRUE(set.gates[0].matches(GateSubject("x", Role::kOutput, "scores", DType::kF32)));
  EXPECT_EQ(set.for_task("detections").size(), 1u);
  EXPECT_TRUE(set.for_task("classes").empty());
  EXPECT_THAT(toml_refusal("[[gate]]\ntask=\"a\"\ntensor=\"b\"\nmetric=\"x\"\nop=\"<\"\nvalue=1\n"),
              HasSubstr("on tensors or on a task"));
  EXPECT_THAT(toml_refusal("[[gate]]\ntensor=\"b\"\nany=[]\n"), HasSubstr("needs a condition"));
  EXPECT_THAT(toml_refusal("[[gate]]\ntensor=\"b\"\nmetric=\"nmse\"\nop=\"<\"\nvalue=1\nany=[]\n"),
              HasSubstr("ambiguous"));
}

TEST(TaskGates, JudgeNamedFigures) {
  const Gate gate = parse_gate("task=detections: matched_iou_min>=0.95").value();
  const auto with = [&](std::optional<double> value) {
    return evaluate_figures(gate, [value](const std::string& name) { return name == "matched_iou_min" ? value : 0.0; });
  };
  EXPECT_TRUE(with(0.97).passed);
  EXPECT_FALSE(with(0.9).passed);
  EXPECT_FALSE(with(NAN).passed);
  EXPECT_FALSE(with(std::nullopt).value);
}

TEST(Profiles, AllParseSayWhereTheyComeFromAndChangeTheHash) {
  for (const Profile& profile : profiles()) {
    const auto set = load_gates(GateSources{std::nullopt, {profile.name}, {}});
    ASSERT_TRUE(set) << set.error().message();
    EXPECT_FALSE(set->empty());
    EXPECT_FALSE(profile.origin.empty());
    EXPECT_EQ(set->gates[0].origin, "profile " + profile.name);
    EXPECT_EQ(set->sha256.size(), 64u);
  }
  EXPECT_THAT(load_gates(GateSources{std::nullopt, {"strict"}, {}}).error().message(),
              AllOf(HasSubstr("no profile \"strict\""), HasSubstr("strict-fp32")));
}

TEST(Profiles, MonitorFlagsAtItsLimits) {
  const GateSet set = load_gates(GateSources{std::nullopt, {"monitor"}, {}}).value();
  PairMetrics m = figures();
  m.cosine = 0.99;
  m.max_abs = 0.4;
  for (const Gate& gate : set.gates) EXPECT_TRUE(evaluate(gate, m).passed) << gate.text();
  m.cosine = 0.9899;
  m.max_abs = 0.401;
  for (const Gate& gate : set.gates) EXPECT_FALSE(evaluate(gate, m).passed) << gate.text();
}

TEST(CheckGatesMatch, OptionalGatesThatApplyToNothingAreNotes) {
  GateSet set =
      parse_gates_toml("[[gate]]\nrole=\"feature\"\noptional=true\nmetric=\"cosine\"\nop=\">\"\nvalue=0\n", "g")
          .value();
  const auto notes = check_gates_match(set, subjects({"a"}));
  ASSERT_TRUE(notes);
  ASSERT_EQ(notes->size(), 1u);
  EXPECT_THAT(notes->front(), HasSubstr("applies to nothing here"));
  set.gates[0].optional = false;
  EXPECT_THAT(check_gates_match(set, subjects({"a"})).error().message(), HasSubstr("no tensor has the role"));
}

TEST(CannotFail, IsWhatEveryValueOfTheMetricPasses) {
  for (const char* text : {"a: max_abs>=0", "a: max_abs>-1", "a: max_abs>=-2 range", "a: cosine>=-1", "a: cosine<=1",
                           "a: cosine<2", "a: cosine_distance<=2", "a: differing>=0", "a: outside>=0, atol=1",
                           "a: max_abs<=1 or mse>=0", "a: cosine<=1 and max_ulp>=0"})
    EXPECT_TRUE(parse_gate(text)->cannot_fail()) << text;
  for (const char* text : {"a: max_abs>0", "a: max_abs>-1 range", "a: max_abs<=1e300", "a: cosine>-1", "a: cosine<1",
                           "a: cosine>=0", "a: cosine==1", "a: sqnr_db>=-1e300", "a: max_abs<=1 and mse>=0",
                           "a: scale_ratio>=0.5", "task=t: unmatched>=0"})
    EXPECT_FALSE(parse_gate(text)->cannot_fail()) << text;
}

TEST(CannotFail, IsNotedAndSaidBesideWhatItPassed) {
  GateSet set;
  set.gates = {parse_gate("a: cosine<=1").value(), parse_gate("a: cosine>=0.5").value()};
  const auto notes = check_gates_match(set, subjects({"a"})).value();
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes.front(), "the gate \"a: cosine <= 1\" (--gate) cannot fail: cosine lies between -1 and 1");
  EXPECT_EQ(evaluate(set.gates[0], with_cosine(0.7)).text, "cosine 0.7 <= 1 (this gate cannot fail)");
  EXPECT_EQ(evaluate(set.gates[1], with_cosine(0.7)).text, "cosine 0.7 >= 0.5");
}

}  // namespace
}  // namespace paritas
