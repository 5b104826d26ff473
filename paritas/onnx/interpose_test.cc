#include <gmock/gmock.h>

#include "paritas/onnx/edit.h"
#include "paritas/onnx/element_types.h"
#include "paritas/onnx/testing.h"

namespace paritas::onnx_model {
namespace {

using namespace testing;
using ::testing::ElementsAre;

Interpose round_all() {
  Interpose what;
  what.op_type = "Round";
  what.domain = "paritas";
  what.graph_inputs = what.initializers = what.node_outputs = true;
  return what;
}

Model interposed(const GraphBuilder& builder, const Interpose& what = round_all()) {
  Model model = must(interpose(builder.model(), what));
  EXPECT_TRUE(GraphIndex::build(model));
  return model;
}

bool is_rounded(const Model& model, const std::string& tensor) {
  const auto* node = maker_of(model.graph(), tensor);
  return node != nullptr && node->domain() == "paritas";
}

TEST(Interpose, StandsBehindInputsInitialisersAndNodes) {
  GraphBuilder builder;
  builder.input("x").initializer("w", floats({2, 2}, {1, 2, 3, 4})).node("Add", {"x", "w"}, {"y"}).output("y");
  const Model model = interposed(builder);
  EXPECT_THAT(names_of(model.graph().initializer()), ElementsAre("w__paritas_raw"));
  EXPECT_THAT(names_of(model.graph().input()), ElementsAre("x"));
  EXPECT_THAT(names_of(model.graph().output()), ElementsAre("y"));
  EXPECT_TRUE(is_rounded(model, "w"));
  EXPECT_TRUE(is_rounded(model, "x__paritas_interposed"));
  EXPECT_TRUE(is_rounded(model, "y"));
  const auto* add = maker_of(model.graph(), "y__paritas_raw");
  ASSERT_NE(add, nullptr);
  EXPECT_THAT(inputs_of(*add), ElementsAre("x__paritas_interposed", "w"));
  EXPECT_EQ(model.proto().opset_import(1).domain(), "paritas");
}

TEST(Interpose, NodesStayInOrder) {
  GraphBuilder builder;
  builder.input("x").node("Exp", {"x"}, {"a"}).node("Neg", {"a"}, {"y"}).output("y");
  Interpose what = round_all();
  what.graph_inputs = false;
  EXPECT_THAT(node_names(interposed(builder, what)),
              ElementsAre("Exp:a", "a__paritas_Round", "Neg:y", "y__paritas_Round"));
}

TEST(Interpose, LeavesIntegersBooleansAndShapesAlone) {
  GraphBuilder builder;
  builder.input("x")
      .input("n", {1}, DType::kI64)
      .initializer("i", int64s({1}))
      .initializer("scales", floats({2}, {2, 2}));
  builder.constant("k", int64s({4})).node("Shape", {"x"}, {"s"}).node("Gather", {"s", "i"}, {"g"});
  builder.node("Greater", {"x", "x"}, {"more"}).node("TopK", {"x", "k"}, {"v", "indices"});
  builder.node("Cast", {"indices"}, {"f"}).attribute("to", 1).node("Cast", {"x"}, {"c"}).attribute("to", 7);
  builder.node("Resize", {"x", "", "scales"}, {"r"}).node("SequenceConstruct", {"x"}, {"seq"});
  builder.node("DequantizeLinear", {"n", "f"}, {"d"});
  for (const auto* name : {"g", "more", "v", "f", "c", "r", "seq", "d"}) builder.output(name);
  const Model model = interposed(builder);
  for (const auto* name : {"v", "f", "r", "d"}) EXPECT_TRUE(is_rounded(model, name)) << name;
  for (const auto* name : {"k", "s", "g", "more", "indices", "c", "seq", "scales", "i"})
    EXPECT_FALSE(is_rounded(model, name)) << name;
  EXPECT_EQ(maker_of(model.graph(), "n__paritas_interposed"), nullptr);
}

TEST(Interpose, WantedDecidesByName) {
  GraphBuilder body;
  body.node("Neg", {"a"}, {"t"}).output("t");
  GraphBuilder builder;
  builder.input("x").input("c", {}, DType::kBool).node("Exp", {"x"}, {"a"}).node("Exp", {"x"}, {"b"});
  builder.node("If", {"c"}, {"y"}).body("then_branch", body).body("else_branch", body).output("y").output("b");
  Interpose what = round_all();
  what.wanted = [](const std::string& tensor) { return tensor == "b"; };
  const Model model = interposed(builder, what);
  EXPECT_TRUE(is_rounded(model, "b"));
  EXPECT_FALSE(is_rounded(model, "a"));
  EXPECT_FALSE(is_rounded(model, "y"));
  EXPECT_EQ(maker_of(model.graph(), "y")->attribute(0).g().node_size(), 1);  // "" was refused
}

TEST(Interpose, EntersBodies) {
  GraphBuilder body;
  body.input("i", {}, DType::kI64).input("go", {}, DType::kBool).input("carried");
  body.initializer("w", floats({2, 2}, {1, 2, 3, 4})).node("Identity", {"go"}, {"on"});
  body.node("Mul", {"carried", "w"}, {"m"})
      .node("Add", {"m", "x"}, {"next"})
      .output("on")
      .output("next")
      .output("carried");
  GraphBuilder builder;
  builder.input("x").initializer("n", int64s({2})).node("Loop", {"n", "", "x"}, {"y", "seen"}).body("body", body);
  builder.output("y").output("seen");
  const Model model = interposed(builder);
  const auto& inner = maker_of(model.graph(), "y__paritas_raw")->attribute(0).g();
  EXPECT_THAT(names_of(inner.input()), ElementsAre("i", "go", "carried"));
  EXPECT_THAT(names_of(inner.output()), ElementsAre("on", "next", "carried__paritas_interposed"));
  EXPECT_EQ(maker_of(inner, "on")->op_type(), "Identity");
  EXPECT_EQ(maker_of(inner, "next")->domain(), "paritas");
  EXPECT_EQ(maker_of(inner, "w")->domain(), "paritas");
  EXPECT_THAT(inputs_of(*maker_of(inner, "m__paritas_raw")), ElementsAre("carried__paritas_interposed", "w"));
  EXPECT_THAT(inputs_of(*maker_of(inner, "next__paritas_raw")), ElementsAre("m", "x__paritas_interposed"));
}

TEST(Interpose, AnInputThatIsAlsoAnOutputStaysWhatWasFed) {
  GraphBuilder builder;
  builder.input("x").node("Neg", {"x"}, {"y"}).output("y").output("x");
  const Model model = interposed(builder);
  EXPECT_THAT(names_of(model.graph().output()), ElementsAre("y", "x"));
  EXPECT_EQ(maker_of(model.graph(), "x"), nullptr);
}

TEST(Interpose, InitialisersListedAsInputsBecomePlainOnes) {
  GraphBuilder builder;
  builder.input("x")
      .input("w")
      .initializer("w", floats({2, 2}, {1, 2, 3, 4}))
      .node("Add", {"x", "w"}, {"y"})
      .output("y");
  const Model model = must(interpose(builder.model(3), round_all()));
  EXPECT_THAT(names_of(model.graph().input()), ElementsAre("x"));
  EXPECT_EQ(model.proto().ir_version(), 4);
}

TEST(Interpose, TwiceGivesNewNames) {
  GraphBuilder builder;
  builder.input("x").node("Neg", {"x"}, {"y"}).output("y");
  const Model once = interposed(builder);
  const Model twice = must(interpose(once, round_all()));
  EXPECT_TRUE(GraphIndex::build(twice));
  EXPECT_GT(twice.graph().node_size(), once.graph().node_size());
}

TEST(ElementTypes, FollowOperatorsAndBodies) {
  GraphBuilder body;
  body.node("Shape", {"x"}, {"t"}).output("t");
  GraphBuilder builder;
  builder.input("x")
      .input("c", {}, DType::kBool)
      .node("If", {"c"}, {"s"})
      .body("then_branch", body)
      .body("else_branch", body);
  builder.node("Mystery", {"x"}, {"m"}).output("s").output("m");
  builder.last().set_domain("own");
  const ElementTypes types(builder.graph());
  EXPECT_EQ(types.of("s"), ::onnx::TensorProto::INT64);
  EXPECT_EQ(types.of("m"), ElementTypes::kUnknown);
  EXPECT_TRUE(types.may_be_float("m"));
  EXPECT_FALSE(types.may_be_float("s"));
}

}  // namespace
}  // namespace paritas::onnx_model
