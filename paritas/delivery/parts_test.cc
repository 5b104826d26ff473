#include "paritas/delivery/parts.h"

#include <gmock/gmock.h>

#include "paritas/delivery/testing.h"

namespace paritas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> tensors_of(const std::vector<PackagePort>& ports) {
  std::vector<std::string> names;
  for (const PackagePort& port : ports) names.push_back(port.tensor);
  return names;
}

std::map<std::string, Tensor> values(const std::vector<std::string>& boundary) {
  std::map<std::string, Tensor> tensors;
  tensors["x"] = delivery_test::numbers({1, 8}, 0, 1);
  for (const std::string& name : boundary) tensors[name] = delivery_test::numbers({1, 8}, 0, 1);
  tensors["offset"] = tensors["y"] = delivery_test::numbers({1, 4}, 0, 1);
  return tensors;
}

Result<std::vector<ModelPart>> apart(const std::vector<std::string>& cuts, const std::vector<std::string>& names = {}) {
  std::vector<onnx_model::CutSpec> specs;
  for (const std::string& text : cuts) specs.push_back(*onnx_model::parse_cut(text, "--cut"));
  PARITAS_ASSIGN(const NamedCuts named, name_cuts(delivery_test::net(), specs, names));
  std::vector<std::string> boundary;
  for (const auto& tensors : named.tensors) boundary.insert(boundary.end(), tensors.begin(), tensors.end());
  return take_apart(named, values(boundary), {});
}

TEST(Parts, AuxiliaryInputsGoWhereTheyAreNeeded) {
  const auto parts = apart({"/enc/h"});
  ASSERT_TRUE(parts.has_value()) << parts.error().message();
  ASSERT_EQ(parts->size(), 2u);
  EXPECT_THAT(tensors_of((*parts)[0].inputs), ElementsAre("x"));
  EXPECT_THAT(tensors_of((*parts)[0].outputs), ElementsAre("feature_0"));
  EXPECT_THAT(tensors_of((*parts)[1].inputs), ElementsAre("feature_0", "offset"));
  EXPECT_THAT(tensors_of((*parts)[1].outputs), ElementsAre("y"));
  EXPECT_EQ((*parts)[0].nodes, 2u);
  EXPECT_EQ((*parts)[1].nodes, 5u);
}

// What the first part makes, and both the second and the third read, is made once.
TEST(Parts, ThreePartsPassOnWhatALaterOneReads) {
  const auto parts = apart({"/enc/h", "/mid/g,/enc/h"}, {"h", "g"});
  ASSERT_TRUE(parts.has_value()) << parts.error().message();
  ASSERT_EQ(parts->size(), 3u);
  EXPECT_THAT(tensors_of((*parts)[0].outputs), ElementsAre("h"));
  EXPECT_THAT(tensors_of((*parts)[1].inputs), ElementsAre("h"));
  EXPECT_THAT(tensors_of((*parts)[1].outputs), ElementsAre("g"));
  EXPECT_THAT(tensors_of((*parts)[2].inputs), ::testing::UnorderedElementsAre("h", "g", "offset"));
}

TEST(Parts, ACutThatIsGoneRoundIsRefused) {
  const auto parts = apart({"/mid/g"});
  ASSERT_FALSE(parts.has_value());
  EXPECT_THAT(parts.error().message(), HasSubstr("/enc/h"));
}

TEST(Parts, PatternsMustBeUnique) {
  const auto parts = apart({"/m"});
  ASSERT_FALSE(parts.has_value());
  EXPECT_THAT(parts.error().message(), ::testing::AllOf(HasSubstr("/enc/m"), HasSubstr("/mid/m"), HasSubstr("/dec/m")));
}

TEST(Parts, NamesForBoundaryTensorsMustBeAsManyAndFree) {
  EXPECT_THAT(apart({"/enc/h"}, {"a", "b"}).error().message(), HasSubstr("gives 2 names, 1 tensors need one"));
  EXPECT_THAT(apart({"/enc/h"}, {"y"}).error().message(), HasSubstr("is taken"));
  EXPECT_THAT(apart({"/enc/h"}, {"w1"}).error().message(), HasSubstr("is taken"));
}

}  // namespace
}  // namespace paritas
