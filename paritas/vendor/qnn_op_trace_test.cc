#include "paritas/vendor/qnn_op_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paritas/base/test_files.h"

namespace paritas {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kTrace = R"({
  "schema_version": 2, "backend_type": "htp", "model_name": "m",
  "subgraph_traces": [
    {"op_mappings": [
      {"dst_name": "/act/Erf", "dst_qnn_op_type": "Gelu", "node_group_type": "GeluFusion",
       "sources": [{"name": "/act/Div", "type": "OP"}, {"name": "/act/Erf", "type": "OP"},
                   {"name": "/act/Erf_output_0", "type": "TENSOR"}]},
      {"dst_name": "/mm", "dst_qnn_op_type": "MatMul", "sources": []}]},
    {"op_mappings": [
      {"dst_name": "/add", "dst_qnn_op_type": "ElementWiseAdd", "node_group_type": "OrtNodeUnit",
       "sources": [{"name": "/add", "type": "OP"}]}]}]})";

std::string refusal(const std::string& text) {
  const auto trace = parse_qnn_op_trace(text, "trace.json");
  return trace ? "accepted" : trace.error().message();
}

// The trace with one part of its text replaced.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = kTrace;
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return refusal(text.replace(at, from.size(), to));
}

TEST(QnnOpTrace, CollectsOperationsOfAllSubgraphs) {
  const OpTrace trace = parse_qnn_op_trace(kTrace, "trace.json").value();
  EXPECT_EQ(trace.backend, "htp");
  EXPECT_EQ(trace.model_name, "m");
  ASSERT_EQ(trace.ops.size(), 3u);
  EXPECT_EQ(trace.ops[0].name, "/act/Erf");
  EXPECT_EQ(trace.ops[0].op, "Gelu");
  EXPECT_EQ(trace.ops[0].group, "GeluFusion");
  EXPECT_THAT(trace.ops[0].sources, ElementsAre("/act/Div", "/act/Erf"));  // tensors are no sources
  EXPECT_EQ(trace.ops[1].group, "");
  EXPECT_THAT(trace.ops[1].sources, IsEmpty());
  EXPECT_EQ(trace.ops[2].name, "/add");
}

TEST(QnnOpTrace, MalformedTracesAreRefusedWithTheCause) {
  EXPECT_THAT(refusal(""), AllOf(HasSubstr("trace.json"), HasSubstr("not valid JSON")));
  EXPECT_THAT(refusal(std::string(kTrace).substr(0, 200)), HasSubstr("not valid JSON"));
  EXPECT_THAT(refusal("[]"), HasSubstr("expected an object"));
  EXPECT_THAT(refusal("{}"), HasSubstr("\"schema_version\" is missing"));
  EXPECT_THAT(changed("\"schema_version\": 2", "\"schema_version\": 3"), HasSubstr("version 3 is not known"));
  EXPECT_THAT(changed("\"schema_version\": 2", "\"schema_version\": \"2\""), HasSubstr("not a whole number"));
  EXPECT_THAT(changed("\"backend_type\": \"htp\"", "\"backend_type\": 1"),
              HasSubstr("\"backend_type\" is not a string"));
  EXPECT_THAT(changed("\"subgraph_traces\": [", "\"subgraph_traces\": [7, "), HasSubstr("expected an object"));
  EXPECT_THAT(changed("\"dst_name\": \"/mm\", ", ""), HasSubstr("\"dst_name\" is missing"));
  EXPECT_THAT(changed("\"sources\": []", "\"sources\": {}"), HasSubstr("\"sources\" is not an array"));
  EXPECT_THAT(changed("\"sources\": []", "\"sources\": [{\"type\": \"OP\"}]"), HasSubstr("\"name\" is missing"));
  EXPECT_THAT(changed("\"sources\": []", "\"sources\": [null]"), HasSubstr("expected an object"));
}

TEST(QnnOpTrace, PartitionsAndNodesLeftToOthers) {
  const OpTrace trace =
      read_qnn_op_trace(Path(PARITAS_SOURCE_DIR) / "tests/cases/data/placement/qnn_op_trace.json").value();
  ASSERT_EQ(trace.graphs.size(), 2u);
  EXPECT_THAT(trace.graphs[0], HasSubstr("QNNExecutionProvider_"));
  EXPECT_EQ(trace.ops.front().graph, 0u);
  EXPECT_EQ(trace.ops.back().graph, 1u);
  ASSERT_EQ(trace.left.size(), 1u);
  EXPECT_EQ(trace.left[0].name, "/attn/Softmax");
  EXPECT_EQ(trace.left[0].op, "Softmax");
  EXPECT_THAT(trace.left[0].reason, HasSubstr("op_affinity"));
  EXPECT_EQ(trace.taken_nodes, 6u);
  // Files of older providers tell neither.
  EXPECT_FALSE(parse_qnn_op_trace(kTrace, "trace.json")->taken_nodes.has_value());
  EXPECT_THAT(refusal(R"({"schema_version": 2, "backend_type": "htp", "model_name": "m", "subgraph_traces": [],
                          "unsupported_nodes": [{"op_type": "Erf"}]})"),
              HasSubstr("\"node_name\" is missing"));
}

TEST(QnnOpTrace, ReadsFiles) {
  const TestFolder folder;
  EXPECT_EQ(read_qnn_op_trace(folder.write("t.json", kTrace))->ops.size(), 3u);
  EXPECT_THAT(read_qnn_op_trace(folder.path() / "none.json").error().message(), HasSubstr("no such file"));
}

}  // namespace
}  // namespace paritas
