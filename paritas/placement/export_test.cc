#include "paritas/placement/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paritas/base/test_files.h"
#include "paritas/placement/testing.h"

namespace paritas {
namespace {

using namespace paritas::testing;
using onnx_model::testing::must;
using ::testing::HasSubstr;

class Export : public ::testing::Test {
 protected:
  Export() {
    const SmallGraph graph = small_graph();
    model_ = must(graph.model.save(folder_.path(), "small")).model;
    AuditRequest request;
    request.model = &graph.model;
    request.index = &graph.index;
    request.requested = kDevice;
    PlacementEvidence evidence;
    evidence.assignment = split_assignment();
    audit_ = audit_placement(request, evidence).value();
  }
  TestFolder folder_;
  Path model_;
  PlacementAudit audit_;
};

TEST_F(Export, NodeDataIsKeyedByNodeNames) {
  const Json results = must(node_data(model_, audit_))["results"];
  EXPECT_EQ(results.size(), 6u);
  EXPECT_EQ(results["Softmax:s"]["value"], "cpu fallback");
  EXPECT_EQ(results["Add:a"]["value"], "device");
  EXPECT_NE(results["Softmax:s"]["bgColor"], results["Add:a"]["bgColor"]);
}

TEST_F(Export, NodesWithoutANameOfTheirOwnAreKeyedByTheirTensor) {
  auto model = must(onnx_model::Model::load(model_));
  for (auto& node : *model.graph().mutable_node()) {
    if (node.output(0) == "s") node.clear_name();
    if (node.output(0) == "a" || node.output(0) == "i") node.set_name("twice");
  }
  const Path path = must(model.save(folder_.path(), "renamed")).model;
  const auto index = must(onnx_model::GraphIndex::build(model));
  for (size_t n = 0; n < audit_.nodes.size(); ++n) audit_.nodes[n].name = index.nodes()[n].name;
  const Json results = must(node_data(path, audit_))["results"];
  EXPECT_EQ(results["s"]["value"], "cpu fallback");
  EXPECT_TRUE(results.contains("a") && results.contains("i") && !results.contains("twice"));
}

TEST_F(Export, AnnotatedModelsAreCopiesWithMetadata) {
  const Path folder = folder_.path() / "annotated";
  ASSERT_TRUE(write_annotated(model_, audit_, folder, false).has_value());
  const auto copy = must(onnx_model::Model::load(folder / "model.onnx"));
  const auto* softmax = onnx_model::testing::maker_of(copy.graph(), "s");
  ASSERT_NE(softmax, nullptr);
  ASSERT_EQ(softmax->metadata_props_size(), 4);
  EXPECT_EQ(softmax->metadata_props(0).key(), "paritas.place");
  EXPECT_EQ(softmax->metadata_props(0).value(), "cpu fallback");
  EXPECT_EQ(softmax->metadata_props(3).value(), "session assignment");
  EXPECT_THAT(write_annotated(model_, audit_, folder, false).error().message(), HasSubstr("exist"));
  EXPECT_TRUE(write_annotated(model_, audit_, folder, true).has_value());
}

TEST_F(Export, AModelThatChangedIsRefused) {
  audit_.nodes.front().name = "other";
  EXPECT_THAT(node_data(model_, audit_).error().message(), HasSubstr("has changed since"));
  EXPECT_THAT(write_annotated(model_, audit_, folder_.path() / "a", false).error().message(),
              HasSubstr("has changed since"));
}

}  // namespace
}  // namespace paritas
