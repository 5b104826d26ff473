#include "paritas/locate/sample_state.h"

#include <cmath>
#include <fstream>

#include <gmock/gmock.h>

#include "paritas/base/test_files.h"

namespace paritas {
namespace {

using ::testing::HasSubstr;

SampleRecord record() {
  SampleRecord r;
  r.id = "sample-000000";
  r.verdict = Verdict::kDeviates;
  r.reasons = {"y: cosine 0.5 < 0.99"};
  r.outputs.push_back({"y", Verdict::kDeviates, "cosine>=0.99", RecordedFigures{0.1, 1.0 / 3, INFINITY, 2}});
  r.outputs.push_back({"labels", Verdict::kNotJudged, "", std::nullopt});
  RecordedNode node;
  node.name = "n";
  node.op = "Mul";
  node.tensor = "t";
  node.local = RecordedFigures{NAN, -0.0, 5e-324, 0};
  node.x_baseline = 0.1;
  node.range = RangeViolation::kUnderflow;
  node.consequential = true;
  r.nodes.push_back(node);
  r.ranked = {"n"};
  r.first_divergence = "n";
  r.first_divergence_tensor = "t";
  r.decisions.push_back({"topk", "TopK", "i", 40, 3});
  r.on_device = 9;
  r.placed = 10;
  Finding f;
  f.id = "local-cause";
  f.severity = Severity::kFault;
  f.nodes = {"n"};
  f.text = "text";
  f.evidence = {{"share", 1.0}, {"count", 2}};
  r.findings.push_back(f);
  r.notes = {"note"};
  r.provenance = Json::object();
  return r;
}

TEST(SampleRecord, ComesBackToTheBit) {
  const std::string text = dump_json(to_json(record()));
  const auto json = parse_json(text, "test");
  ASSERT_TRUE(json);
  const auto back = sample_record_from_json(*json, "test");
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(dump_json(to_json(*back)), text);
  EXPECT_TRUE(std::isnan(back->nodes[0].local->nmse));
  EXPECT_TRUE(std::signbit(back->nodes[0].local->cosine));
  EXPECT_EQ(back->nodes[0].local->max_abs, 5e-324);
}

TEST(SampleRecord, RefusesWhatIsMissingOrOfAnotherType) {
  const Json whole = to_json(record());
  for (const auto& [key, value] : whole.items()) {
    Json part = whole;
    part.erase(key);
    EXPECT_FALSE(sample_record_from_json(part, "test")) << key;
    if (key == "provenance") continue;
    part[key] = Json::object();
    EXPECT_FALSE(sample_record_from_json(part, "test")) << key;
  }
  for (const Json& wrong : {Json(nullptr), Json(1), Json::array()})
    EXPECT_FALSE(sample_record_from_json(wrong, "test"));
}

class SampleStateTest : public ::testing::Test {
 protected:
  TestFolder folder_;
  Path path_ = folder_.path() / "state";
  Json subject_ = {{"model", "abc"}, {"gates", Json::array({"y: cosine>=0.99"})}};
};

TEST_F(SampleStateTest, GoesOnWhereItWas) {
  {
    const auto state = SampleState::open(path_, subject_);
    ASSERT_TRUE(state) << state.error().message();
    EXPECT_FALSE(*state->has("sample-000000", "inputs"));
    ASSERT_TRUE(state->store(record(), "inputs"));
  }
  const auto state = SampleState::open(path_, subject_);
  ASSERT_TRUE(state) << state.error().message();
  const auto loaded = state->load("sample-000000", "inputs");
  ASSERT_TRUE(loaded && *loaded);
  EXPECT_EQ(dump_json(to_json(**loaded)), dump_json(to_json(record())));
  EXPECT_FALSE(*state->has("sample-000001", "inputs"));
  EXPECT_THAT(state->has("sample-000000", "others").error().message(), HasSubstr("other inputs"));
}

TEST_F(SampleStateTest, RefusesAnotherSubjectAndSaysWhat) {
  ASSERT_TRUE(SampleState::open(path_, subject_));
  Json other = subject_;
  other["gates"] = Json::array();
  const auto state = SampleState::open(path_, other);
  ASSERT_FALSE(state);
  EXPECT_THAT(state.error().message(), HasSubstr("different: gates"));
  // A file that was moved here from another state.
  const auto mine = SampleState::open(folder_.path() / "mine", other);
  ASSERT_TRUE(mine && mine->store(record(), "inputs"));
  std::filesystem::copy(folder_.path() / "mine/sample-000000.json", path_);
  const auto again = SampleState::open(path_, subject_);
  ASSERT_TRUE(again);
  EXPECT_THAT(again->has("sample-000000", "inputs").error().message(), HasSubstr("another diagnosis"));
}

TEST_F(SampleStateTest, RefusesFoldersThatAreNotOursOrInUse) {
  const auto state = SampleState::open(path_, subject_);
  ASSERT_TRUE(state);
  EXPECT_THAT(SampleState::open(path_, subject_).error().message(), HasSubstr("in use"));
  std::ofstream(folder_.path() / "mine.txt") << "mine";
  EXPECT_THAT(SampleState::open(folder_.path(), subject_).error().message(), HasSubstr("no state of locate"));
  std::filesystem::create_directory(folder_.path() / "odd");
  std::ofstream(folder_.path() / "odd/state.json") << "[]";
  EXPECT_FALSE(SampleState::open(folder_.path() / "odd", subject_));
}

TEST_F(SampleStateTest, RefusesDamagedFiles) {
  const auto state = SampleState::open(path_, subject_);
  ASSERT_TRUE(state && state->store(record(), "inputs"));
  const auto text = read_text(path_ / "sample-000000.json");
  ASSERT_TRUE(text);
  for (size_t at = 0; at < text->size(); at += 7) {
    std::string damaged = *text;
    damaged[at] = damaged[at] == '7' ? '8' : '7';
    std::ofstream(path_ / "sample-000000.json") << damaged;
    EXPECT_FALSE(state->load("sample-000000", "inputs")) << at;
  }
  std::ofstream(path_ / "sample-000000.json") << text->substr(0, text->size() / 2);
  EXPECT_FALSE(state->load("sample-000000", "inputs"));
}

}  // namespace
}  // namespace paritas
