#include "paritas/judge/catalogue_explain.h"

#include <gmock/gmock.h>

namespace paritas::catalogue {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const LayerFacts kLayer{"conv", "Conv", "against the reference its inputs are at 40 dB, its output at 12 dB"};

void expect_whole(const Finding& f, const std::string& id) {
  EXPECT_EQ(f.id, id);
  EXPECT_EQ(f.severity, Severity::kNote);
  EXPECT_EQ(f.nodes, std::vector<std::string>{"conv"});
  for (const std::string* part : {&f.text, &f.shows, &f.does_not_show, &f.next}) EXPECT_FALSE(part->empty()) << id;
  EXPECT_FALSE(f.evidence.empty());
  EXPECT_THAT(f.text, HasSubstr("conv (Conv)"));
}

RangeUse range() {
  RangeUse r;
  r.tensor = "t";
  r.type = "uint8";
  r.scale = 0.5;
  r.asked_scale = 0.125;
  r.high = 7.19;
  r.max = 11.4;
  r.max_abs = 12;
  r.p99_9 = 2;
  r.clipped = 5;
  r.count = 100;
  r.levels = 256;
  r.levels_used = 20;
  r.own_sqnr_db = 17.5;
  r.samples = 3;
  r.top_cut_samples = 2;
  r.largest_tie = 4;
  return r;
}

TEST(CatalogueExplain, Ranges) {
  Finding f = explain_narrow(kLayer, range());
  expect_whole(f, "explain-range-narrow");
  EXPECT_THAT(f.text, AllOf(HasSubstr("0 to 7.19"), HasSubstr("0 to 11.4"), HasSubstr("5 of 100 values (5 %) saturate"),
                            HasSubstr("17.5 dB"), HasSubstr("in 2 of 3 samples"), HasSubstr("up to 4 elements tie"),
                            HasSubstr("its inputs are at 40 dB")));
  f = explain_wide(kLayer, range());
  expect_whole(f, "explain-range-wide");
  EXPECT_THAT(f.text, AllOf(HasSubstr("a step 4 times"), HasSubstr("20 of 256 levels")));
  f = explain_outliers(kLayer, range());
  expect_whole(f, "explain-outliers");
  EXPECT_THAT(f.text, AllOf(HasSubstr("largest is 12"), HasSubstr("99.9 % lie below 2 (6 times less, 4 steps)")));
  RangeUse sum = range();
  sum.residual = true;
  EXPECT_THAT(explain_outliers(kLayer, sum).text, HasSubstr("a residual sum"));
  expect_whole(explain_coarse(kLayer, range()), "explain-too-few-levels");
}

TEST(CatalogueExplain, SharedScale) {
  const Finding f = explain_shared(kLayer, {"scores", 2, 256, 2.5, 0.005, 0, 1, 3.5, "reference"});
  expect_whole(f, "explain-shared-scale");
  EXPECT_THAT(f.text,
              AllOf(HasSubstr("scores uses 2 of 256 levels"), HasSubstr("500 times finer"), HasSubstr("3.5 dB")));
}

TEST(CatalogueExplain, Weights) {
  WeightsFacts w{"w", "int8 per tensor", 24.2, -1.5, 17.5, 3, 16, 100, 2, 480, 21.5};
  Finding f = explain_weights(kLayer, w);
  expect_whole(f, "explain-weights");
  EXPECT_THAT(f.text,
              AllOf(HasSubstr("24.2 dB"), HasSubstr("the median channel at 21.5 dB"), HasSubstr("channel 3 at -1.5 dB"),
                    HasSubstr("17.5 times"), HasSubstr("16 % became zero"), HasSubstr("2 channels entirely")));
  EXPECT_THAT(f.next, HasSubstr("per channel"));
  w.type = "int8 per channel (480, axis 0)";
  EXPECT_THAT(explain_weights(kLayer, w).next, HasSubstr("more bits"));
  f = explain_bias(kLayer, {"b", 1, 32, 0.75, 3.0});
  expect_whole(f, "explain-bias-saturated");
  EXPECT_THAT(f.text, AllOf(HasSubstr("1 of 32"), HasSubstr("3 steps of the output")));
}

TEST(CatalogueExplain, KernelsAndTheRest) {
  const KernelFacts k{12, 100, 0.5, 1e-4, 2.0};
  expect_whole(explain_operator(kLayer, k), "explain-operator");
  EXPECT_THAT(explain_operator(kLayer, k).text, HasSubstr("12 of 100 values differ by up to 0.5 (2 steps)"));
  expect_whole(explain_order(kLayer, k), "explain-order");
  expect_whole(explain_layout(kLayer, "axes [0, 2, 1] match"), "explain-layout");
  expect_whole(explain_inherited(kLayer), "explain-inherited");
  expect_whole(explain_nothing(kLayer, "weights at 40 dB"), "explain-none");
  expect_whole(explain_cannot_tell(kLayer, "no recording"), "explain-cannot-tell");
}

}  // namespace
}  // namespace paritas::catalogue
