#include "paritas/judge/catalogue_cut.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paritas::catalogue {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

CutFacts facts(bool demanded = true) {
  CutFacts f;
  f.cut = "encoder";
  f.tensors = {"map0", "map1"};
  f.front_figure = "scores: cosine 1 >= 0.99";
  f.rear_figure = "scores: cosine 0.87 < 0.99";
  f.both_figure = "scores: cosine 0.86 < 0.99";
  f.demanded = demanded;
  return f;
}

SplitFacts split() {
  SplitFacts s;
  s.cut = "encoder";
  s.output = "scores";
  s.max_abs = 2e-7;
  s.nmse = 1e-14;
  s.tensor = "/dec/Add_output_0";
  s.node = "/dec/Add";
  return s;
}

void complete(const Finding& f) {
  EXPECT_FALSE(f.shows.empty() || f.does_not_show.empty() || f.next.empty()) << f.id;
  EXPECT_EQ(f.evidence["cut"], "encoder") << f.id;
}

TEST(CatalogueCut, Front) {
  const Finding f = cut_front(facts());
  complete(f);
  EXPECT_EQ(f.id, "cut-front");
  EXPECT_EQ(f.severity, Severity::kFault);
  EXPECT_THAT(f.text, AllOf(HasSubstr("Cut \"encoder\" (at map0, map1)"), HasSubstr("front half alone")));
}

TEST(CatalogueCut, Rear) {
  const Finding f = cut_rear(facts());
  complete(f);
  EXPECT_THAT(f.text, AllOf(HasSubstr("rear half alone on the device is enough"), HasSubstr("0.87 < 0.99")));
  EXPECT_THAT(f.does_not_show, HasSubstr("other inputs"));
}

TEST(CatalogueCut, WithoutADemandNothingIsAFault) {
  for (const Finding& f : {cut_front(facts(false)), cut_rear(facts(false)), cut_each(facts(false))})
    EXPECT_EQ(f.severity, Severity::kNote) << f.id;
}

TEST(CatalogueCut, Each) {
  const Finding f = cut_each(facts());
  complete(f);
  EXPECT_THAT(f.text, HasSubstr("each half alone"));
  EXPECT_THAT(f.does_not_show, HasSubstr("that there are two causes"));
}

TEST(CatalogueCut, Together) {
  const Finding f = cut_together(facts());
  complete(f);
  EXPECT_THAT(f.text, AllOf(HasSubstr("together"), HasSubstr("0.86 < 0.99"), HasSubstr("each alone holds")));
}

TEST(CatalogueCut, Acquits) {
  const Finding f = cut_acquits(facts());
  complete(f);
  EXPECT_EQ(f.severity, Severity::kNote);
  EXPECT_THAT(f.does_not_show, HasSubstr("that both halves are exact"));
}

TEST(CatalogueCut, Undecided) {
  const Finding f = cut_undecided(facts());
  complete(f);
  EXPECT_EQ(f.severity, Severity::kNote);
}

TEST(CatalogueCut, Optimiser) {
  const Finding f = cut_optimiser(split());
  complete(f);
  EXPECT_EQ(f.severity, Severity::kNote);
  EXPECT_THAT(f.text, AllOf(HasSubstr("2e-07"), HasSubstr("optimisation off")));
  EXPECT_THAT(f.shows, HasSubstr("noise floor"));
}

TEST(CatalogueCut, Wrong) {
  SplitFacts s = split();
  const Finding f = cut_wrong(s);
  complete(f);
  EXPECT_EQ(f.severity, Severity::kFault);
  EXPECT_THAT(f.text, AllOf(HasSubstr("\"/dec/Add_output_0\", in the rear half"), HasSubstr("captures"),
                            HasSubstr("missing constant"), HasSubstr("order"), HasSubstr("postprocessing")));
  s.in_front = true;
  EXPECT_THAT(cut_wrong(s).text, HasSubstr("in the front half"));
}

TEST(CatalogueCut, NotRepeatable) {
  const Finding f = cut_not_repeatable(split());
  complete(f);
  EXPECT_THAT(f.does_not_show, HasSubstr("whether the split is right"));
}

TEST(CatalogueCut, ChangesTheDevice) {
  const Finding f = cut_changes_device(facts(), "scores: cosine 0.999 >= 0.99");
  complete(f);
  EXPECT_THAT(f.text, AllOf(HasSubstr("0.86 < 0.99"), HasSubstr("0.999 >= 0.99")));
}

TEST(CatalogueCut, EveryCellSaysWhatItShowsAndWhatNot) {
  for (const bool front : {false, true})
    for (const bool rear : {false, true})
      for (const auto outcome :
           {CellOutcome::kHolds, CellOutcome::kDeviates, CellOutcome::kUnknown, CellOutcome::kFailed}) {
        const CellWords words = cell_words(front, rear, outcome);
        EXPECT_FALSE(words.shows.empty() || words.does_not_show.empty());
      }
  EXPECT_THAT(cell_words(true, false, CellOutcome::kHolds).does_not_show, HasSubstr("front half is exact"));
  EXPECT_THAT(cell_words(false, true, CellOutcome::kDeviates).shows, HasSubstr("rear half alone"));
  EXPECT_THAT(cell_words(true, false, CellOutcome::kUnknown).shows, Not(HasSubstr("enough")));
  for (const bool front : {false, true})
    EXPECT_THAT(cell_words(front, false, CellOutcome::kDrawn).shows,
                HasSubstr("nothing about outputs that depend on random"));
}

}  // namespace
}  // namespace paritas::catalogue
