#include <unordered_map>

#include "paritas/onnx/graph_index.h"
#include "paritas/onnx/op_facts.h"
#include "paritas/onnx/walk.h"

namespace paritas::onnx_model {
namespace {

// Two facts of a tensor. A shape that depends on values implies elements that do.
struct Depends {
  bool value = false;
  bool shape = false;

  void merge(const Depends& other) {
    value |= other.value;
    shape |= other.shape;
  }
};

// Facts of the tensors of one graph; names that it does not hold belong to the graph around it.
class Scope {
 public:
  explicit Scope(const Scope* outer) : outer_(outer) {}

  // Empty names stand for operands that are left out.
  Depends get(const std::string& name) const {
    if (name.empty()) return {};
    for (const Scope* scope = this; scope != nullptr; scope = scope->outer_)
      if (const auto it = scope->facts_.find(name); it != scope->facts_.end()) return it->second;
    return {true, true};  // a body that is not in order: expect the worst
  }

  void set(const std::string& name, Depends facts) {
    facts.value |= facts.shape;
    if (!name.empty()) facts_[name] = facts;
  }

  const std::unordered_map<std::string, Depends>& facts() const { return facts_; }

 private:
  const Scope* outer_;
  std::unordered_map<std::string, Depends> facts_;
};

bool has_fixed_shape(const ::onnx::ValueInfoProto& info) {
  if (!info.type().tensor_type().has_shape()) return false;
  for (const auto& dim : info.type().tensor_type().shape().dim())
    if (!dim.has_dim_value() || dim.dim_value() < 0) return false;
  return true;
}

using IsSource = std::function<bool(const ::onnx::NodeProto&)>;

class Pass {
 public:
  // `is_source`: whose results depend on values whatever they read; without it, random operators.
  Pass(const Model& model, IsSource is_source) : is_source_(std::move(is_source)) {
    for (const auto& function : model.proto().functions()) {
      bool random = false;
      for (const auto& node : function.node()) random |= is_random(node);
      // Functions may call later ones: one that calls any function at all is taken for random when any is.
      functions_[function.domain() + "::" + function.name()] = random;
      any_random_function_ |= random;
    }
  }

  void node(const ::onnx::NodeProto& node, Scope& scope) const {
    if (is_onnx_domain(node) && node.op_type() == "If" && !(is_source_ && is_source_(node)))
      return branches(node, scope);
    const OpFacts facts = facts_of(node);
    Depends all;
    Depends operands;
    for (int i = 0; i < node.input_size(); ++i) {
      const Depends input = scope.get(node.input(i));
      all.merge(input);
      if (i < 32 && (facts.shape_operands >> i & 1) != 0) operands.merge(input);
    }
    for (const auto& name : captures_of(node)) all.merge(scope.get(name));
    Depends result{all.value, all.shape || operands.value};
    if (facts.shape == ShapeRule::kValues) result.shape |= all.value;
    if (facts.shape == ShapeRule::kOnlyShape && node.input_size() > 0) result.value = scope.get(node.input(0)).shape;
    result.value |= is_source_ ? is_source_(node) : is_random(node);
    for (const auto& output : node.output()) scope.set(output, result);
  }

 private:
  bool is_random(const ::onnx::NodeProto& node) const {
    if (facts_of(node).random) return true;
    if (functions_.count(node.domain() + "::" + node.op_type()) != 0 && any_random_function_) return true;
    for (const auto* body : bodies_of(node))
      for (const auto& inner : body->node())
        if (is_random(inner)) return true;
    return false;
  }

  // Either branch may be taken: the outputs of both are joined, and depend on the condition.
  void branches(const ::onnx::NodeProto& node, Scope& scope) const {
    const bool condition = node.input_size() > 0 && scope.get(node.input(0)).value;
    std::vector<Depends> joined(static_cast<size_t>(node.output_size()), Depends{condition, condition});
    for (const auto* body : bodies_of(node)) {
      Scope inner(&scope);
      for (const auto& tensor : body->initializer()) inner.set(tensor.name(), {});
      for (const auto& sparse : body->sparse_initializer()) inner.set(sparse.values().name(), {});
      for (const auto& child : body->node()) this->node(child, inner);
      for (int i = 0; i < node.output_size() && i < body->output_size(); ++i)
        joined[static_cast<size_t>(i)].merge(inner.get(body->output(i).name()));
    }
    for (int i = 0; i < node.output_size(); ++i) scope.set(node.output(i), joined[static_cast<size_t>(i)]);
  }

  const IsSource is_source_;
  std::unordered_map<std::string, bool> functions_;
  bool any_random_function_ = false;
};

// `inputs`: what is known of a graph input.
template <class Inputs>
ValueDependence dependence(const Model& model, const GraphIndex& index, const Inputs& inputs, IsSource is_source) {
  Scope scope(nullptr);
  const auto& graph = model.graph();
  for (const auto& input : graph.input()) scope.set(input.name(), inputs(input));
  for (const auto& tensor : graph.initializer()) scope.set(tensor.name(), {});
  for (const auto& sparse : graph.sparse_initializer()) scope.set(sparse.values().name(), {});
  const Pass pass(model, std::move(is_source));
  for (const auto& node : index.nodes()) pass.node(graph.node(node.proto_index), scope);
  ValueDependence result;
  for (const auto& [name, facts] : scope.facts())
    if (facts.value) result.tensors.insert(name);
  return result;
}

}  // namespace

ValueDependence value_dependence(const Model& model, const GraphIndex& index) {
  return dependence(model, index,
                    [](const ::onnx::ValueInfoProto& input) {
                      return Depends{true, !has_fixed_shape(input)};
                    },
                    {});
}

ValueDependence dependence_on_nodes(const Model& model, const GraphIndex& index, const IsSource& is_source) {
  return dependence(
      model, index, [](const ::onnx::ValueInfoProto&) { return Depends{}; }, is_source);
}

}  // namespace paritas::onnx_model
