#include "paritas/judge/catalogue_range.h"

#include <gmock/gmock.h>

namespace paritas::catalogue {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

void expect_whole(const Finding& f, const std::string& id, Severity severity) {
  EXPECT_EQ(f.id, id);
  EXPECT_EQ(f.severity, severity);
  for (const std::string* part : {&f.text, &f.shows, &f.does_not_show, &f.next}) EXPECT_FALSE(part->empty()) << id;
  EXPECT_FALSE(f.evidence.empty());
}

PreflightFacts square() {
  PreflightFacts facts;
  facts.node = "/n3/Pow";
  facts.op = "Pow";
  facts.tensor = "/n3/Pow_output_0";
  facts.format = "float16";
  facts.limit = 65504;
  facts.max_abs = 131008;
  facts.factor = 2;
  facts.elements = 100;
  facts.overflowed = 7;
  return facts;
}

TEST(CatalogueRange, Overflow) {
  PreflightFacts facts = square();
  facts.behind = {"/n3/ReduceMean"};
  const Finding f = preflight_overflow(facts);
  expect_whole(f, "preflight-overflow", Severity::kFault);
  EXPECT_THAT(f.text,
              AllOf(HasSubstr("/n3/Pow (Pow) reaches 1.31e+05, 2 times"), HasSubstr("(65504)"), HasSubstr("7 of 100"),
                    HasSubstr("1 further node behind it: /n3/ReduceMean"), Not(HasSubstr("sample"))));
  EXPECT_THAT(f.nodes, ElementsAre("/n3/Pow", "/n3/ReduceMean"));
  EXPECT_THAT(f.does_not_show, AllOf(HasSubstr("keeps it in this format"), HasSubstr("answer")));
  facts.samples = 3;
  facts.sample = 1;
  EXPECT_THAT(preflight_overflow(facts).text, HasSubstr("(sample 2 of 3)"));
  facts.node.clear();
  EXPECT_THAT(preflight_overflow(facts).text, HasSubstr("Input \"/n3/Pow_output_0\""));
}

TEST(CatalogueRange, LostEnergy) {
  PreflightFacts facts = square();
  facts.lost_energy = 0.25;
  facts.flushed = 60;
  const Finding f = preflight_lost_energy(facts);
  expect_whole(f, "preflight-lost-energy", Severity::kFault);
  EXPECT_THAT(f.text, AllOf(HasSubstr("0.25 of its energy"), HasSubstr("60 of 100")));
}

TEST(CatalogueRange, Hidden) {
  PreflightFacts facts = square();
  facts.hidden = "mean square";
  facts.lost_energy = 1;
  Finding f = preflight_hidden(facts);
  expect_whole(f, "preflight-hidden", Severity::kFault);
  EXPECT_THAT(f.text, AllOf(HasSubstr("the mean square reaches"), HasSubstr("moves by 1 of its energy")));
  EXPECT_THAT(f.does_not_show, HasSubstr("float32"));
  facts.result_nonfinite = 4;
  EXPECT_THAT(preflight_hidden(facts).text, HasSubstr("4 results become NaN or infinite"));
  facts.overflowed = 0;
  EXPECT_THAT(preflight_hidden(facts).text, HasSubstr("falls below"));
}

TEST(CatalogueRange, MadeInfinite) {
  PreflightFacts facts = square();
  facts.operand = "mask";
  facts.result_nonfinite = 20;
  Finding f = preflight_zero_times_infinity(facts);
  expect_whole(f, "preflight-zero-times-infinity", Severity::kFault);
  EXPECT_THAT(f.text, AllOf(HasSubstr("20 zeros"), HasSubstr("\"mask\""), HasSubstr("NaN")));
  EXPECT_THAT(f.does_not_show, HasSubstr("saturate"));
  f = preflight_infinite_weights(facts);
  expect_whole(f, "preflight-infinite-weights", Severity::kFault);
  EXPECT_THAT(f.text, AllOf(HasSubstr("\"mask\""), HasSubstr("7 of whose values")));
  EXPECT_THAT(f.does_not_show, HasSubstr("saturate"));
  facts.op = "Log";
  facts.operand_node = "/add";
  f = preflight_divides_by_zero(facts);
  expect_whole(f, "preflight-divides-by-zero", Severity::kFault);
  EXPECT_THAT(f.text, HasSubstr("takes their logarithm"));
  EXPECT_THAT(f.nodes, ElementsAre("/add", "/n3/Pow"));  // the cause first
  facts.op = "Div";
  EXPECT_THAT(preflight_divides_by_zero(facts).text, HasSubstr("divides by them"));
}

TEST(CatalogueRange, AMaskThatRuinsTheScale) {
  PreflightFacts facts = square();
  facts.format = "int8";
  facts.max_abs = 1e9;
  facts.softmax = "/softmax";
  facts.weighted_max_abs = 4.75;
  facts.lost_energy = 0.72;
  const Finding f = preflight_ruined_scale(facts);
  expect_whole(f, "preflight-ruined-scale", Severity::kFault);
  EXPECT_THAT(f.text,
              AllOf(HasSubstr("reaches 1e+09 in values to which /softmax gives no weight"), HasSubstr("reach 4.75"),
                    HasSubstr("steps of 7.87e+06"), HasSubstr("moves by 0.72 of its energy")));
  EXPECT_THAT(f.nodes, ElementsAre("/n3/Pow", "/softmax"));
}

TEST(CatalogueRange, ARowThatIsMaskedWholly) {
  PreflightFacts facts = square();
  EXPECT_THAT(preflight_overflow(facts).text, Not(HasSubstr("NaN")));
  facts.softmax = "/softmax";
  facts.result_nonfinite = 16;
  EXPECT_THAT(preflight_overflow(facts).text,
              HasSubstr("As infinities they make 16 results of /softmax NaN or infinite."));
}

TEST(CatalogueRange, Notes) {
  const PreflightFacts facts = square();
  const Finding masks = preflight_masks(facts, {"/mask"}, 0);
  expect_whole(masks, "preflight-masks", Severity::kNote);
  EXPECT_THAT(masks.text, HasSubstr("1 tensor holds values below the lowest of"));
  EXPECT_THAT(masks.does_not_show, HasSubstr("mask wholly"));
  Finding f = preflight_constants(facts, {"anchors"}, 1);
  expect_whole(f, "preflight-constants", Severity::kNote);
  EXPECT_THAT(f.text, AllOf(HasSubstr("1 constant holds"), HasSubstr("1 of them NaN or infinities")));
  EXPECT_THAT(preflight_constants(facts, {"a", "b"}, 0).text,
              AllOf(HasSubstr("2 constants hold"), Not(HasSubstr("NaN"))));
  f = preflight_tiny_constants(facts, {"epsilon"}, 1);
  expect_whole(f, "preflight-tiny-constants", Severity::kNote);
  f = preflight_tiny(facts, {"/Softmax"}, 1e-9);
  expect_whole(f, "preflight-tiny", Severity::kNote);
  EXPECT_THAT(f.text, HasSubstr("1 tensor holds"));
  f = preflight_hidden_harmless(facts, {"exp(-x) in /Sigmoid"}, 1e-9);
  expect_whole(f, "preflight-hidden-harmless", Severity::kNote);
  EXPECT_THAT(f.does_not_show, HasSubstr("how a device computes"));
  f = preflight_nonfinite(facts, {"/Log"});
  expect_whole(f, "preflight-nonfinite", Severity::kNote);
}

}  // namespace
}  // namespace paritas::catalogue
