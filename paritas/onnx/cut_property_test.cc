// Random graphs and random cuts: a cut is accepted only when it separates, and the two halves composed are the whole.
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>

#include "paritas/onnx/cut.h"
#include "paritas/onnx/testing.h"

namespace paritas::onnx_model {
namespace {

using namespace testing;

// Up to 30 nodes over two inputs, a weight and a condition; some read outer tensors in bodies of If, some ask for a
// shape and use it.
GraphBuilder random_graph() {
  GraphBuilder builder;
  builder.input("x0").input("x1").input("c", {}, DType::kBool).initializer("w", floats({2, 2}, {1, 2, 3, 4}));
  std::vector<std::string> tensors{"x0", "x1", "w"};
  const int count = *rc::gen::inRange(2, 30);
  for (int i = 0; i < count; ++i) {
    const auto a = *rc::gen::elementOf(tensors);
    const auto b = *rc::gen::elementOf(tensors);
    const std::string out = "t" + std::to_string(i);
    switch (*rc::gen::inRange(0, 8)) {
      case 0: {
        GraphBuilder body;
        body.node("Sub", {a, b}, {out + "_inner"}).output(out + "_inner");
        builder.node("If", {"c"}, {out}).body("then_branch", body).body("else_branch", body);
        break;
      }
      case 1:
        builder.node("Shape", {b}, {out + "_shape"}).node("Reshape", {a, out + "_shape"}, {out});
        break;
      default:
        builder.node("Sub", {a, b}, {out});
    }
    tensors.push_back(out);
  }
  for (int i = 0; i < count; ++i)
    if (i + 1 == count || *rc::gen::inRange(0, 8) == 0) builder.output("t" + std::to_string(i));
  return builder;
}

// An interpreter that computes terms instead of numbers: two tensors have the same value only when they were made by
// the same operators from the same inputs and constants. Shape makes one value of everything, as all shapes are equal
// here.
class Terms {
 public:
  using Values = std::map<std::string, size_t>;

  static Values run(const Model& model, Values values) {
    for (const auto& tensor : model.graph().initializer()) {
      const auto stored = must(model.tensor(tensor));
      std::string bytes(stored.bytes.size(), '\0');
      RC_ASSERT(stored.bytes.read(0, std::as_writable_bytes(std::span(bytes))).has_value());
      values[tensor.name()] = std::hash<std::string>()(bytes);
    }
    // Nodes may stand in any order that the index can sort.
    const GraphIndex index = must(GraphIndex::build(model));
    for (const auto& node : index.nodes()) {
      size_t term = std::hash<std::string>()(node.op);
      if (node.op != "Shape")
        for (const auto* names : {&node.inputs, &node.captures})
          for (const auto& name : *names) {
            RC_ASSERT(values.count(name) == 1);
            term = term * 1000003 + values.at(name);
          }
      for (const auto& output : node.outputs) values[output] = term++;
    }
    return values;
  }
};

std::vector<std::string> dependent_tensors(const GraphIndex& index, const ValueDependence& dependence) {
  std::vector<std::string> tensors;
  for (const auto& node : index.nodes())
    for (const auto& output : node.outputs)
      if (dependence.depends(output)) tensors.push_back(output);
  return tensors;
}

// The tensors that the first nodes (in graph order) hand to the others or to the user: a cut by construction.
std::vector<std::string> frontier(const GraphIndex& index, const ValueDependence& dependence, int first) {
  std::vector<std::string> tensors;
  const auto read_behind = [&](const std::string& tensor) {
    const auto& readers = index.consumers(tensor);
    return std::any_of(readers.begin(), readers.end(), [&](int node) { return node >= first; });
  };
  for (int i = 0; i < first; ++i)
    for (const auto& output : index.nodes()[static_cast<size_t>(i)].outputs)
      if (dependence.depends(output) && (read_behind(output) || index.is_output(output))) tensors.push_back(output);
  for (const auto& input : index.inputs())
    if (!index.consumers(input).empty() && index.consumers(input).front() < first && read_behind(input))
      tensors.push_back(input);
  return tensors;
}

// Both halves on terms, composed, against the whole.
void check_composition(const Model& model, const Cut& cut) {
  const Terms::Values inputs = {{"x0", 11}, {"x1", 12}, {"c", 13}};
  const Terms::Values whole = Terms::run(model, inputs);
  std::map<std::string, TensorType> types;
  for (const auto& tensor : cut.tensors) types[tensor] = {DType::kF32, {2, 2}};
  const auto halves = extract_halves(model, cut, types, {});
  RC_ASSERT(halves.has_value());
  const auto take = [&](const Model& half, const Terms::Values& from) {
    Terms::Values fed;
    for (const auto& input : half.graph().input()) {
      RC_ASSERT(from.count(input.name()) == 1);
      fed[input.name()] = from.at(input.name());
    }
    return fed;
  };
  const Terms::Values front = Terms::run(halves->front, take(halves->front, inputs));
  Terms::Values handed = inputs;
  for (const auto& tensor : cut.tensors)
    if (inputs.count(tensor) == 0) handed[tensor] = front.at(tensor);
  const Terms::Values rear = Terms::run(halves->rear, take(halves->rear, handed));
  for (const auto& output : model.graph().output()) {
    const bool in_front = std::count(cut.front_outputs.begin(), cut.front_outputs.end(), output.name()) == 1;
    RC_ASSERT((in_front ? front : rear).at(output.name()) == whole.at(output.name()));
  }
  // No node that depends on input values is computed twice.
  const GraphIndex front_index = must(GraphIndex::build(halves->front));
  const ValueDependence dependence = value_dependence(halves->front, front_index);
  const GraphIndex rear_index = must(GraphIndex::build(halves->rear));
  for (const auto& node : front_index.nodes())
    if (dependence.depends(node.outputs.front())) RC_ASSERT(rear_index.producer(node.outputs.front()) < 0);
}

// The interpreter needs no values of shapes: halves are extracted without folding, so only cuts that need none.
RC_GTEST_PROP(CutProperty, HalvesOfAFrontierComposeToTheWhole, ()) {
  const Model model = random_graph().model();
  const GraphIndex index = must(GraphIndex::build(model));
  const ValueDependence dependence = value_dependence(model, index);
  const int first = *rc::gen::inRange(1, static_cast<int>(index.nodes().size()) + 1);
  const auto tensors = frontier(index, dependence, first);
  RC_PRE(!tensors.empty());
  const auto cut = check_cut(model, index, dependence, "", tensors, "--cut");
  if (!cut) {
    // The frontier separates by construction: only an empty half may be refused.
    RC_ASSERT(cut.error().cause.find("does not separate") == std::string::npos);
    RC_ASSERT(cut.error().cause.find("one-way") == std::string::npos);
    return;
  }
  RC_PRE(cut->constants.empty());
  check_composition(model, *cut);
}

// Any set of tensors: what is accepted composes, what is refused for a path has one.
RC_GTEST_PROP(CutProperty, AnySetOfTensorsIsJudgedRight, ()) {
  const Model model = random_graph().model();
  const GraphIndex index = must(GraphIndex::build(model));
  const ValueDependence dependence = value_dependence(model, index);
  std::vector<std::string> tensors;
  for (const auto& name : dependent_tensors(index, dependence))
    if (*rc::gen::inRange(0, 4) == 0) tensors.push_back(name);
  for (const char* input : {"x0", "x1", "c"})
    if (*rc::gen::inRange(0, 2) == 0) tensors.emplace_back(input);
  RC_PRE(!tensors.empty());
  const auto cut = check_cut(model, index, dependence, "", tensors, "--cut");
  if (cut) {
    RC_PRE(cut->constants.empty());
    check_composition(model, *cut);
    return;
  }
  if (cut.error().cause.find("does not separate") == std::string::npos) return;
  // Independent search: an output is reached from an input that feeds the front half, past the cut.
  std::vector<std::string> open;
  for (const auto& output : index.outputs()) open.push_back(output);
  std::map<std::string, bool> seen;
  bool reached = false;
  while (!open.empty()) {
    const std::string tensor = open.back();
    open.pop_back();
    if (seen[tensor] || std::count(tensors.begin(), tensors.end(), tensor) != 0) continue;
    seen[tensor] = true;
    if (index.is_input(tensor)) reached = true;
    const int producer = index.producer(tensor);
    if (producer < 0 || !dependence.depends(tensor)) continue;
    for (const auto* names :
         {&index.nodes()[static_cast<size_t>(producer)].inputs, &index.nodes()[static_cast<size_t>(producer)].captures})
      open.insert(open.end(), names->begin(), names->end());
  }
  RC_LOG() << cut.error().cause;
  RC_ASSERT(reached);
}

}  // namespace
}  // namespace paritas::onnx_model
