#include "paritas/onnx/edit.h"

#include <gmock/gmock.h>

#include "paritas/onnx/testing.h"

namespace paritas::onnx_model {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

const TensorType kSquare{DType::kF32, {2, 2}};

template <class T>
std::string failure(const Result<T>& result) {
  return result ? "succeeded" : result.error().message();
}

// x, w -> Add:a -> Exp:b -> Neg:c -> y(Mul b c); b has two consumers.
GraphBuilder diamond() {
  GraphBuilder builder;
  builder.input("x").initializer("w", floats({2, 2}, {1, 2, 3, 4}));
  builder.node("Add", {"x", "w"}, {"a"}).node("Exp", {"a"}, {"b"}).node("Neg", {"b"}, {"c"});
  builder.node("Mul", {"b", "c"}, {"y"}).output("y");
  return builder;
}

void expect_valid(const Model& model) {
  const auto index = GraphIndex::build(model);
  EXPECT_TRUE(index) << failure(index);
}

TEST(Describe, InputsAndOutputs) {
  GraphBuilder builder;
  builder.input("x", {-1, 3})
      .input("w", {2})
      .initializer("w", floats({2}, {1, 2}))
      .node("Neg", {"x"}, {"y"})
      .output("y");
  builder.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim();
  const Model model = builder.model(3);
  const auto inputs = describe_inputs(model);
  ASSERT_EQ(inputs.size(), 1u);
  EXPECT_EQ(inputs[0].name, "x");
  EXPECT_EQ(inputs[0].dtype, DType::kF32);
  EXPECT_THAT(inputs[0].dims, ElementsAre("n", "3", "?"));
  EXPECT_FALSE(describe_outputs(model)[0].has_shape);
}

TEST(PinShapes, WritesAndReportsFreeDimensions) {
  GraphBuilder builder;
  builder.input("x", {-1, 3}).input("z", {-1}).node("Neg", {"x"}, {"y"}).output("y");
  builder.graph()
      .mutable_input(1)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->clear_value();
  auto* stale = builder.graph().add_value_info();
  *stale = builder.graph().input(0);
  stale->set_name("y");
  *builder.graph().mutable_output(0) = *stale;
  std::vector<std::string> pinned;
  const Model model = must(pin_shapes(builder.model(), {{"x", {4, 3}}, {"z", {7}}}, &pinned));
  EXPECT_THAT(pinned, ElementsAre("n=4", "z[0]=7"));
  EXPECT_THAT(describe_inputs(model)[0].dims, ElementsAre("4", "3"));
  EXPECT_THAT(describe_inputs(model)[1].dims, ElementsAre("7"));
  EXPECT_EQ(model.graph().value_info_size(), 0);
  EXPECT_FALSE(describe_outputs(model)[0].has_shape);
}

TEST(PinShapes, MismatchesNameTheInput) {
  const Model model = diamond().model();
  EXPECT_THAT(failure(pin_shapes(model, {{"x", {2, 3}}}, nullptr)),
              HasSubstr("\"x\" has the shape [2,2], [2,3] was given"));
  EXPECT_THAT(failure(pin_shapes(model, {{"x", {2}}}, nullptr)), HasSubstr("[2] was given"));
  EXPECT_THAT(failure(pin_shapes(model, {}, nullptr)), HasSubstr("no shape is given for input \"x\""));
}

TEST(MarkOutputs, AppendsInOrderAndOnce) {
  const Model model = must(mark_outputs(diamond().model(), {"c", "y", "a", "c"}));
  EXPECT_THAT(names_of(model.graph().output()), ElementsAre("y", "c", "a"));
  EXPECT_FALSE(model.graph().output(1).has_type());
  EXPECT_THAT(failure(mark_outputs(model, {"ghost"})), HasSubstr("has no tensor \"ghost\""));
}

TEST(MarkOutputs, TakesDeclaredTypes) {
  GraphBuilder builder = diamond();
  *builder.graph().add_value_info() = builder.graph().input(0);
  builder.graph().mutable_value_info(0)->set_name("a");
  const Model model = must(mark_outputs(builder.model(), {"a"}));
  EXPECT_EQ(model.graph().output(1).type().tensor_type().shape().dim_size(), 2);
  EXPECT_EQ(model.graph().value_info_size(), 0);
}

TEST(Extract, TakesThePartWithItsConstants) {
  const Model front = must(extract(diamond().model(), {"x"}, {"b"}, {}));
  EXPECT_THAT(node_names(front), ElementsAre("Add:a", "Exp:b"));
  EXPECT_THAT(names_of(front.graph().initializer()), ElementsAre("w"));
  const Model back = must(extract(diamond().model(), {"b", "x"}, {"y"}, {{"b", kSquare}}));
  EXPECT_THAT(node_names(back), ElementsAre("Neg:c", "Mul:y"));
  EXPECT_EQ(back.graph().initializer_size(), 0);
  EXPECT_THAT(names_of(back.graph().input()), ElementsAre("b"));  // x is not read
  expect_valid(back);
}

TEST(Extract, ALeakIsNamed) {
  EXPECT_THAT(failure(extract(diamond().model(), {"c"}, {"y"}, {{"c", kSquare}})),
              HasSubstr("\"y\" also depends on the graph input \"x\" through \"a\""));
  EXPECT_THAT(failure(extract(diamond().model(), {"b"}, {"y"}, {})),
              HasSubstr("the type of tensor \"b\" is not declared"));
  EXPECT_THAT(failure(extract(diamond().model(), {"b"}, {"ghost"}, {})), HasSubstr("has no tensor \"ghost\""));
}

TEST(Extract, KeepsWhatBodiesCapture) {
  GraphBuilder body;
  body.node("Mul", {"b", "w"}, {"t"}).output("t");
  GraphBuilder builder = diamond();
  builder.input("c0", {}, DType::kBool)
      .node("If", {"c0"}, {"z"})
      .body("then_branch", body)
      .body("else_branch", body)
      .output("z");
  const Model model = must(extract(builder.model(), {"b", "c0"}, {"z"}, {{"b", kSquare}}));
  EXPECT_THAT(node_names(model), ElementsAre("If:z"));
  EXPECT_THAT(names_of(model.graph().initializer()), ElementsAre("w"));
  expect_valid(model);
}

TEST(Extract, AnInputMadeBesideAnotherOutputIsRenamed) {
  GraphBuilder builder;
  builder.input("x").initializer("k", int64s({1})).node("TopK", {"x", "k"}, {"values", "indices"});
  builder.node("Gather", {"values", "indices"}, {"y"}).output("y");
  const Model model = must(extract(builder.model(), {"x", "indices"}, {"y"}, {{"indices", {DType::kI64, {2, 1}}}}));
  EXPECT_THAT(names_of(model.graph().input()), ElementsAre("x", "indices"));
  EXPECT_EQ(model.graph().node(0).output(1), "indices__paritas_computed");
  expect_valid(model);
}

TEST(ReplaceByConstants, PrunesWhatNothingNeeds) {
  const Model model = must(replace_by_constants(diamond().model(), {{"b", floats({2, 2}, {1, 1, 1, 1})}}));
  EXPECT_THAT(node_names(model), ElementsAre("Neg:c", "Mul:y"));
  EXPECT_THAT(names_of(model.graph().initializer()), ElementsAre("b"));
  EXPECT_THAT(names_of(model.graph().input()), ElementsAre("x"));  // callers go on feeding it
  expect_valid(model);
}

TEST(ReplaceByConstants, AGraphOutputKeepsItsName) {
  GraphBuilder builder = diamond();
  builder.output("b");
  const Model model = must(replace_by_constants(builder.model(), {{"b", floats({2, 2}, {1, 1, 1, 1})}}));
  ASSERT_NE(maker_of(model.graph(), "b"), nullptr);
  EXPECT_EQ(maker_of(model.graph(), "b")->op_type(), "Identity");
  EXPECT_THAT(inputs_of(*maker_of(model.graph(), "c")), ElementsAre("b__paritas_constant"));
  expect_valid(model);
}

TEST(ReplaceByConstants, InitialisersAndInputsToo) {
  const auto ones = floats({2, 2}, {1, 1, 1, 1});
  const Model model = must(replace_by_constants(diamond().model(3), {{"w", ones}, {"x", ones}}));
  EXPECT_EQ(model.graph().input_size(), 0);
  EXPECT_THAT(names_of(model.graph().initializer()), UnorderedElementsAre("w", "x"));
  EXPECT_EQ(model.proto().ir_version(), 4);
  expect_valid(model);
}

TEST(FeedTensors, ConsumersReadTheFedValue) {
  const Fed fed = must(feed_tensors(diamond().model(), {{"b", kSquare}}));
  EXPECT_THAT(fed.feed_names, ElementsAre(Pair("b", "b")));
  EXPECT_THAT(names_of(fed.model.graph().input()), ElementsAre("x", "b"));
  EXPECT_THAT(node_names(fed.model), ElementsAre("Neg:c", "Mul:y"));
  expect_valid(fed.model);
}

TEST(FeedTensors, AGraphOutputStaysComputed) {
  GraphBuilder body;
  body.node("Neg", {"b"}, {"t"}).output("t");
  GraphBuilder builder = diamond();
  builder.output("b").input("c0", {}, DType::kBool).node("If", {"c0"}, {"z"});
  builder.body("then_branch", body).body("else_branch", body).output("z");
  const Fed fed = must(feed_tensors(builder.model(), {{"b", kSquare}}));
  EXPECT_EQ(fed.feed_names.at("b"), "b__fed");
  EXPECT_EQ(maker_of(fed.model.graph(), "b")->op_type(), "Exp");
  EXPECT_THAT(inputs_of(*maker_of(fed.model.graph(), "c")), ElementsAre("b__fed"));
  EXPECT_EQ(maker_of(fed.model.graph(), "z")->attribute(0).g().node(0).input(0), "b__fed");
  expect_valid(fed.model);
}

TEST(FeedTensors, ANodeStaysForItsOtherOutputs) {
  GraphBuilder builder;
  builder.input("x").initializer("k", int64s({1})).node("TopK", {"x", "k"}, {"values", "indices"});
  builder.node("Gather", {"x", "indices"}, {"g"}).node("Mul", {"g", "values"}, {"y"}).output("y");
  const Fed fed = must(feed_tensors(builder.model(), {{"indices", {DType::kI64, {2, 1}}}}));
  EXPECT_THAT(node_names(fed.model), ElementsAre("TopK:values", "Gather:g", "Mul:y"));
  EXPECT_EQ(fed.model.graph().node(0).output(1), "indices__paritas_computed");
  expect_valid(fed.model);
}

struct Indexed {
  explicit Indexed(const GraphBuilder& builder) : model(builder.model()), index(must(GraphIndex::build(model))) {
    dependence = value_dependence(model, index);
  }
  Result<AllLocal> local(const std::vector<Island>& islands, const std::map<std::string, TensorType>& types) const {
    return all_local(model, index, dependence, islands, types);
  }
  Island single(int node) const { return single_node_island(model, index, dependence, node); }
  Model model;
  GraphIndex index;
  ValueDependence dependence;
};

TEST(Islands, SingleAndGroup) {
  const Indexed graph(diamond());
  const Island add = graph.single(0);
  EXPECT_THAT(add.inputs, ElementsAre("x"));  // w is a constant
  EXPECT_THAT(add.outputs, ElementsAre("a"));
  const Island group = must(group_island(graph.model, graph.index, graph.dependence, "g", {2, 1}));
  EXPECT_THAT(group.nodes, ElementsAre(1, 2));
  EXPECT_THAT(group.inputs, ElementsAre("a"));
  EXPECT_THAT(group.outputs, ElementsAre("b", "c"));
  EXPECT_THAT(failure(group_island(graph.model, graph.index, graph.dependence, "g", {1, 3})),
              HasSubstr("node \"Neg:c\" lies between"));
}

TEST(AllLocal, EveryIslandReadsFedTensors) {
  const Indexed graph(diamond());
  const auto local = must(graph.local({graph.single(0), graph.single(1), graph.single(2), graph.single(3)},
                                      {{"a", kSquare}, {"b", kSquare}, {"c", kSquare}}));
  EXPECT_THAT(names_of(local.model.graph().input()), UnorderedElementsAre("x", "a", "b", "c"));
  EXPECT_THAT(local.outputs, UnorderedElementsAre(Pair("a", "a__local"), Pair("b", "b__local"), Pair("c", "c__local"),
                                                  Pair("y", "y")));
  EXPECT_THAT(inputs_of(*maker_of(local.model.graph(), "y")), ElementsAre("b", "c"));
  EXPECT_THAT(node_names(local.model), ElementsAre("Add:a", "Exp:b", "Neg:c", "Mul:y"));
  expect_valid(local.model);
}

TEST(AllLocal, AGroupReadsItsOwnTensors) {
  const Indexed graph(diamond());
  const Island group = must(group_island(graph.model, graph.index, graph.dependence, "g", {1, 2}));
  const auto local = must(graph.local({group, graph.single(3)}, {{"a", kSquare}, {"b", kSquare}, {"c", kSquare}}));
  EXPECT_THAT(inputs_of(*maker_of(local.model.graph(), "c__local")), ElementsAre("b__local"));
  EXPECT_THAT(inputs_of(*maker_of(local.model.graph(), "y")), ElementsAre("b", "c"));
  EXPECT_EQ(local.feeds.count("x"), 0u);
  expect_valid(local.model);
}

TEST(AllLocal, UnfoldedConstantsAreCopied) {
  GraphBuilder builder;
  builder.input("x").constant("k", floats({2, 2}, {1, 2, 3, 4})).node("Neg", {"k"}, {"nk"});
  builder.node("Shape", {"x"}, {"s"}).node("Exp", {"x"}, {"e"}, false).node("Add", {"e", "nk"}, {"f"});
  builder.node("Reshape", {"f", "s"}, {"y"}).output("y");
  const Indexed graph(builder);
  const auto local =
      must(graph.local({graph.single(graph.index.producer("f")), graph.single(graph.index.producer("y"))},
                       {{"e", kSquare}, {"f", kSquare}}));
  EXPECT_THAT(node_names(local.model), ElementsAre("Constant:k", "Neg:nk", "Shape:s", "Add:f", "Reshape:y"));
  EXPECT_THAT(names_of(local.model.graph().input()), ElementsAre("e", "f", "x"));  // x: its shape is asked for
  expect_valid(local.model);
}

TEST(AllLocal, NamelessNodesGetNames) {
  GraphBuilder builder;
  builder.input("x").node("Exp", {"x"}, {"e"}, false).output("e");
  const Indexed graph(builder);
  EXPECT_THAT(node_names(must(graph.local({graph.single(0)}, {})).model), ElementsAre("e"));
}

TEST(AllLocal, BodiesReadFedCaptures) {
  GraphBuilder body;
  body.node("Add", {"a", "x"}, {"t"}).output("t");
  GraphBuilder builder;
  builder.input("x").input("c", {}, DType::kBool).node("Neg", {"x"}, {"a"});
  builder.node("If", {"c"}, {"y"}).body("then_branch", body).body("else_branch", body).output("y");
  const Indexed graph(builder);
  const auto local = must(graph.local({graph.single(0), graph.single(1)}, {{"a", kSquare}}));
  EXPECT_THAT(names_of(local.model.graph().input()), UnorderedElementsAre("x", "c", "a"));
  EXPECT_EQ(maker_of(local.model.graph(), "y")->attribute(0).g().node(0).input(0), "a");
  EXPECT_EQ(local.outputs.at("a"), "a__local");
  expect_valid(local.model);
}

TEST(AllLocal, MisuseIsNamed) {
  const Indexed graph(diamond());
  EXPECT_THAT(failure(graph.local({graph.single(1), graph.single(1)}, {{"a", kSquare}})),
              HasSubstr("\"Exp:b\" is part of"));
  EXPECT_THAT(failure(graph.local({graph.single(1)}, {})), HasSubstr("the type of tensor \"a\" is not declared"));
  Island blind = graph.single(1);
  blind.inputs.clear();
  EXPECT_THAT(failure(graph.local({blind}, {})), HasSubstr("does not list as an input"));
}

}  // namespace
}  // namespace paritas::onnx_model
