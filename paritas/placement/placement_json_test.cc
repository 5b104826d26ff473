#include "paritas/placement/placement_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paritas/base/test_files.h"
#include "paritas/placement/testing.h"

namespace paritas {
namespace {

using namespace paritas::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

PlacementResult split() {
  const SmallGraph graph = small_graph();
  AuditRequest request;
  request.model = &graph.model;
  request.index = &graph.index;
  request.requested = kDevice;
  PlacementEvidence evidence;
  evidence.assignment = split_assignment();
  PlacementResult result;
  result.model_sha256 = std::string(64, 'a');
  result.placement = audit_placement(request, evidence).value();
  return result;
}

class StoredPlacementTest : public ::testing::Test {
 protected:
  std::string refusal(const std::string& text) {
    const auto stored = read_stored_placement(folder_.write("old.json", text));
    return stored ? "accepted" : stored.error().message();
  }
  TestFolder folder_;
};

TEST_F(StoredPlacementTest, TheSamePlacementHasNotMoved) {
  const PlacementResult result = split();
  const auto stored = read_stored_placement(folder_.write("old.json", dump_json(to_json(result)))).value();
  EXPECT_EQ(stored.model_sha256, result.model_sha256);
  EXPECT_EQ(stored.partitions, 2u);
  const PlacementChange change = compare_placements(stored, result.placement);
  EXPECT_THAT(change.moved, IsEmpty());
  EXPECT_THAT(change.only_before, IsEmpty());
  EXPECT_DOUBLE_EQ(change.share_before, change.share_after);
}

TEST_F(StoredPlacementTest, MovedAndMissingNodesAreNamed) {
  PlacementResult result = split();
  const auto stored = read_stored_placement(folder_.write("old.json", dump_json(to_json(result)))).value();
  for (NodePlacement& node : result.placement.nodes)
    if (node.name == "Softmax:s") {
      node.place = Place::kDevice;
      node.provider = kDevice;
    }
  for (NodePlacement& node : result.placement.nodes)
    if (node.name == "Add:a") node.place = Place::kUnknown;  // nobody has seen it move
  result.placement.nodes.front().name = "new";
  result.placement.totals.device_partitions = 1;
  const PlacementChange change = compare_placements(stored, result.placement);
  ASSERT_EQ(change.moved.size(), 1u);
  EXPECT_EQ(change.moved[0].name, "Softmax:s");
  EXPECT_EQ(change.moved[0].from, kCpu);
  EXPECT_EQ(change.moved[0].to, kDevice);
  EXPECT_THAT(change.only_after, ElementsAre("new"));
  EXPECT_EQ(change.only_before.size(), 1u);
  EXPECT_EQ(change.partitions_before, 2u);
  EXPECT_EQ(change.partitions_after, 1u);
}

TEST_F(StoredPlacementTest, OtherFilesAreRefused) {
  EXPECT_THAT(refusal("{}"), HasSubstr("is no result of paritas placement"));
  EXPECT_THAT(refusal(R"({"schema": "paritas.locate/1"})"), HasSubstr("is no result of paritas placement"));
  EXPECT_THAT(refusal("["), HasSubstr("not valid JSON"));
  const std::string text = dump_json(to_json(split()), -1);
  auto changed = [&](const std::string& from, const std::string& to) {
    std::string copy = text;
    const auto at = copy.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return refusal(copy.replace(at, from.size(), to));
  };
  EXPECT_THAT(changed("\"place\":\"device\"", "\"place\":\"moon\""), HasSubstr("the place \"moon\" is not known"));
  EXPECT_THAT(changed("\"device_partitions\":2", "\"device_partitions\":-2"), HasSubstr("\"device_partitions\""));
  EXPECT_THAT(changed("\"device_share\":", "\"device_shares\":"), HasSubstr("\"device_share\" is no number"));
}

TEST(PlaceNames, GoBothWays) {
  for (int i = 0; i < kPlaces; ++i) EXPECT_EQ(place_from_name(name(static_cast<Place>(i))), static_cast<Place>(i));
  EXPECT_EQ(place_from_name(""), std::nullopt);
}

}  // namespace
}  // namespace paritas
