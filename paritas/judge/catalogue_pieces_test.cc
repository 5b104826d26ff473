#include "paritas/judge/catalogue_pieces.h"

#include <gmock/gmock.h>

namespace paritas::catalogue {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

void expect_whole(const Finding& f, const std::string& id) {
  EXPECT_EQ(f.id, id);
  EXPECT_EQ(f.severity, Severity::kNote);
  for (const std::string* part : {&f.text, &f.shows, &f.does_not_show, &f.next}) EXPECT_FALSE(part->empty()) << id;
  EXPECT_FALSE(f.evidence.empty());
}

SaturationFacts sigmoid() {
  SaturationFacts facts;
  facts.node = "/Sigmoid";
  facts.op = "Sigmoid";
  facts.device = "dev";
  facts.format = "float16";
  facts.left = true;
  facts.from = -9;
  facts.level = 0.125;
  facts.inputs = 12;
  facts.share = 0.01;
  facts.max_abs = 0.02;
  return facts;
}

TEST(CataloguePieces, SaturatesEarly) {
  SaturationFacts facts = sigmoid();
  Finding f = saturates_early(facts);
  expect_whole(f, "piece-saturates-early");
  EXPECT_THAT(f.text,
              AllOf(HasSubstr("stays at 0.125 from -9 on to the left"), HasSubstr("float16 alone would nowhere"),
                    HasSubstr("12 inputs (1 % of the model's own)"), HasSubstr("0.02")));
  EXPECT_THAT(f.does_not_show, HasSubstr("may be a step"));
  facts.due = -17.5;
  EXPECT_THAT(saturates_early(facts).text, HasSubstr("float16 alone would from -17.5 on"));
  facts.format.clear();
  EXPECT_THAT(saturates_early(facts).text, HasSubstr("the reference would"));
}

TEST(CataloguePieces, TailLostOnASweepIsNotTheModelsDistribution) {
  SaturationFacts facts = sigmoid();
  facts.synthetic = true;
  const Finding f = tail_lost(facts);
  expect_whole(f, "piece-tail-lost");
  EXPECT_THAT(f.text, AllOf(HasSubstr("is zero from -9"), HasSubstr("12 inputs of the sweep")));
  EXPECT_THAT(f.does_not_show, HasSubstr("not their distribution"));
}

TEST(CataloguePieces, GeluForms) {
  GeluFormFacts facts{"/Gelu", "dev", "exact", "exact", "tanh", 1.01};
  Finding f = gelu_forms(facts);
  expect_whole(f, "piece-gelu-form");
  EXPECT_THAT(f.text, AllOf(HasSubstr("dev computes the form with tanh"), HasSubstr("the reference the exact form")));
  facts.device_form = "neither";
  EXPECT_THAT(gelu_forms(facts).text, HasSubstr("dev computes neither"));
}

}  // namespace
}  // namespace paritas::catalogue
