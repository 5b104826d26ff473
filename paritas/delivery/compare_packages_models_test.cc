// Constants and graphs of ONNX parts: what counts as a change, and what does not.
#include <cmath>
#include <functional>

#include <gmock/gmock.h>

#include "paritas/base/test_files.h"
#include "paritas/delivery/compare_packages_steps.h"
#include "paritas/onnx/testing.h"

namespace paritas::package_diff {
namespace {

using onnx_model::testing::floats;
using onnx_model::testing::GraphBuilder;
using onnx_model::testing::int64s;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class CompareModels : public ::testing::Test {
 protected:
  Path save(const std::string& name, const ::onnx::ModelProto& proto) const {
    return folder_.write(name, proto.SerializeAsString());
  }
  ComparedPart compare(const GraphBuilder& before, const GraphBuilder& after) {
    return compare(before.proto(), after.proto());
  }
  ComparedPart compare(const ::onnx::ModelProto& before, const ::onnx::ModelProto& after) {
    auto part = compare_models(save("before.onnx", before), save("after.onnx", after), "decoder", 1, facts_);
    EXPECT_TRUE(part.has_value()) << part.error().message();
    return part.value_or(ComparedPart{});
  }
  TestFolder folder_;
  std::vector<PackageFact> facts_;
};

// y = Relu(x * w) + b
GraphBuilder network(const std::vector<float>& w = {1, 2, 3, 4}, const std::vector<float>& b = {5, 6}) {
  GraphBuilder graph;
  graph.input("x").output("y");
  graph.initializer("w", floats({2, 2}, w)).initializer("b", floats({2}, b));
  graph.node("MatMul", {"x", "w"}, {"m"}).node("Relu", {"m"}, {"r"}).node("Add", {"r", "b"}, {"y"});
  return graph;
}

TEST_F(CompareModels, TheSameModelIsTheSame) {
  const ComparedPart part = compare(network(), network());
  EXPECT_EQ(part.difference, Difference::kSame);
  EXPECT_EQ(part.same, 2);
  EXPECT_THAT(part.constants, IsEmpty());
  EXPECT_TRUE(part.graph->same);
  EXPECT_THAT(facts_, IsEmpty());
}

// NMSE = sum d^2 / sum x^2, from the definition.
TEST_F(CompareModels, ChangedConstantsHaveTheirFiguresAndTheMostChangedIsFirst) {
  const ComparedPart part = compare(network(), network({1, 2, 3, 6}, {5, 6.5}));
  EXPECT_EQ(part.difference, Difference::kChanged);
  EXPECT_TRUE(part.graph->same);
  EXPECT_EQ(part.changed, 2);
  ASSERT_EQ(part.constants.size(), 2);
  EXPECT_EQ(part.constants[0].name, "w");
  EXPECT_DOUBLE_EQ(part.constants[0].metrics->nmse, 4.0 / 30);
  EXPECT_DOUBLE_EQ(part.constants[0].metrics->max_abs, 2);
  EXPECT_EQ(part.constants[0].metrics->differing, 1);
  EXPECT_EQ(part.constants[1].name, "b");
  EXPECT_DOUBLE_EQ(part.constants[1].metrics->nmse, 0.25 / 61);
}

TEST_F(CompareModels, ASignOfZeroIsAChangeOfBits) {
  const ComparedPart part = compare(network({0, 2, 3, 4}), network({-0.0F, 2, 3, 4}));
  EXPECT_EQ(part.changed, 1);
  EXPECT_EQ(part.constants[0].metrics->differing, 0);
}

TEST_F(CompareModels, AConstantOfAnotherShapeHasNoFiguresAndStandsFirst) {
  GraphBuilder after = network({1, 2, 3, 6});
  after.graph().mutable_initializer(1)->clear_dims();
  after.graph().mutable_initializer(1)->add_dims(1);
  after.graph().mutable_initializer(1)->add_dims(2);
  const ComparedPart part = compare(network(), after);
  ASSERT_EQ(part.constants.size(), 2);
  EXPECT_EQ(part.constants[0].name, "b");
  EXPECT_FALSE(part.constants[0].metrics.has_value());
  EXPECT_EQ(part.constants[0].after->shape, (Shape{1, 2}));
}

TEST_F(CompareModels, AnotherTypeIsAChangeWithFigures) {
  GraphBuilder after = network();
  *after.graph().mutable_initializer(1) =
      onnx_model::proto_from_tensor("b", tensor_from_values<double>(DType::kF64, {2}, {5, 6})).value();
  const ComparedPart part = compare(network(), after);
  EXPECT_EQ(part.changed, 1);
  EXPECT_EQ(part.constants[0].after->dtype, DType::kF64);
  EXPECT_EQ(part.constants[0].metrics->nmse, 0);
}

// Exporters number constants: another name is no other value.
TEST_F(CompareModels, OtherNamesAreNoChange) {
  GraphBuilder after;
  after.input("x").output("y");
  after.initializer("b_7", floats({2}, {5, 6})).initializer("w_8", floats({2, 2}, {1, 2, 3, 4}));
  after.node("MatMul", {"x", "w_8"}, {"m9"}).node("Relu", {"m9"}, {"r10"}).node("Add", {"r10", "b_7"}, {"y"}, false);
  const ComparedPart part = compare(network(), after);
  EXPECT_EQ(part.difference, Difference::kSame);
  EXPECT_EQ(part.renamed, 2);
  EXPECT_TRUE(part.graph->same);
}

// c1, c2, c3 hold what c0, c1, c2 held: by name alone all would have changed.
TEST_F(CompareModels, NumbersThatShiftAreNoChange) {
  auto chain = [](int first) {
    GraphBuilder graph;
    graph.input("x").output("y");
    auto name = [&](int i) { return "c" + std::to_string(first + i); };
    for (int i = 0; i < 3; ++i)
      graph.initializer(name(i), floats({2, 2}, std::vector<float>(4, static_cast<float>(i + 1))));
    graph.node("Mul", {"x", name(0)}, {"p"}).node("Add", {"p", name(1)}, {"q"}).node("Sub", {"q", name(2)}, {"y"});
    return graph;
  };
  const ComparedPart part = compare(chain(0), chain(1));
  EXPECT_EQ(part.difference, Difference::kSame);
  EXPECT_EQ(part.renamed, 3);
  EXPECT_EQ(part.changed, 0);
}

// The values are all there, but each is read elsewhere.
TEST_F(CompareModels, SwappedWeightsAreAChange) {
  auto chain = [](float a, float b) {
    GraphBuilder graph;
    graph.input("x").output("y");
    graph.initializer("a", floats({1}, {a})).initializer("b", floats({1}, {b}));
    graph.node("Mul", {"x", "a"}, {"p"}).node("Add", {"p", "b"}, {"y"});
    return graph;
  };
  const ComparedPart part = compare(chain(2, 3), chain(3, 2));
  EXPECT_EQ(part.difference, Difference::kChanged);
  EXPECT_EQ(part.changed, 2);
  EXPECT_TRUE(part.graph->same);
}

// What a node reads is what counts: the names went the other way.
TEST_F(CompareModels, WeightsThatChangePlacesAreAChange) {
  auto chain = [](const std::string& first, const std::string& second) {
    GraphBuilder graph;
    graph.input("x").output("y");
    graph.initializer("a", floats({1}, {2})).initializer("b", floats({1}, {3}));
    graph.node("Mul", {"x", first}, {"p"}).node("Add", {"p", second}, {"y"});
    return graph;
  };
  const ComparedPart part = compare(chain("a", "b"), chain("b", "a"));
  EXPECT_EQ(part.difference, Difference::kChanged);
  ASSERT_EQ(part.changed, 2);
  EXPECT_EQ(part.constants[0].name, "a");
  EXPECT_EQ(part.constants[0].after_name, "b");
  EXPECT_DOUBLE_EQ(part.constants[0].metrics->nmse, 0.25);  // 2, then 3
}

// A release that was trained on and exported anew.
TEST_F(CompareModels, OtherNamesAndOtherValuesAreToldByTheirPlace) {
  GraphBuilder after;
  after.input("x").output("y");
  after.initializer("b_7", floats({2}, {5, 6})).initializer("w_8", floats({2, 2}, {1, 2, 3, 6}));
  after.node("MatMul", {"x", "w_8"}, {"m9"}).node("Relu", {"m9"}, {"r10"}).node("Add", {"r10", "b_7"}, {"y"}, false);
  const ComparedPart part = compare(network(), after);
  EXPECT_TRUE(part.graph->same);
  EXPECT_EQ(part.renamed, 1);
  ASSERT_EQ(part.constants.size(), 1);
  EXPECT_EQ(part.constants[0].after_name, "w_8");
  EXPECT_DOUBLE_EQ(part.constants[0].metrics->nmse, 4.0 / 30);
}

// Where the graph changed, places do not tell: values, then names do.
TEST_F(CompareModels, InAnotherGraphConstantsAreToldByValuesAndNames) {
  GraphBuilder after;
  after.input("x").output("y");
  after.initializer("b", floats({2}, {5, 7})).initializer("w_8", floats({2, 2}, {1, 2, 3, 4}));
  after.node("MatMul", {"x", "w_8"}, {"m"}).node("Sigmoid", {"m"}, {"r"}).node("Add", {"r", "b"}, {"y"});
  const ComparedPart part = compare(network(), after);
  EXPECT_FALSE(part.graph->same);
  EXPECT_EQ(part.renamed, 1);
  ASSERT_EQ(part.changed, 1);
  EXPECT_EQ(part.constants[0].name, "b");
}

TEST_F(CompareModels, TwoRandomNodesAreNotOneThatIsReadTwice) {
  auto noisy = [](bool shared) {
    GraphBuilder graph;
    graph.input("x").output("y").node("RandomNormalLike", {"x"}, {"n"});
    if (!shared) graph.node("RandomNormalLike", {"x"}, {"n2"});
    graph.node("Sub", {"n", shared ? "n" : "n2"}, {"y"});
    return graph;
  };
  EXPECT_FALSE(compare(noisy(true), noisy(false)).graph->same);
  EXPECT_FALSE(compare(noisy(false), noisy(true)).graph->same);
  EXPECT_TRUE(compare(noisy(false), noisy(false)).graph->same);
}

// One constant that two nodes read, then two with the same values.
TEST_F(CompareModels, ADuplicatedConstantIsToldAsSuch) {
  auto sums = [](bool twice, float value) {
    GraphBuilder graph;
    graph.input("x").output("y").initializer("a", floats({1}, {2}));
    if (twice) graph.initializer("b", floats({1}, {value}));
    graph.node("Mul", {"x", "a"}, {"p"}).node("Add", {"p", twice ? "b" : "a"}, {"y"});
    return graph;
  };
  EXPECT_EQ(compare(sums(false, 2), sums(true, 2)).difference, Difference::kSame);
  EXPECT_EQ(compare(sums(true, 2), sums(false, 2)).difference, Difference::kSame);
  const ComparedPart part = compare(sums(false, 2), sums(true, 5));
  ASSERT_EQ(part.changed, 1);
  EXPECT_EQ(part.constants[0].after_name, "b");
}

TEST_F(CompareModels, AConstantThatMovedIntoANodeIsNoChange) {
  GraphBuilder after;
  after.input("x").output("y").initializer("w", floats({2, 2}, {1, 2, 3, 4})).constant("b", floats({2}, {5, 6}));
  after.node("MatMul", {"x", "w"}, {"m"}).node("Relu", {"m"}, {"r"}).node("Add", {"r", "b"}, {"y"});
  const ComparedPart part = compare(network(), after);
  EXPECT_EQ(part.difference, Difference::kSame);
  EXPECT_EQ(part.rehoused, 1);
  EXPECT_EQ(part.graph->nodes_before, part.graph->nodes_after);
}

// Values of 1024 bytes and more stay in the file: other bytes around them, or typed fields instead of raw data.
TEST_F(CompareModels, LargeConstantsAreReadWhereverTheyLie) {
  std::vector<float> values(1000, 0.5F);
  auto large = [&](bool typed) {
    GraphBuilder graph;
    graph.input("x", {1, 1000}).output("y").initializer("w", floats({1, 1000}, values));
    graph.node("Add", {"x", "w"}, {"y"});
    ::onnx::ModelProto proto = graph.proto();
    if (!typed) return proto;
    proto.set_doc_string("other bytes in front");
    auto* w = proto.mutable_graph()->mutable_initializer(0);
    w->clear_raw_data();
    for (const float value : values) w->add_float_data(value);
    return proto;
  };
  EXPECT_EQ(compare(large(false), large(true)).difference, Difference::kSame);
  const ::onnx::ModelProto before = large(false);
  values[700] = 1;
  const ComparedPart part = compare(before, large(false));
  EXPECT_EQ(part.changed, 1);
  EXPECT_DOUBLE_EQ(part.constants[0].metrics->nmse, 0.25 / 250);
  EXPECT_EQ(part.constants[0].metrics->max_abs_index, 700);
}

TEST_F(CompareModels, AddedAndRemovedNodesAreNamed) {
  GraphBuilder after = network();
  after.last().set_output(0, "z");
  after.node("Sigmoid", {"z"}, {"y"});
  const ComparedPart part = compare(network(), after);
  EXPECT_FALSE(part.graph->same);
  ASSERT_EQ(part.graph->operators.size(), 1);
  EXPECT_EQ(part.graph->operators[0].op, "Sigmoid");
  EXPECT_EQ(part.graph->operators[0].after, 1);
  ASSERT_EQ(part.graph->nodes.size(), 1);
  EXPECT_EQ(part.graph->nodes[0].name, "Sigmoid:y");
  EXPECT_EQ(part.graph->nodes[0].difference, Difference::kAdded);
}

TEST_F(CompareModels, OtherAttributesAndOperatorsAreSaid) {
  auto one = [](const std::string& op, int64_t axis) {
    GraphBuilder graph;
    graph.input("x").output("y").node(op, {"x"}, {"y"}).attribute("axis", axis);
    graph.last().set_name("node");
    return graph;
  };
  EXPECT_EQ(compare(one("Softmax", 1), one("Softmax", 1)).difference, Difference::kSame);
  EXPECT_EQ(compare(one("Softmax", 1), one("Softmax", 0)).graph->nodes[0].what, "attributes");
  EXPECT_EQ(compare(one("Softmax", 1), one("LogSoftmax", 1)).graph->nodes[0].what, "operator");
}

// Sub is not commutative, and its operands are the same set.
TEST_F(CompareModels, OrderOfOperandsCountsOrderOfNodesDoesNot) {
  auto difference = [](const std::string& left, const std::string& right, bool reordered) {
    GraphBuilder graph;
    graph.input("x").output("y");
    const std::vector<std::string> ops =
        reordered ? std::vector<std::string>{"Neg", "Abs"} : std::vector<std::string>{"Abs", "Neg"};
    for (const std::string& op : ops) graph.node(op, {"x"}, {op});
    graph.node("Sub", {left, right}, {"y"});
    return graph;
  };
  EXPECT_EQ(compare(difference("Abs", "Neg", false), difference("Abs", "Neg", true)).difference, Difference::kSame);
  EXPECT_FALSE(compare(difference("Abs", "Neg", false), difference("Neg", "Abs", false)).graph->same);
}

TEST_F(CompareModels, ValuesInsideBodiesCountAsGraph) {
  auto branch = [](float value) {
    GraphBuilder body;
    body.output("out").constant("out", floats({1}, {value}));
    return body;
  };
  auto conditional = [&](float value) {
    GraphBuilder graph;
    graph.input("c", {}, DType::kBool).output("y").node("If", {"c"}, {"y"});
    graph.body("then_branch", branch(1)).body("else_branch", branch(value));
    return graph;
  };
  EXPECT_EQ(compare(conditional(2), conditional(2)).difference, Difference::kSame);
  const ComparedPart part = compare(conditional(2), conditional(3));
  EXPECT_FALSE(part.graph->same);
  EXPECT_EQ(part.graph->nodes[0].what, "attributes");
}

TEST_F(CompareModels, AnotherOperatorSetIsAFact) {
  const ComparedPart part = compare(network().proto(8, 17), network().proto(8, 18));
  EXPECT_EQ(part.difference, Difference::kChanged);
  ASSERT_EQ(facts_.size(), 1);
  EXPECT_EQ(facts_[0].subject, "part decoder: operator set ai.onnx");
  EXPECT_EQ(facts_[0].after, "18");
}

// --- what a model states beside nodes and weights

class CompareFrames : public CompareModels {
 protected:
  // The only fact that the change gives, as "subject: before -> after".
  std::string change(const std::function<void(::onnx::ModelProto&)>& edit) {
    ::onnx::ModelProto after = network().proto();
    edit(after);
    facts_.clear();
    const ComparedPart part = compare(network().proto(), after);
    EXPECT_TRUE(part.graph->same);
    EXPECT_FALSE(part.weights_changed());
    EXPECT_EQ(facts_.size(), 1);
    if (facts_.empty()) return "nothing";
    EXPECT_EQ(part.difference, facts_[0].matters ? Difference::kChanged : Difference::kSame);
    return facts_[0].subject + ": " + facts_[0].before.value_or("-") + " -> " + facts_[0].after.value_or("-");
  }
};

TEST_F(CompareFrames, DeclaredInputsAndOutputs) {
  EXPECT_EQ(change([](auto& model) {
              auto* dim = model.mutable_graph()
                              ->mutable_input(0)
                              ->mutable_type()
                              ->mutable_tensor_type()
                              ->mutable_shape()
                              ->mutable_dim(0);
              dim->set_dim_param("batch");
            }),
            "part decoder: graph input x: FLOAT [2, 2] -> FLOAT [\"batch\", 2]");
  EXPECT_EQ(change([](auto& model) {
              model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(10);
            }),
            "part decoder: graph input x: FLOAT [2, 2] -> FLOAT16 [2, 2]");
  EXPECT_EQ(change([](auto& model) {
              model.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->set_elem_type(1);
            }),
            "part decoder: graph output y: no type -> FLOAT of any shape");
  EXPECT_THAT(change([](auto& model) { model.mutable_graph()->mutable_input(0)->mutable_type()->set_denotation("I"); }),
              ::testing::StartsWith("part decoder: graph input x: FLOAT [2, 2], declared as "));
}

TEST_F(CompareFrames, AnInitialiserThatBecameAnInput) {
  ::onnx::ModelProto after = network().proto();
  auto* input = after.mutable_graph()->add_input();
  input->set_name("w");
  input->mutable_type()->mutable_tensor_type()->set_elem_type(1);
  EXPECT_EQ(compare(network().proto(), after).difference, Difference::kChanged);
  ASSERT_EQ(facts_.size(), 2);
  EXPECT_EQ(facts_[0].subject, "part decoder: graph input w");
  EXPECT_EQ(facts_[1].subject, "part decoder: initialiser w");
  EXPECT_EQ(facts_[1].after, "a graph input too: a caller can replace it");
}

TEST_F(CompareFrames, VersionsMetadataAndTheRest) {
  EXPECT_EQ(change([](auto& model) { model.set_ir_version(9); }), "part decoder: IR version: 8 -> 9");
  EXPECT_EQ(change([](auto& model) {
              auto* set = model.add_opset_import();
              set->set_domain("com.microsoft");
              set->set_version(1);
            }),
            "part decoder: operator set com.microsoft: - -> 1");
  EXPECT_EQ(change([](auto& model) {
              auto* entry = model.add_metadata_props();
              entry->set_key("ort_config");
              entry->set_value("{}");
            }),
            "part decoder: metadata ort_config: - -> {}");
  EXPECT_THAT(change([](auto& model) { model.set_model_version(3); }),
              ::testing::HasSubstr("part decoder: what else the model states"));
  EXPECT_THAT(change([](auto& model) { model.mutable_graph()->add_quantization_annotation()->set_tensor_name("w"); }),
              ::testing::HasSubstr("part decoder: what else the model states"));
}

TEST_F(CompareFrames, TypesOfIntermediateTensorsAreSaidAndDoNotMatter) {
  EXPECT_THAT(change([](auto& model) { model.mutable_graph()->add_value_info()->set_name("m"); }),
              ::testing::HasSubstr("declared types of intermediate tensors"));
}

TEST_F(CompareFrames, OrderOfInputs) {
  auto sum = [](const std::string& first, const std::string& second) {
    GraphBuilder graph;
    graph.input(first).input(second).output("y").node("Sub", {"a", "b"}, {"y"});
    return graph;
  };
  EXPECT_EQ(compare(sum("a", "b"), sum("b", "a")).difference, Difference::kChanged);
  ASSERT_EQ(facts_.size(), 1);
  EXPECT_EQ(facts_[0].subject, "part decoder: order of the graph inputs");
}

// Split takes its sizes from the number of outputs, even where nobody reads the others.
TEST_F(CompareModels, TheNumberOfOutputsCounts) {
  auto split = [](const GraphBuilder::Names& rest) {
    GraphBuilder::Names outputs = {"y"};
    outputs.insert(outputs.end(), rest.begin(), rest.end());
    GraphBuilder graph;
    graph.input("x", {6, 2}).output("y").node("Split", {"x"}, outputs);
    return graph;
  };
  EXPECT_TRUE(compare(split({"a"}), split({"b"})).graph->same);
  EXPECT_FALSE(compare(split({"a"}), split({"a", "b"})).graph->same);
}

TEST_F(CompareModels, MetadataOfANodeCountsButNotWhereItWasExportedFrom) {
  auto noted = [](const std::string& key) {
    GraphBuilder graph;
    graph.input("x").output("y").node("Relu", {"x"}, {"y"});
    auto* entry = graph.last().add_metadata_props();
    entry->set_key(key);
    entry->set_value("v");
    return graph;
  };
  EXPECT_TRUE(compare(noted("pkg.torch.onnx.stack_trace"), noted("pkg.torch.onnx.name_scopes")).graph->same);
  EXPECT_FALSE(compare(noted("a"), noted("b")).graph->same);
}

TEST_F(CompareModels, WhatIsNoModelIsAnError) {
  const auto part = compare_models(folder_.write("bad.onnx", "no model"), save("after.onnx", network().proto()),
                                   "decoder", 1, facts_);
  ASSERT_FALSE(part.has_value());
  EXPECT_THAT(part.error().message(), ::testing::HasSubstr("bad.onnx"));
}

// --- contexts, as QNN's provider writes them

std::string with_length(const std::string& text, size_t room) {
  std::string bytes(4, '\0');
  bytes[0] = static_cast<char>(text.size());
  bytes += text;
  bytes.resize(4 + room, '\0');
  return bytes;
}

class CompareContexts : public ::testing::Test {
 protected:
  static std::string context(const std::string& name, const std::string& weights = "weights") {
    return "head" + with_length(name, 24) + "more" + with_length("PICKLE/256/" + name, 36) + weights;
  }
  Path save(const std::string& file, const std::string& name, const std::string& bytes, int64_t embedded = 1) const {
    GraphBuilder graph;
    graph.input("x").output("y").node("EPContext", {"x"}, {"y"}).attribute("embed_mode", embedded);
    graph.last().set_name(name);
    graph.last().set_domain("com.microsoft");
    for (const auto& [key, value] : {std::pair("partition_name", name), std::pair("ep_cache_context", bytes)}) {
      auto* added = graph.last().add_attribute();
      added->set_name(key);
      added->set_type(::onnx::AttributeProto::STRING);
      added->set_s(value);
    }
    return folder_.write(file, graph.proto().SerializeAsString());
  }
  bool same(const std::string& a, const std::string& bytes_a, const std::string& b, const std::string& bytes_b) const {
    return same_context(save("a.onnx", a, bytes_a), save("b.onnx", b, bytes_b));
  }
  const std::string long_name_ = "QNN_5709232597057", short_name_ = "QNN_57092325970";
  TestFolder folder_;
};

TEST_F(CompareContexts, TheNameOfThePartitionIsNoDifference) {
  EXPECT_TRUE(same(long_name_, context(long_name_), "QNN_1234567890123", context("QNN_1234567890123")));
  EXPECT_TRUE(same(long_name_, context(long_name_), short_name_, context(short_name_)));
  EXPECT_TRUE(same(short_name_, context(short_name_), long_name_, context(long_name_)));
}

TEST_F(CompareContexts, EveryOtherByteIs) {
  const std::string before = context(long_name_), after = context(short_name_);
  for (size_t at = 0; at < after.size(); ++at) {
    std::string changed = after;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_FALSE(same(long_name_, before, short_name_, changed)) << at;
    std::string other = before;
    other[at] = static_cast<char>(other[at] ^ 1);
    EXPECT_FALSE(same(long_name_, other, short_name_, after)) << at;
  }
  EXPECT_FALSE(same(long_name_, before, short_name_, after + "x"));
}

TEST_F(CompareContexts, WhatCannotBeToldIsNotTheSame) {
  EXPECT_FALSE(same("name", context("name"), "eman", context("eman")));  // too short to be looked for
  EXPECT_FALSE(same_context(save("a.onnx", long_name_, context(long_name_), 0),
                            save("b.onnx", short_name_, context(short_name_), 0)));
  EXPECT_FALSE(same_context(folder_.write("a.onnx", "no model"), folder_.write("b.onnx", "no model")));
}

}  // namespace
}  // namespace paritas::package_diff
