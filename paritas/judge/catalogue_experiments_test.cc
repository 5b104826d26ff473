#include "paritas/judge/catalogue_experiments.h"

#include <gmock/gmock.h>

namespace paritas::catalogue {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

void expect_whole(const Finding& f, const std::string& id) {
  EXPECT_EQ(f.id, id);
  EXPECT_EQ(f.severity, Severity::kNote);
  for (const std::string* part : {&f.text, &f.shows, &f.does_not_show, &f.next}) EXPECT_FALSE(part->empty()) << id;
  EXPECT_FALSE(f.evidence.empty());
}

InjectionFacts softmax() {
  InjectionFacts facts;
  facts.nodes = {"/Softmax"};
  facts.tensors = {"/Softmax_output_0"};
  facts.mode = "local";
  facts.nmse = 1e-6;
  facts.gated = true;
  facts.output_nmse = 2e-12;
  return facts;
}

TEST(Catalogue, InjectionHarmlessNeverProves) {
  const Finding f = injection(softmax());
  expect_whole(f, "injection-harmless");
  EXPECT_THAT(f.text, AllOf(HasSubstr("local at /Softmax_output_0"), HasSubstr("1e-06"), HasSubstr("2e-12")));
  EXPECT_THAT(f.shows, HasSubstr("weakens the suspicion"));
  EXPECT_THAT(f.does_not_show, HasSubstr("other inputs"));
}

TEST(Catalogue, InjectionNoEffect) {
  InjectionFacts facts = softmax();
  facts.equal = true;
  const Finding f = injection(facts);
  expect_whole(f, "injection-no-effect");
  EXPECT_THAT(f.does_not_show, HasSubstr("never proves"));
}

TEST(Catalogue, InjectionBreaks) {
  InjectionFacts facts = softmax();
  facts.broken = {"scores: cosine 0.52 < 0.99"};
  facts.decisions_changed = 1;
  const Finding f = injection(facts);
  expect_whole(f, "injection-breaks");
  EXPECT_THAT(f.text, AllOf(HasSubstr("cosine 0.52 < 0.99"), HasSubstr("1 decision moved")));
  EXPECT_THAT(f.does_not_show, HasSubstr("nothing else"));
}

TEST(Catalogue, InjectionWithoutGatesOnlyMeasures) {
  InjectionFacts facts = softmax();
  facts.gated = false;
  const Finding f = injection(facts);
  expect_whole(f, "injection-measured");
  EXPECT_THAT(f.does_not_show, HasSubstr("no gate says so"));
}

TEST(Catalogue, Restored) {
  RestoredFacts facts;
  facts.islands = {"/n3/Pow", "/n3/Sqrt"};
  facts.minimal = true;
  facts.samples = 3;
  facts.device = "qnn:htp";
  Finding f = restored(facts);
  expect_whole(f, "restored");
  EXPECT_THAT(f.text, AllOf(HasSubstr("2 islands (/n3/Pow, /n3/Sqrt)"), HasSubstr("all 3 samples"),
                            HasSubstr("Without any one of them they do not"), Not(HasSubstr("ran elsewhere"))));
  EXPECT_THAT(f.does_not_show, HasSubstr("kernels are wrong"));
  facts.minimal = false;
  facts.islands = {"/n3/Pow"};
  facts.samples = 1;
  facts.elsewhere = {"Erf on CPUExecutionProvider: /e"};
  f = restored(facts);
  EXPECT_THAT(f.text, AllOf(HasSubstr("one island (/n3/Pow)"), HasSubstr("the sample"),
                            HasSubstr("1 nodes ran elsewhere"), Not(HasSubstr("Without"))));
  EXPECT_THAT(f.shows, HasSubstr("a smaller set may do"));
}

TEST(Catalogue, RestoreNeedlessAndNotFound) {
  RestoredFacts facts;
  facts.device = "sim:fp16";
  expect_whole(restore_needless(facts), "restore-needless");
  facts.samples = 1;
  expect_whole(restore_not_found(facts, true), "restore-not-found");
  EXPECT_THAT(restore_not_found(facts, true).text, HasSubstr("budget"));
  EXPECT_THAT(restore_not_found(facts, false).does_not_show, HasSubstr("most sets were not tried"));
}

TEST(CatalogueExperiments, NothingInjected) {
  const Finding f = nothing_injected("/fc", true);
  EXPECT_EQ(f.id, "search-incomplete");
  EXPECT_EQ(f.severity, Severity::kFault);
  EXPECT_EQ(
      f.text,
      "The cause was not found: no probe gave a local error that could be injected; the first tensor with figures "
      "that deviates is /fc's.");
  EXPECT_FALSE(f.shows.empty() || f.does_not_show.empty() || f.next.empty());
  EXPECT_EQ(nothing_injected("", false).severity, Severity::kNote);
}

}  // namespace
}  // namespace paritas::catalogue
