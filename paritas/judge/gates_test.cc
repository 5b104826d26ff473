#include "paritas/judge/gates.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paritas/base/test_files.h"
#include "paritas/judge/metric_table.h"

namespace paritas {
namespace {

using ::testing::AllOf;
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

PairMetrics with_cosine(double value) {
  PairMetrics m;
  m.count = m.finite = 10;
  m.cosine = value;
  return m;
}

TEST(InlineGate, IsTensorMetricOperatorValue) {
  const Gate gate = parse_gate("scores: cosine>=0.99").value();
  EXPECT_EQ(gate.tensor, "scores");
  EXPECT_EQ(gate.metric, "cosine");
  EXPECT_EQ(gate.op, GateOp::kGreaterEqual);
  EXPECT_EQ(gate.value, 0.99);
  EXPECT_EQ(gate.origin, "--gate");
  EXPECT_EQ(gate.text(), "scores: cosine >= 0.99");
}

TEST(InlineGate, SpacesDoNotMatterAndNamesMayHoldColons) {
  const Gate gate = parse_gate("  output:0 :  max_abs  <  1e-3 ").value();
  EXPECT_EQ(gate.tensor, "output:0");
  EXPECT_EQ(gate.metric, "max_abs");
  EXPECT_EQ(gate.op, GateOp::kLess);
  EXPECT_EQ(gate.value, 1e-3);
}

TEST(InlineGate, KnowsEveryOperator) {
  const std::pair<const char*, GateOp> operators[] = {{"<", GateOp::kLess},
                                                      {"<=", GateOp::kLessEqual},
                                                      {">=", GateOp::kGreaterEqual},
                                                      {">", GateOp::kGreater},
                                                      {"==", GateOp::kEqual}};
  for (const auto& [text, op] : operators) {
    const Gate gate = parse_gate(std::string("a: nmse") + text + "0.5").value();
    EXPECT_EQ(gate.op, op) << text;
    EXPECT_EQ(name(gate.op), text);
  }
}

TEST(InlineGate, TakesTolerancesForOutside) {
  const Gate gate = parse_gate("logits*: outside<=0, atol=1e-5, rtol=2e-5").value();
  EXPECT_EQ(gate.atol, 1e-5);
  EXPECT_EQ(gate.rtol, 2e-5);
  EXPECT_EQ(gate.text(), "logits*: outside <= 0, atol=1e-05, rtol=2e-05");
  EXPECT_FALSE(parse_gate("a: outside<=0, rtol=1e-3")->atol);
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
  EXPECT_THAT(toml_refusal(gate + "[[gate]]\ntensor=\"a\"\n"), HasSubstr("gate 2: \"metric\" is missing"));
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
  set.gates[1].atol = 1;
  EXPECT_TRUE(set.configure("ab", options));
}

TEST(CheckGatesMatch, AMisspeltTensorIsAnErrorThatListsTheKnownOnes) {
  GateSet set;
  set.gates = {parse_gate("scores: nmse<1").value(), parse_gate("score: nmse<1").value()};
  EXPECT_THAT(check_gates_match(set, {"scores", "boxes"}).error().message(),
              AllOf(HasSubstr("no tensor is called \"score\""), HasSubstr("there is: scores, boxes")));
  set.gates.pop_back();
  EXPECT_TRUE(check_gates_match(set, {"scores", "boxes"}));
  EXPECT_FALSE(check_gates_match(set, {}));
}

TEST(CheckGatesMatch, LongListsAreCut) {
  GateSet set;
  set.gates = {parse_gate("z: nmse<1").value()};
  EXPECT_THAT(check_gates_match(set, std::vector<std::string>(20, "t")).error().message(), HasSubstr("and 12 more"));
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
    EXPECT_THAT(outcome.text, HasSubstr("does not exist for these types"));
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

TEST(MetricTable, EveryNameHasAUnitADescriptionAndIsAMetric) {
  for (const MetricName& metric : metric_names()) {
    EXPECT_TRUE(is_metric(metric.name));
    EXPECT_FALSE(metric.unit.empty());
    EXPECT_FALSE(metric.description.empty());
  }
  EXPECT_FALSE(is_metric("cos"));
  EXPECT_FALSE(metric_value(PairMetrics(), "cos"));
}

TEST(MetricTable, JsonHasTheFieldsOfTheTableAndWritesNonfiniteAsText) {
  PairMetrics m;
  m.count = m.finite = 4;
  m.max_abs = 2;
  m.sqnr_db = INFINITY;
  m.nmse = NAN;
  m.max_ulp = (uint64_t{1} << 53) + 1;
  m.outside = 3;
  m.worst_outside = 7;
  m.nonfinite.nan_other = 1;
  const Json json = to_json(m);
  EXPECT_EQ(json["sqnr_db"], "inf");
  EXPECT_EQ(json["nmse"], "nan");
  EXPECT_EQ(json["max_abs"], 2.0);
  EXPECT_EQ(json["max_ulp"], (uint64_t{1} << 53) + 1);
  EXPECT_EQ(json["outside"], 3);
  EXPECT_EQ(json["worst_outside"], 7.0);
  EXPECT_EQ(json["nonfinite"]["nan_other"], 1);
  for (const char* key :
       {"mean_abs", "mse", "rmse", "cosine", "cosine_distance", "scale_ratio", "max_rel", "differing", "max_abs_index"})
    EXPECT_TRUE(json.contains(key)) << key;
  EXPECT_FALSE(json.contains("abs_p50"));
  EXPECT_FALSE(json.contains("max_integer_difference"));
}

}  // namespace
}  // namespace paritas
