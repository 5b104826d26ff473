// Random graphs: whatever an edit is asked for, the result is a valid graph that still computes the same things.
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include <algorithm>

#include "paritas/onnx/edit.h"
#include "paritas/onnx/testing.h"

namespace paritas::onnx_model {
namespace {

using namespace testing;

const TensorType kSquare{DType::kF32, {2, 2}};

// A graph of up to 30 element-wise nodes over two inputs and one initialiser; some tensors are read by bodies of If.
GraphBuilder random_graph() {
  GraphBuilder builder;
  builder.input("x0").input("x1").input("c", {}, DType::kBool).initializer("w", floats({2, 2}, {1, 2, 3, 4}));
  std::vector<std::string> tensors{"x0", "x1", "w"};
  const int count = *rc::gen::inRange(1, 30);
  for (int i = 0; i < count; ++i) {
    const auto a = *rc::gen::elementOf(tensors);
    const auto b = *rc::gen::elementOf(tensors);
    const std::string out = "t" + std::to_string(i);
    if (*rc::gen::inRange(0, 5) == 0) {
      GraphBuilder body;
      body.node("Add", {a, b}, {out + "_inner"}).output(out + "_inner");
      builder.node("If", {"c"}, {out}).body("then_branch", body).body("else_branch", body);
    } else {
      builder.node("Add", {a, b}, {out}, *rc::gen::arbitrary<bool>());
    }
    tensors.push_back(out);
  }
  for (int i = 0; i < count; ++i)
    if (i + 1 == count || *rc::gen::inRange(0, 6) == 0) builder.output("t" + std::to_string(i));
  return builder;
}

std::vector<std::string> made_tensors(const GraphIndex& index) {
  std::vector<std::string> tensors;
  for (const auto& node : index.nodes()) tensors.insert(tensors.end(), node.outputs.begin(), node.outputs.end());
  return tensors;
}

std::vector<std::string> some_of(const std::vector<std::string>& all) {
  std::vector<std::string> chosen;
  for (const auto& name : all)
    if (*rc::gen::arbitrary<bool>()) chosen.push_back(name);
  return chosen;
}

std::map<std::string, TensorType> square_types(const std::vector<std::string>& tensors) {
  std::map<std::string, TensorType> types;
  for (const auto& name : tensors) types[name] = kSquare;
  return types;
}

void assert_valid(const Result<Model>& model) {
  RC_ASSERT(model.has_value());
  RC_ASSERT(GraphIndex::build(*model).has_value());
}

// What is named also as a given graph output.
void assert_outputs(const Model& model, const std::vector<std::string>& outputs) {
  const auto names = names_of(model.graph().output());
  for (const auto& output : outputs) RC_ASSERT(std::find(names.begin(), names.end(), output) != names.end());
}

RC_GTEST_PROP(EditProperty, MarksFeedsAndConstantsKeepTheGraphValid, ()) {
  const Model model = random_graph().model();
  const GraphIndex index = must(GraphIndex::build(model));
  const auto chosen = some_of(made_tensors(index));
  const auto marked = mark_outputs(model, chosen);
  assert_valid(marked);
  assert_outputs(*marked, chosen);
  const auto fed = feed_tensors(model, square_types(chosen));
  RC_ASSERT(fed.has_value());
  RC_ASSERT(GraphIndex::build(fed->model).has_value());
  RC_ASSERT(names_of(fed->model.graph().output()) == names_of(model.graph().output()));
  for (const auto& [tensor, feed] : fed->feed_names) RC_ASSERT(must(GraphIndex::build(fed->model)).is_input(feed));
  std::map<std::string, Tensor> constants;
  for (const auto& name : chosen) constants[name] = floats({2, 2}, {0, 0, 0, 0});
  const auto folded = replace_by_constants(model, constants);
  assert_valid(folded);
  RC_ASSERT(names_of(folded->graph().output()) == names_of(model.graph().output()));
}

RC_GTEST_PROP(EditProperty, TwoHalvesCoverTheGraph, ()) {
  const Model model = random_graph().model();
  const GraphIndex index = must(GraphIndex::build(model));
  const int count = static_cast<int>(index.nodes().size());
  const int half = *rc::gen::inRange(0, count + 1);
  std::vector<std::string> cut;
  for (int i = 0; i < half; ++i)
    for (const auto& output : index.nodes()[static_cast<size_t>(i)].outputs) {
      const auto& consumers = index.consumers(output);
      if (index.is_output(output) || (!consumers.empty() && consumers.back() >= half)) cut.push_back(output);
    }
  std::vector<std::string> rest;
  for (const auto& output : index.outputs())
    if (std::find(cut.begin(), cut.end(), output) == cut.end()) rest.push_back(output);
  std::vector<std::string> behind = cut;
  behind.insert(behind.end(), index.inputs().begin(), index.inputs().end());
  size_t nodes = 0;
  if (!cut.empty()) {
    const auto first = extract(model, index.inputs(), cut, {});
    assert_valid(first);
    nodes += static_cast<size_t>(first->graph().node_size());
  }
  if (!rest.empty()) {
    const auto second = extract(model, behind, rest, square_types(cut));
    assert_valid(second);
    nodes += static_cast<size_t>(second->graph().node_size());
  }
  // Nothing is computed twice, and only dead nodes are missing.
  const auto whole = must(extract(model, index.inputs(), index.outputs(), {}));
  RC_ASSERT(nodes >= static_cast<size_t>(whole.graph().node_size()));
  RC_ASSERT(nodes <= static_cast<size_t>(count));
}

RC_GTEST_PROP(EditProperty, AllLocalFeedsWhatIslandsRead, ()) {
  const Model model = random_graph().model();
  const GraphIndex index = must(GraphIndex::build(model));
  const ValueDependence dependence = value_dependence(model, index);
  std::vector<Island> islands;
  const int group = *rc::gen::inRange(1, 5);
  std::vector<int> members;
  for (int i = 0; i < static_cast<int>(index.nodes().size()); ++i) {
    members.push_back(i);
    if (static_cast<int>(members.size()) < group) continue;
    // Neighbours in topological order are always convex.
    islands.push_back(must(group_island(model, index, dependence, "g", members)));
    members.clear();
  }
  const auto local = all_local(model, index, dependence, islands, square_types(made_tensors(index)));
  RC_ASSERT(local.has_value());
  const GraphIndex local_index = must(GraphIndex::build(local->model));
  for (const auto& [feed, tensor] : local->feeds) RC_ASSERT(local_index.is_input(feed));
  for (const auto& island : islands)
    for (const auto& output : island.outputs) RC_ASSERT(local_index.is_output(local->outputs.at(output)));
}

RC_GTEST_PROP(EditProperty, InterposeKeepsNamesAndOrder, ()) {
  const Model model = random_graph().model();
  Interpose what;
  what.op_type = "Identity";
  what.graph_inputs = *rc::gen::arbitrary<bool>();
  what.initializers = *rc::gen::arbitrary<bool>();
  what.node_outputs = *rc::gen::arbitrary<bool>();
  const auto result = interpose(model, what);
  assert_valid(result);
  RC_ASSERT(names_of(result->graph().output()) == names_of(model.graph().output()));
  const GraphIndex index = must(GraphIndex::build(*result));
  for (size_t i = 0; i < index.nodes().size(); ++i) RC_ASSERT(index.nodes()[i].proto_index == static_cast<int>(i));
}

}  // namespace
}  // namespace paritas::onnx_model
