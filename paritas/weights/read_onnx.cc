#include "paritas/weights/read_onnx.h"

#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "paritas/onnx/model.h"

namespace paritas {
namespace {

constexpr std::string_view kDequantised = "_DequantizeLinear_Output";  // as ONNX Runtime's quantiser calls its outputs

class OnnxWeights {
 public:
  explicit OnnxWeights(const onnx_model::Model& model) : model_(model) {
    result_.subject = model.subject();
    for (const auto& initializer : model.graph().initializer()) constants_[initializer.name()] = &initializer;
    // Some exporters write weights as Constant nodes.
    for (const auto& node : model.graph().node())
      if (node.op_type() == "Constant" && node.output_size() == 1)
        for (const auto& attribute : node.attribute())
          if (attribute.name() == "value" && attribute.has_t()) constants_[node.output(0)] = &attribute.t();
  }

  Result<Weights> run() {
    for (const auto& node : model_.graph().node())
      if (is_dequantize(node)) PARITAS_TRY(note_dequantised(node));
    for (const auto& node : model_.graph().node()) {
      if (is_dequantize(node) || node.op_type() == "QuantizeLinear") continue;
      for (int i = 0; i < node.input_size(); ++i) PARITAS_TRY(take(node, i));
    }
    return std::move(result_);
  }

 private:
  struct Dequantised {
    const ::onnx::TensorProto* codes;
    Quantisation quantisation;
    std::string name;
  };

  static bool is_dequantize(const ::onnx::NodeProto& node) { return node.op_type() == "DequantizeLinear"; }

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

  // DequantizeLinear of a constant by constants: its output is the weight's real values.
  Status note_dequantised(const ::onnx::NodeProto& node) {
    if (node.input_size() < 2 || node.output_size() != 1) return {};
    const auto *codes = constant(node.input(0)), *scale = constant(node.input(1));
    if (codes == nullptr || scale == nullptr) return {};
    Dequantised entry{codes, {}, node.output(0)};
    PARITAS_ASSIGN(entry.quantisation.scale, values(*scale));
    if (const auto* zero = node.input_size() > 2 ? constant(node.input(2)) : nullptr; zero != nullptr) {
      PARITAS_ASSIGN(const auto points, values(*zero));
      entry.quantisation.zero_point.assign(points.begin(), points.end());
    }
    entry.quantisation.zero_point.resize(entry.quantisation.scale.size(), 0);
    if (entry.quantisation.scale.size() > 1) {
      entry.quantisation.axis = 1;  // the operator's default
      for (const auto& attribute : node.attribute())
        if (attribute.name() == "axis") entry.quantisation.axis = static_cast<int>(attribute.i());
    }
    if (entry.name.size() > kDequantised.size() && std::string_view(entry.name).ends_with(kDequantised))
      entry.name.resize(entry.name.size() - kDequantised.size());
    dequantised_.emplace(node.output(0), std::move(entry));
    return {};
  }

  Status take(const ::onnx::NodeProto& node, int input) {
    const std::string& name = node.input(input);
    if (name.empty() || !taken_.insert(name).second) return {};
    const auto quantised = dequantised_.find(name);
    const auto* proto = quantised != dequantised_.end() ? quantised->second.codes : constant(name);
    if (proto == nullptr) return {};
    const auto dtype = dtype_from_onnx(proto->data_type());
    if (quantised == dequantised_.end() && (!dtype || !is_float(*dtype))) return {};
    if (node.op_type() == "Clip") {
      result_.bounds.push_back(name);
      return {};
    }
    const std::string reader = node.name().empty() ? node.output_size() > 0 ? node.output(0) : "" : node.name();
    Weight weight;
    weight.name = quantised != dequantised_.end() ? quantised->second.name : name;
    auto tensor = model_.tensor(*proto);
    if (!tensor) {
      result_.unread.emplace_back(weight.name, tensor.error().cause);
      return {};
    }
    weight.tensor = std::move(*tensor);
    if (proto->name() != weight.name) weight.stored_as = proto->name();
    if (quantised != dequantised_.end()) weight.quantisation = quantised->second.quantisation;
    weight.reader = reader;
    weight.reader_op = node.op_type();
    weight.input = input;
    result_.weights.push_back(std::move(weight));
    return {};
  }

  const onnx_model::Model& model_;
  std::unordered_map<std::string, const ::onnx::TensorProto*> constants_;
  std::unordered_map<std::string, Dequantised> dequantised_;  // by the output's name
  std::unordered_set<std::string> taken_;
  Weights result_;
};

}  // namespace

Result<Weights> weights_of_onnx(const Path& path) {
  PARITAS_ASSIGN(const auto model, onnx_model::Model::load(path));
  return OnnxWeights(model).run();
}

}  // namespace paritas
