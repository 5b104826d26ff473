#include "paritas/explain/network_onnx.h"

#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "paritas/onnx/model.h"

namespace paritas {
namespace {

class OnnxNetwork {
 public:
  explicit OnnxNetwork(const onnx_model::Model& model) : model_(model) {
    network_.subject = model.subject();
    for (const auto& initializer : model.graph().initializer()) constants_[initializer.name()] = &initializer;
    for (const auto& node : model.graph().node())
      if (node.op_type() == "Constant" && node.output_size() == 1)
        for (const auto& attribute : node.attribute())
          if (attribute.name() == "value" && attribute.has_t()) constants_[node.output(0)] = &attribute.t();
  }

  Result<Network> run() {
    for (const auto& node : model_.graph().node()) {
      if (node.op_type() == "QuantizeLinear") PARITAS_TRY(add_quantiser(node));
      if (node.op_type() == "DequantizeLinear") add_dequantised(node);
    }
    for (const auto& input : model_.graph().input())
      if (constants_.count(input.name()) == 0)
        network_.layers.push_back({input.name(), "input", {}, value_of(input.name()), 1, {}, {}});
    for (const auto& node : model_.graph().node()) PARITAS_TRY(add_layer(node));
    return std::move(network_);
  }

 private:
  const ::onnx::TensorProto* constant(const std::string& name) const {
    const auto found = constants_.find(name);
    return found == constants_.end() ? nullptr : found->second;
  }

  Result<std::vector<double>> values(const ::onnx::TensorProto& proto) const {
    PARITAS_ASSIGN(const Tensor tensor, model_.tensor(proto));
    PARITAS_ASSIGN(const TensorView view, TensorView::of(tensor));
    std::vector<double> result(view.count());
    load_as_double(view.dtype(), view.bytes(), 0, result);
    return result;
  }

  size_t value_of(const std::string& tensor) {
    const auto [found, added] = by_tensor_.emplace(tensor, network_.values.size());
    if (added) network_.values.push_back({tensor, {}, {}, {}, {}});
    return found->second;
  }

  // Of a value that is computed, by constants. Those that are computed themselves are not followed.
  Status add_quantiser(const ::onnx::NodeProto& node) {
    if (node.input_size() < 2 || node.output_size() != 1 || constant(node.input(0)) != nullptr) return {};
    const auto* scale = constant(node.input(1));
    if (scale == nullptr || by_tensor_.count(node.input(0)) != 0) return {};
    Quantisation q;
    PARITAS_ASSIGN(q.scale, values(*scale));
    std::optional<DType> type = DType::kU8;  // the operator's default
    if (const auto* zero = node.input_size() > 2 ? constant(node.input(2)) : nullptr; zero != nullptr) {
      PARITAS_ASSIGN(const auto points, values(*zero));
      q.zero_point.assign(points.begin(), points.end());
      type = dtype_from_onnx(zero->data_type());
    } else if (node.input_size() > 2 && !node.input(2).empty()) {
      return {};
    }
    if (!type || !is_integer(*type)) return {};  // a float format has no steps
    q.zero_point.resize(q.scale.size(), 0);
    if (q.scale.size() > 1) {
      q.axis = 1;
      for (const auto& attribute : node.attribute())
        if (attribute.name() == "axis") q.axis = static_cast<int>(attribute.i());
    }
    const size_t value = value_of(node.input(0));
    network_.values[value].quantisation = std::move(q);
    network_.values[value].code_type = type;
    network_.values[value].codes = node.output(0);
    by_tensor_[node.output(0)] = value;
    return {};
  }

  // The graph is in topological order: its quantiser came before.
  void add_dequantised(const ::onnx::NodeProto& node) {
    if (node.input_size() < 1 || node.output_size() != 1) return;
    if (constant(node.input(0)) != nullptr) {
      dequantised_constants_.insert(node.output(0));
      return;
    }
    const auto found = by_tensor_.find(node.input(0));
    if (found == by_tensor_.end()) return;
    by_tensor_[node.output(0)] = found->second;
    std::string& real = network_.values[found->second].real;
    if (real.empty()) real = node.output(0);
  }

  bool is_constant(const std::string& tensor) const {
    return constants_.count(tensor) != 0 || dequantised_constants_.count(tensor) != 0;
  }

  static int64_t attribute(const ::onnx::NodeProto& node, const char* name, int64_t otherwise) {
    for (const auto& a : node.attribute())
      if (a.name() == name) return a.i();
    return otherwise;
  }

  static std::optional<int> weight_axis(const ::onnx::NodeProto& node) {
    if (node.op_type() == "Conv") return 0;
    if (node.op_type() == "Gemm") return attribute(node, "transB", 0) != 0 ? 0 : 1;
    if (node.op_type() == "MatMul") return -1;
    return std::nullopt;  // ConvTranspose: groups lie across its axes
  }

  // Of Relu and Clip with constant bounds.
  Result<std::optional<Bounds>> bounds(const ::onnx::NodeProto& node) const {
    const std::string text = node.op_type() + " " + (node.name().empty() ? node.output(0) : node.name());
    if (node.op_type() == "Relu") return Bounds{0, std::nullopt, text};
    if (node.op_type() != "Clip") return std::nullopt;
    Bounds result{std::nullopt, std::nullopt, text};
    for (const auto& a : node.attribute()) {  // up to opset 10
      if (a.name() == "min") result.low = static_cast<double>(a.f());
      if (a.name() == "max") result.high = static_cast<double>(a.f());
    }
    for (int i = 1; i < 3 && i < node.input_size(); ++i) {
      const auto* proto = constant(node.input(i));
      if (proto == nullptr) continue;
      PARITAS_ASSIGN(const auto read, values(*proto));
      if (read.size() == 1) (i == 1 ? result.low : result.high) = read[0];
    }
    return result;
  }

  Status add_layer(const ::onnx::NodeProto& node) {
    const std::string& op = node.op_type();
    if (op == "QuantizeLinear" || op == "DequantizeLinear" || op == "Constant" || node.output_size() == 0) return {};
    NetworkLayer layer;
    layer.name = node.name().empty() ? node.output(0) : node.name();
    layer.op = op;
    for (const auto& input : node.input())
      if (!input.empty() && !is_constant(input)) layer.inputs.push_back(value_of(input));
    layer.output = value_of(node.output(0));
    layer.outputs = static_cast<uint64_t>(node.output_size());
    layer.weight_axis = weight_axis(node);
    PARITAS_ASSIGN(layer.bounds, bounds(node));
    layer.concat = op == "Concat";
    layer.add = op == "Add" && layer.inputs.size() == 2;
    network_.layers.push_back(std::move(layer));
    return {};
  }

  const onnx_model::Model& model_;
  std::unordered_map<std::string, const ::onnx::TensorProto*> constants_;
  std::unordered_set<std::string> dequantised_constants_;
  std::unordered_map<std::string, size_t> by_tensor_;  // before, codes or real -> value
  Network network_;
};

}  // namespace

Result<Network> network_of_onnx(const Path& path) {
  PARITAS_ASSIGN(const auto model, onnx_model::Model::load(path));
  return OnnxNetwork(model).run();
}

}  // namespace paritas
