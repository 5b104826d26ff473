#include "paritas/judge/catalogue_package.h"

#include <gmock/gmock.h>

namespace paritas {
namespace {

using ::testing::HasSubstr;

void expect_whole(const Finding& f) {
  for (const std::string* part : {&f.id, &f.text, &f.shows, &f.does_not_show, &f.next}) EXPECT_FALSE(part->empty());
  EXPECT_FALSE(f.evidence.empty());
}

const catalogue::PackagePartFacts kFacts{"decoder", "qnn:htp", "scores: cosine 0.87 < 0.99",
                                         "scores: cosine 0.86 < 0.99", true};

TEST(CataloguePackage, APartThatIsEnough) {
  const Finding f = catalogue::package_part_enough(kFacts);
  expect_whole(f);
  EXPECT_EQ(f.severity, Severity::kFault);
  EXPECT_THAT(f.text,
              HasSubstr("\"decoder\" on qnn:htp alone is enough to break the outputs (scores: cosine 0.87 < 0.99)"));
  auto undemanded = kFacts;
  undemanded.demanded = false;
  EXPECT_EQ(catalogue::package_part_enough(undemanded).severity, Severity::kNote);
}

TEST(CataloguePackage, PartsThatFailOnlyTogether) {
  const Finding f = catalogue::package_parts_together({"encoder", "decoder"}, kFacts);
  expect_whole(f);
  EXPECT_EQ(f.severity, Severity::kFault);
  EXPECT_THAT(f.text, HasSubstr("no part alone is enough"));
}

TEST(CataloguePackage, APackageThatHoldsIsANote) {
  const Finding f = catalogue::package_holds({"encoder", "decoder"}, "scores: cosine 1 >= 0.99");
  expect_whole(f);
  EXPECT_EQ(f.severity, Severity::kNote);
}

}  // namespace
}  // namespace paritas
