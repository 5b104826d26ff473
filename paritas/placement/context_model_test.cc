#include "paritas/placement/context_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paritas/placement/testing.h"

namespace paritas {
namespace {

using namespace paritas::testing;
using onnx_model::testing::GraphBuilder;
using onnx_model::testing::must;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// small_graph() compiled with its Softmax left out.
onnx_model::Model compiled() {
  GraphBuilder builder;
  auto context = [&](const char* name, const GraphBuilder::Names& in, const GraphBuilder::Names& out) {
    builder.node("EPContext", in, out);
    builder.last().set_domain("com.microsoft");
    builder.last().set_name(name);
    builder.attribute("embed_mode", 0);
    auto* source = builder.last().add_attribute();
    source->set_name("source");
    source->set_type(::onnx::AttributeProto::STRING);
    source->set_s(kDevice);
  };
  builder.input("x", {1, 4});
  context("part_0", {"x"}, {"a", "c"});
  builder.node("Softmax", {"a"}, {"s"});
  context("part_1", {"s", "a"}, {"y"});
  builder.output("y").output("c");
  return builder.model();
}

TEST(ContextModel, FindsPartitionsAndWhatStayedOutside) {
  const auto model = compiled();
  const ContextModel found = context_model(model, must(onnx_model::GraphIndex::build(model)));
  ASSERT_EQ(found.contexts.size(), 2u);
  EXPECT_EQ(found.contexts[0].name, "part_0");
  EXPECT_EQ(found.contexts[0].provider, kDevice);
  EXPECT_FALSE(found.contexts[0].embedded);
  EXPECT_THAT(found.ordinary, ElementsAre("Softmax:s"));
}

TEST(ContextModel, WhatLiesBetweenItsEdgesIsInside) {
  const SmallGraph graph = small_graph();
  const NameMap names(graph.index);
  const auto dependence = onnx_model::value_dependence(graph.model, graph.index);
  auto inside = [&](const ContextNode& context, std::vector<std::string>* unknown = nullptr,
                    const std::set<int>& taken = {}) {
    std::vector<std::string> found;
    for (int node : nodes_inside(context, graph.index, dependence, names, taken, unknown))
      found.push_back(graph.index.nodes()[static_cast<size_t>(node)].name);
    return found;
  };
  EXPECT_THAT(inside({"p", kDevice, false, "", {"x"}, {"a"}}), ElementsAre("MatMul:m", "Add:a"));
  EXPECT_THAT(inside({"p", kDevice, false, "", {"s", "a"}, {"y"}}), ElementsAre("Identity:i", "Mul:y"));
  // A copy that the optimiser named after its node.
  EXPECT_THAT(inside({"p", kDevice, false, "", {"x"}, {"Add:a_token_5"}}), ElementsAre("MatMul:m", "Add:a"));
  // An input under a name that the runtime made up: what others have ends the walk.
  EXPECT_THAT(inside({"p", kDevice, false, "", {"Transpose_token_4"}, {"y"}}, nullptr,
                     {names.exact("Softmax:s"), names.exact("Add:a")}),
              ElementsAre("Identity:i", "Mul:y"));
  std::vector<std::string> unknown;
  EXPECT_THAT(inside({"p", kDevice, false, "", {"x"}, {"elsewhere"}}, &unknown), IsEmpty());
  EXPECT_THAT(unknown, ElementsAre("elsewhere"));
  unknown.clear();
  EXPECT_THAT(inside({"p", kDevice, false, "", {"Transpose_token_4_out0"}, {}}, &unknown), IsEmpty());
  EXPECT_THAT(unknown, IsEmpty());  // the runtime's own
}

TEST(ContextModel, IsEvidenceAboutTheSourceModel) {
  const SmallGraph graph = small_graph();
  const auto model = compiled();
  AuditRequest request;
  request.model = &graph.model;
  request.index = &graph.index;
  PlacementEvidence evidence;
  evidence.context =
      FromFile<ContextModel>{"ctx.onnx", context_model(model, must(onnx_model::GraphIndex::build(model)))};
  const PlacementAudit audit = audit_placement(request, evidence).value();
  EXPECT_EQ(audit.requested, kDevice);
  EXPECT_EQ(audit.totals.device_partitions, 2u);
  EXPECT_EQ(audit.totals.of(Place::kDevice), 4u);
  EXPECT_EQ(audit.totals.of(Place::kConstant), 1u);
  EXPECT_EQ(audit.totals.of(Place::kElsewhere), 1u);  // Softmax: not compiled; who runs it is not told
  EXPECT_EQ(audit.partitions[0].compiled_as, "part_0");
}

TEST(ContextModel, OfTheModelItselfIsOpaque) {
  const auto model = compiled();
  const auto index = must(onnx_model::GraphIndex::build(model));
  AuditRequest request;
  request.model = &model;
  request.index = &index;
  OpTrace trace = split_trace();
  trace.graphs = {"part_0", "part_1"};
  PlacementEvidence evidence;
  evidence.op_trace = FromFile<OpTrace>{"trace.json", trace};
  const PlacementAudit audit = audit_placement(request, evidence).value();
  EXPECT_EQ(audit.totals.of(Place::kDevice), 2u);
  EXPECT_THAT(audit.nodes[0].device_ops, ElementsAre("FullyConnected"));
  // A trace of another compilation is of another model.
  evidence.op_trace->content.graphs = {"part_7", "part_8"};
  evidence.op_trace->content.left.clear();
  EXPECT_THAT(audit_placement(request, evidence).error().message(), HasSubstr("is of another model: 0 of its 2"));
}

TEST(ContextModel, TheFixtureIsWhatTheRuntimeWrote) {
  const auto found = read_context_model(Path(PARITAS_SOURCE_DIR) / "tests/cases/data/placement/context.onnx").value();
  ASSERT_EQ(found.contexts.size(), 2u);
  EXPECT_EQ(found.contexts[0].provider, "QNNExecutionProvider");
  EXPECT_THAT(found.contexts[0].outputs, ElementsAre("r1"));
  EXPECT_THAT(found.ordinary, ElementsAre("/attn/Softmax"));
  EXPECT_THAT(read_context_model(Path(PARITAS_SOURCE_DIR) / "examples/detr-mini/detr_mini.onnx").error().message(),
              HasSubstr("holds no EPContext node"));
}

}  // namespace
}  // namespace paritas
