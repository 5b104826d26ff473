#include "paritas/onnx/random_operators.h"

#include <algorithm>
#include <functional>
#include <set>
#include <unordered_set>

#include "paritas/onnx/op_facts.h"
#include "paritas/onnx/walk.h"

namespace paritas::onnx_model {
namespace {

bool is_microsoft_random(const ::onnx::NodeProto& node) {
  return node.domain() == "com.microsoft" &&
         (node.op_type() == "Sampling" || node.op_type() == "BiasDropout" || node.op_type() == "BitmaskDropout");
}

// A negative integer seed asks Sampling to draw one; a seed that a function's caller gives is not known here.
bool has_seed(const ::onnx::NodeProto& node) {
  return std::any_of(node.attribute().begin(), node.attribute().end(), [](const ::onnx::AttributeProto& attribute) {
    return attribute.name() == "seed" && attribute.ref_attr_name().empty() &&
           (attribute.type() == ::onnx::AttributeProto::FLOAT ||
            (attribute.type() == ::onnx::AttributeProto::INT && attribute.i() >= 0));
  });
}

bool is_false(const ::onnx::TensorProto& tensor) {
  if (tensor.data_type() != ::onnx::TensorProto::BOOL || tensor.has_data_location()) return false;
  if (!tensor.raw_data().empty()) return tensor.raw_data() == std::string(1, '\0');
  return tensor.int32_data_size() == 1 && tensor.int32_data(0) == 0;
}

class Finder {
 public:
  Finder(const Model& model, bool seeds_repeat) : seeds_repeat_(seeds_repeat) {
    note_constants(model.graph());
    for (const auto& function : model.proto().functions()) {
      for (const auto& node : function.node()) note_constant(node);
      functions_.emplace(function.domain() + "::" + function.name(), &function);
    }
  }

  // What draws in `node`, its bodies and the functions that it calls.
  void collect(const ::onnx::NodeProto& node, std::vector<RandomOperator>& found, int depth = 0) const {
    if (draws(node)) found.push_back({{}, node.op_type(), {}, has_seed(node)});
    for (const auto* body : bodies_of(node))
      for (const auto& inner : body->node()) collect(inner, found, depth);
    const auto function = functions_.find(node.domain() + "::" + node.op_type());
    if (function == functions_.end() || depth >= kDeepest) return;
    for (const auto& inner : function->second->node()) collect(inner, found, depth + 1);
  }

 private:
  static constexpr int kDeepest = 16;  // functions may not call themselves; a file may still say so

  bool draws(const ::onnx::NodeProto& node) const {
    if (seeds_repeat_ && has_seed(node)) return false;
    if (is_onnx_domain(node) && node.op_type() == "Dropout")
      return facts_of(node).random && (false_.count(node.input(2)) == 0 || other_.count(node.input(2)) != 0);
    if (is_microsoft_random(node)) return true;
    return facts_of(node).random;
  }

  void note(const std::string& name, bool is_false_constant) { (is_false_constant ? false_ : other_).insert(name); }

  void note_constant(const ::onnx::NodeProto& node) {
    const bool constant = is_onnx_domain(node) && node.op_type() == "Constant" && node.attribute_size() == 1 &&
                          node.attribute(0).has_t() && is_false(node.attribute(0).t());
    for (const auto& output : node.output()) note(output, constant);
    for (const auto* body : bodies_of(node)) note_constants(*body);
  }

  void note_constants(const ::onnx::GraphProto& graph) {
    std::unordered_set<std::string> initialised;
    for (const auto& tensor : graph.initializer()) {
      note(tensor.name(), is_false(tensor));
      initialised.insert(tensor.name());
    }
    for (const auto& input : graph.input())
      if (initialised.count(input.name()) == 0) note(input.name(), false);
    for (const auto& node : graph.node()) note_constant(node);
  }

  bool seeds_repeat_;
  std::unordered_set<std::string> false_, other_;  // names of constants that are false, and of everything else
  std::unordered_map<std::string, const ::onnx::FunctionProto*> functions_;
};

}  // namespace

std::vector<RandomOperator> RandomDependence::operators_behind(const std::string& tensor) const {
  std::vector<RandomOperator> found;
  if (const auto it = behind.find(tensor); it != behind.end())
    for (const int i : it->second) found.push_back(operators[static_cast<size_t>(i)]);
  return found;
}

RandomDependence random_dependence(const Model& model, const GraphIndex& index, bool seeds_repeat) {
  RandomDependence result;
  const Finder finder(model, seeds_repeat);
  std::vector<std::vector<RandomOperator>> own(index.nodes().size());
  std::unordered_set<const ::onnx::NodeProto*> drawing;
  for (size_t i = 0; i < own.size(); ++i) {
    const auto& proto = model.graph().node(index.nodes()[i].proto_index);
    finder.collect(proto, own[i]);
    if (!own[i].empty()) drawing.insert(&proto);
  }
  if (drawing.empty()) return result;
  const auto dependence =
      dependence_on_nodes(model, index, [&](const ::onnx::NodeProto& node) { return drawing.count(&node) != 0; });
  for (size_t i = 0; i < own.size(); ++i) {
    const auto& node = index.nodes()[i];
    std::set<int> all;
    for (const auto* names : {&node.inputs, &node.captures})
      for (const auto& name : *names)
        if (const auto it = result.behind.find(name); it != result.behind.end())
          all.insert(it->second.begin(), it->second.end());
    for (RandomOperator& found : own[i]) {
      const bool itself = found.op == model.graph().node(node.proto_index).op_type();
      found.node = node.name;
      found.inside = itself ? std::string() : node.op;
      all.insert(static_cast<int>(result.operators.size()));
      result.operators.push_back(std::move(found));
    }
    for (const auto& output : node.outputs) {
      if (!own[i].empty()) result.drawn.push_back(output);
      if (!all.empty() && dependence.depends(output))
        result.behind.emplace(output, std::vector(all.begin(), all.end()));
    }
  }
  return result;
}

}  // namespace paritas::onnx_model
