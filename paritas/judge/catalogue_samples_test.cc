#include "paritas/judge/catalogue_samples.h"

#include <gmock/gmock.h>

namespace paritas::catalogue {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Finding of_one() {
  Finding f;
  f.id = "range-overflow";
  f.severity = Severity::kFault;
  f.nodes = {"/Pow"};
  f.text = "/Pow makes values up to 1e6.";
  f.shows = "a";
  f.does_not_show = "b";
  f.next = "c";
  f.evidence = {{"max", 1e6}};
  return f;
}

TEST(CatalogueSamples, SaysOnHowManySamplesAFindingHolds) {
  const Finding f = over_samples(of_one(), {2, 5, "sample-000003", true, false, "sample-000003", "sample-000001",
                                            "/Pow", 1e-7, 0.9, "sample-000003", 2});
  EXPECT_EQ(f.id, "range-overflow");
  EXPECT_EQ(f.severity, Severity::kFault);
  EXPECT_THAT(f.text, StartsWith("On 2 of 5 samples (among them the worst, sample-000003; not the median, "
                                 "sample-000001). In sample-000003: /Pow makes values up to 1e6."));
  EXPECT_THAT(f.text,
              HasSubstr("median 1e-07, worst 0.9 (sample-000003), where both sides are finite; on 2 the device alone"));
  EXPECT_THAT(f.does_not_show, StartsWith("b; that it holds on the other 3"));
  EXPECT_EQ(f.evidence["samples"]["holds"], 2);
  EXPECT_EQ(f.evidence["max"], 1e6);
}

TEST(CatalogueSamples, OnAllSamplesNothingIsLeftOver) {
  const Finding f =
      over_samples(of_one(), {5, 5, "sample-000000", true, true, "sample-000000", "sample-000001", {}, 0, 0, {}, 0});
  EXPECT_THAT(f.text, AllOf(StartsWith("On all 5 samples. In sample-000000:"), Not(HasSubstr("Local NMSE"))));
  EXPECT_THAT(f.does_not_show, HasSubstr("not given"));
}

TEST(CatalogueSamples, DivergenceThatVariesIsANote) {
  const Finding f = divergence_varies({{"/a", 1}, {"/b", 3}}, 6);
  EXPECT_EQ(f.id, "divergence-varies");
  EXPECT_EQ(f.severity, Severity::kNote);
  EXPECT_EQ(f.nodes.front(), "/b");
  EXPECT_THAT(f.text, HasSubstr("4 of 6 samples deviate, and not from the same node on: /b on 3, /a on 1"));
  for (const std::string* part : {&f.shows, &f.does_not_show, &f.next}) EXPECT_FALSE(part->empty());
  EXPECT_EQ(f.evidence["nodes"].size(), 2);
}

}  // namespace
}  // namespace paritas::catalogue
