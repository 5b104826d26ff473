#include "paritas/judge/catalogue_package_diff.h"

#include <set>

#include <gmock/gmock.h>

namespace paritas::catalogue {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Finding changed(PackageChange change) { return package_changed(change, {"the thing", {"cut", "gates"}}); }

void is_whole(const Finding& f, const std::string& id, const std::string& text) {
  EXPECT_EQ(f.id, id);
  EXPECT_EQ(f.severity, Severity::kNote);
  EXPECT_THAT(f.text, HasSubstr(text));
  for (const std::string* part : {&f.shows, &f.does_not_show, &f.next}) EXPECT_FALSE(part->empty());
}

TEST(CataloguePackageDiff, TheContractIsWhatAnApplicationReads) {
  is_whole(changed(PackageChange::kContract), "package-contract",
           "gives or gets changed: the thing. Also changed: cut, gates.");
}

TEST(CataloguePackageDiff, AVerdictIsThePackagesOwn) {
  const Finding f = changed(PackageChange::kVerdict);
  is_whole(f, "package-verdict", "came to something else: the thing");
  EXPECT_THAT(f.shows, HasSubstr("by its own gates, when it was made"));
}

TEST(CataloguePackageDiff, WeightsDoNotShowResults) {
  const Finding f = changed(PackageChange::kWeights);
  is_whole(f, "package-weights", "Weights changed: the thing");
  EXPECT_THAT(f.does_not_show, HasSubstr("nothing was run"));
}

TEST(CataloguePackageDiff, AnotherGraphMayComputeTheSame) {
  const Finding f = changed(PackageChange::kGraph);
  is_whole(f, "package-graph", "graph of an ONNX part changed");
  EXPECT_THAT(f.does_not_show, HasSubstr("may compute the same"));
}

TEST(CataloguePackageDiff, AContextIsToldByItsHashOnly) {
  const Finding f = changed(PackageChange::kContext);
  is_whole(f, "package-context", "A compiled part changed");
  EXPECT_THAT(f.does_not_show, HasSubstr("only be told by its hash"));
}

TEST(CataloguePackageDiff, TheOthersAreWhole) {
  is_whole(changed(PackageChange::kCut), "package-cut", "The cut changed");
  is_whole(changed(PackageChange::kParts), "package-parts", "built or run otherwise");
  is_whole(changed(PackageChange::kEnvironment), "package-environment", "another environment");
  is_whole(changed(PackageChange::kGates), "package-gates", "judged otherwise");
  is_whole(changed(PackageChange::kFiles), "package-files", "Further files changed");
}

TEST(CataloguePackageDiff, FiguresOverOtherSamplesDoNotCompare) {
  const Finding f = changed(PackageChange::kSamples);
  is_whole(f, "package-samples", "other reference samples");
  EXPECT_THAT(f.does_not_show, HasSubstr("do not compare"));
}

TEST(CataloguePackageDiff, AnotherReferenceIsNotTheWrongOne) {
  const Finding f = changed(PackageChange::kReference);
  is_whole(f, "package-reference", "computes something else");
  EXPECT_THAT(f.does_not_show, HasSubstr("which of the two is right"));
}

TEST(CataloguePackageDiff, FiguresMayBeNoise) {
  const Finding f = changed(PackageChange::kResults);
  is_whole(f, "package-results", "Figures of the verification changed");
  EXPECT_THAT(f.does_not_show, HasSubstr("noise"));
}

TEST(CataloguePackageDiff, AlikeSaysWhatDiffersAllTheSame) {
  const Finding f = packages_alike({"made", "timings"});
  is_whole(f, "packages-alike", "Different all the same: made, timings.");
  EXPECT_THAT(packages_alike({}).text, Not(HasSubstr("all the same")));
  EXPECT_THAT(f.does_not_show, HasSubstr("nothing was run"));
}

}  // namespace
}  // namespace paritas::catalogue
