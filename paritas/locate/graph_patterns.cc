#include "paritas/locate/graph_patterns.h"

#include <algorithm>
#include <numeric>

#include "paritas/onnx/model.h"

namespace paritas {
namespace {

using onnx_model::GraphIndex;
using onnx_model::Model;

class Finder {
 public:
  Finder(const Model& model, const GraphIndex& index) : model_(model), index_(index) {
    for (const auto& import : model.proto().opset_import())
      if (import.domain().empty() || import.domain() == "ai.onnx") opset_ = import.version();
  }

  std::optional<SoftmaxSite> softmax(int node) const {
    const auto& n = at(node);
    SoftmaxSite site;
    if (n.outputs.size() != 1) return std::nullopt;
    site.tensor = n.outputs.front();
    if (n.op == "Softmax") {
      site.nodes = {node};
      site.to_the_end = opset_ < 13;
      site.axes = std::vector<int64_t>{int_attribute(node, "axis").value_or(opset_ < 13 ? 1 : -1)};
      return site;
    }
    const auto [value, sum] = quotient(node, site.nodes);
    if (sum < 0 || at(sum).op != "ReduceSum") return std::nullopt;
    const int exponential = index_.producer(value);
    if (exponential < 0 || at(exponential).op != "Exp" || at(sum).inputs[0] != value || !axes_of(sum, site.axes))
      return std::nullopt;
    site.decomposed = true;
    site.nodes.insert(site.nodes.end(), {exponential, sum, node});
    add_shift(exponential, site.nodes);
    std::sort(site.nodes.begin(), site.nodes.end());
    return site;
  }

  std::optional<NormSite> norm(int node) const {
    const auto& n = at(node);
    if (n.outputs.empty()) return std::nullopt;
    const std::string op = n.op.substr(n.op.rfind(':') == std::string::npos ? 0 : n.op.rfind(':') + 1);
    if (op == "LayerNormalization" || op == "SimplifiedLayerNormalization" || op == "RMSNormalization")
      return fused_norm(node, op == "LayerNormalization");
    return decomposed_norm(node);
  }

 private:
  const GraphIndex::Node& at(int node) const { return index_.nodes()[static_cast<size_t>(node)]; }
  const ::onnx::NodeProto& proto(int node) const { return model_.graph().node(at(node).proto_index); }

  std::optional<int64_t> int_attribute(int node, const char* name) const {
    for (const auto& a : proto(node).attribute())
      if (a.name() == name) return a.i();
    return std::nullopt;
  }

  // `value` / result of `by`.
  struct Quotient {
    std::string value;
    int by = -1;
  };

  // Div, or Mul by a Reciprocal or a Div of 1 (added to `nodes`). by = -1: it is neither.
  Quotient quotient(int node, std::vector<int>& nodes) const {
    const auto& n = at(node);
    if (n.inputs.size() != 2) return {};
    if (n.op == "Div") return {n.inputs[0], index_.producer(n.inputs[1])};
    if (n.op != "Mul") return {};
    for (size_t i : {size_t{1}, size_t{0}}) {
      const int inverse = index_.producer(n.inputs[i]);
      if (inverse < 0) continue;
      const auto& of = at(inverse);
      const bool divides = of.op == "Div" && of.inputs.size() == 2 && is_scalar(of.inputs[0], 1);
      if (of.op != "Reciprocal" && !divides) continue;
      nodes.push_back(inverse);
      return {n.inputs[1 - i], index_.producer(of.inputs.back())};
    }
    return {};
  }

  bool is_scalar(const std::string& tensor, double wanted) const {
    auto constant = constant_value(model_, index_, tensor);
    if (!constant || constant->count() != 1) return false;
    auto view = TensorView::of(*constant);
    if (!view) return false;
    double value = 0;
    load_as_double(constant->dtype, view->bytes(), 0, std::span(&value, 1));
    return value == wanted;
  }

  // Reduced axes: attribute, or second input. False when they are not known, or the reduced dimension is dropped.
  bool axes_of(int node, std::optional<std::vector<int64_t>>& axes) const {
    if (int_attribute(node, "keepdims").value_or(1) == 0) return false;
    for (const auto& a : proto(node).attribute())
      if (a.name() == "axes") axes = std::vector<int64_t>(a.ints().begin(), a.ints().end());
    if (at(node).inputs.size() < 2) return true;
    auto value = constant_value(model_, index_, at(node).inputs[1]);
    if (!value || value->dtype != DType::kI64 || value->count() > 16) return false;
    auto view = TensorView::of(*value);
    if (!view) return false;
    std::vector<double> numbers(value->count());
    load_as_double(value->dtype, view->bytes(), 0, numbers);
    axes = std::vector<int64_t>(numbers.begin(), numbers.end());
    return true;
  }

  // Exp(x - max(x)).
  void add_shift(int exponential, std::vector<int>& nodes) const {
    const int shift = index_.producer(at(exponential).inputs[0]);
    if (shift < 0 || at(shift).op != "Sub" || at(shift).inputs.size() != 2) return;
    const int largest = index_.producer(at(shift).inputs[1]);
    if (largest < 0 || at(largest).op != "ReduceMax" || at(largest).inputs[0] != at(shift).inputs[0]) return;
    nodes.insert(nodes.end(), {largest, shift});
  }

  std::optional<NormSite> fused_norm(int node, bool centred) const {
    const auto& p = proto(node);
    NormSite site;
    site.nodes = {node};
    site.tensor = p.output(0);
    site.centred = centred;
    site.axes = std::vector<int64_t>{int_attribute(node, "axis").value_or(-1)};
    site.to_the_end = true;
    if (p.input_size() > 1) site.scale = p.input(1);
    if (p.input_size() > 2 && centred) site.bias = p.input(2);
    site.steps = {{"result", site.tensor}};
    return site.tensor.empty() ? std::nullopt : std::optional(site);
  }

  // v / sqrt(mean(v^2) + eps), v = x or x - mean(x).
  std::optional<NormSite> decomposed_norm(int node) const {
    NormSite site;
    const auto [value, root] = quotient(node, site.nodes);
    if (root < 0 || at(root).op != "Sqrt") return std::nullopt;
    int mean = index_.producer(at(root).inputs[0]);
    int biased = -1;
    if (mean >= 0 && at(mean).op == "Add" && at(mean).inputs.size() == 2) {
      biased = mean;
      mean = index_.producer(at(biased).inputs[0]);
      if (mean < 0 || at(mean).op != "ReduceMean") mean = index_.producer(at(biased).inputs[1]);
    }
    if (mean < 0 || at(mean).op != "ReduceMean" || !axes_of(mean, site.axes)) return std::nullopt;
    const int square = index_.producer(at(mean).inputs[0]);
    if (square < 0 || at(square).inputs.empty() || at(square).inputs[0] != value || !squares(square))
      return std::nullopt;
    site.decomposed = true;
    site.tensor = at(node).outputs.front();
    site.nodes.insert(site.nodes.end(), {square, mean, root, node});
    if (biased >= 0) site.nodes.push_back(biased);
    add_centring(value, site);
    std::sort(site.nodes.begin(), site.nodes.end());
    site.steps = {{"square", at(square).outputs.front()}, {"mean", at(mean).outputs.front()}};
    if (biased >= 0) site.steps.emplace_back("biased", at(biased).outputs.front());
    site.steps.emplace_back("root", at(root).outputs.front());
    site.steps.emplace_back("result", site.tensor);
    return site;
  }

  bool squares(int node) const {
    const auto& n = at(node);
    if (n.inputs.size() != 2) return false;
    if (n.op == "Mul") return n.inputs[0] == n.inputs[1];
    if (n.op != "Pow") return false;
    return is_scalar(n.inputs[1], 2);
  }

  void add_centring(const std::string& value, NormSite& site) const {
    const int centred = index_.producer(value);
    if (centred < 0 || at(centred).op != "Sub" || at(centred).inputs.size() != 2) return;
    const int mean = index_.producer(at(centred).inputs[1]);
    if (mean < 0 || at(mean).op != "ReduceMean" || at(mean).inputs[0] != at(centred).inputs[0]) return;
    site.centred = true;
    site.nodes.insert(site.nodes.end(), {mean, centred});
  }

  const Model& model_;
  const GraphIndex& index_;
  int64_t opset_ = 0;
};

}  // namespace

std::vector<SoftmaxSite> find_softmax(const Model& model, const GraphIndex& index) {
  const Finder finder(model, index);
  std::vector<SoftmaxSite> sites;
  for (size_t i = 0; i < index.nodes().size(); ++i)
    if (auto site = finder.softmax(static_cast<int>(i))) sites.push_back(std::move(*site));
  return sites;
}

std::vector<NormSite> find_norms(const Model& model, const GraphIndex& index) {
  const Finder finder(model, index);
  std::vector<NormSite> sites;
  for (size_t i = 0; i < index.nodes().size(); ++i)
    if (auto site = finder.norm(static_cast<int>(i))) sites.push_back(std::move(*site));
  return sites;
}

std::vector<int> resolved_axes(const std::optional<std::vector<int64_t>>& axes, bool to_the_end, size_t rank) {
  std::vector<int> all(rank);
  std::iota(all.begin(), all.end(), 0);
  if (!axes || axes->empty()) return all;
  std::vector<int> resolved;
  const auto n = static_cast<int64_t>(rank);
  for (int64_t axis : *axes) {
    if (axis < -n || axis >= n) return {};
    resolved.push_back(static_cast<int>(axis < 0 ? axis + n : axis));
  }
  if (to_the_end) resolved.assign(all.begin() + resolved.front(), all.end());
  std::sort(resolved.begin(), resolved.end());
  resolved.erase(std::unique(resolved.begin(), resolved.end()), resolved.end());
  return resolved;
}

std::vector<int> other_axes(const std::vector<int>& axes, size_t rank) {
  std::vector<int> others;
  for (int axis = 0; axis < static_cast<int>(rank); ++axis)
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) others.push_back(axis);
  return others;
}

Result<Tensor> constant_value(const Model& model, const GraphIndex& index, const std::string& name) {
  const int producer = index.producer(name);
  if (producer >= 0) {
    const auto& node = model.graph().node(index.nodes()[static_cast<size_t>(producer)].proto_index);
    if (node.op_type() == "Constant")
      for (const auto& a : node.attribute())
        if (a.name() == "value") return model.tensor(a.t());
    return input_error(name, "not a constant");
  }
  for (const auto& initializer : model.graph().initializer())
    if (initializer.name() == name) return model.tensor(initializer);
  return input_error(name, "not a constant");
}

}  // namespace paritas
