#include "paritas/runtime/sim/weights.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "paritas/onnx/op_facts.h"
#include "paritas/onnx/walk.h"
#include "paritas/runtime/sim/integers.h"

namespace paritas::sim {
namespace {

using onnx_model::Model;

// An operand that holds weights, and the axis of its output channels.
struct Operand {
  int input = 0;
  std::optional<int> axis;  // from the end when negative
};

bool is_set(const ::onnx::NodeProto& node, const char* attribute) {
  return std::any_of(node.attribute().begin(), node.attribute().end(),
                     [&](const auto& each) { return each.name() == attribute && each.i() != 0; });
}

std::vector<Operand> weight_operands(const ::onnx::NodeProto& node) {
  if (!onnx_model::is_onnx_domain(node)) return {};
  const std::string& op = node.op_type();
  if (op == "Conv") return {{1, 0}};
  if (op == "ConvTranspose") return {{1, 1}};  // with groups, those share channels
  if (op == "Gemm") return {{0, std::nullopt}, {1, is_set(node, "transB") ? 0 : 1}};
  if (op == "MatMul") return {{0, std::nullopt}, {1, -1}};
  return {};
}

std::vector<float> floats_of(const TensorView& view) {
  std::vector<float> values(view.count());
  if (!values.empty()) __builtin_memcpy(values.data(), view.bytes().data(), values.size() * sizeof(float));
  return values;
}

// Every index of `axis` has a scale; elements of one are `inner` long, and lie `inner * channels` apart.
void round_channels(std::vector<float>& values, size_t channels, size_t inner) {
  for (size_t channel = 0; channel < channels; ++channel) {
    float most = 0;
    for (size_t at = channel * inner; at < values.size(); at += channels * inner)
      for (size_t i = at; i < at + inner; ++i) most = std::max(most, std::abs(values[i]));
    const Steps steps = steps_of(-most, most, DType::kI8, /*symmetric=*/true);
    for (size_t at = channel * inner; at < values.size(); at += channels * inner) {
      const std::span<float> part(values.data() + at, inner);
      fake_quantise(part, part, steps);
    }
  }
}

class Weights {
 public:
  Weights(const Model& model, bool per_channel, const onnx_model::ValueDependence& dependence)
      : per_channel_(per_channel), dependence_(dependence), result_(model.clone()), names_(result_.graph()) {
    for (const auto& tensor : model.graph().initializer()) constants_[tensor.name()] = &tensor;
    for (const auto& node : model.graph().node())
      if (node.op_type() == "Constant" && node.attribute_size() == 1 && node.attribute(0).has_t())
        constants_[node.output(0)] = &node.attribute(0).t();
  }

  Result<Model> run() {
    for (::onnx::NodeProto& node : *result_.graph().mutable_node())
      for (const Operand& operand : weight_operands(node)) {
        if (operand.input >= node.input_size() || dependence_.depends(node.input(operand.input))) continue;
        PARITAS_ASSIGN(const std::string rounded, rounded_copy(node, operand));
        node.set_input(operand.input, rounded);
      }
    drop_unread();
    return std::move(result_);
  }

 private:
  Result<std::string> rounded_copy(const ::onnx::NodeProto& node, const Operand& operand) {
    const std::string weights = node.input(operand.input);
    const auto constant = constants_.find(weights);
    const std::string what = fmt::format("\"{}\", weights of {} \"{}\",", weights, node.op_type(), node.name());
    if (constant == constants_.end())
      return input_error(result_.subject(), fmt::format("{} are computed in the graph from constants", what),
                         "fold constants first");
    PARITAS_ASSIGN(const Tensor tensor, result_.tensor(*constant->second));
    if (tensor.dtype != DType::kF32)
      return input_error(result_.subject(), fmt::format("{} are {}: only float32 networks are simulated with integers",
                                                        what, name(tensor.dtype)));
    const auto rank = static_cast<int>(tensor.shape.size());
    std::optional<int> axis;
    if (per_channel_ && operand.axis && rank > 1) axis = *operand.axis < 0 ? rank + *operand.axis : *operand.axis;
    const auto key = std::pair(weights, axis.value_or(-1));
    if (const auto made = made_.find(key); made != made_.end()) return made->second;
    PARITAS_ASSIGN(const TensorView view, TensorView::of(tensor));
    std::vector<float> values = floats_of(view);
    if (!std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); }))
      return input_error(result_.subject(), fmt::format("{} hold a NaN or an infinity: no scale covers it", what));
    size_t channels = 1, inner = values.size();
    if (axis) {
      channels = static_cast<size_t>(tensor.shape[static_cast<size_t>(*axis)]);
      inner = 1;
      for (size_t i = static_cast<size_t>(*axis) + 1; i < tensor.shape.size(); ++i)
        inner *= static_cast<size_t>(tensor.shape[i]);
    }
    if (!values.empty()) round_channels(values, channels, inner);
    const std::string label = names_.make(weights + "__paritas_int8");
    result_.add_initializer(label, tensor_from_values(DType::kF32, tensor.shape, values));
    made_[key] = label;
    return label;
  }

  // What was weights only would be kept in memory twice.
  void drop_unread() {
    std::unordered_map<std::string, bool> read;
    for (const auto& node : result_.graph().node())
      for (const auto& input : node.input()) read[input] = true;
    for (const auto& output : result_.graph().output()) read[output.name()] = true;
    const auto gone = [&](const std::string& name) {
      return read.count(name) == 0 &&
             std::any_of(made_.begin(), made_.end(), [&](const auto& each) { return each.first.first == name; });
    };
    auto& initializers = *result_.graph().mutable_initializer();
    for (int i = initializers.size() - 1; i >= 0; --i)
      if (gone(initializers.Get(i).name())) remove_input_and_value(initializers, i);
  }

  template <class Field>
  void remove_input_and_value(Field& initializers, int at) {
    const std::string label = initializers.Get(at).name();
    initializers.DeleteSubrange(at, 1);
    auto& inputs = *result_.graph().mutable_input();
    for (int i = inputs.size() - 1; i >= 0; --i)
      if (inputs.Get(i).name() == label) inputs.DeleteSubrange(i, 1);
  }

  const bool per_channel_;
  const onnx_model::ValueDependence& dependence_;
  Model result_;
  onnx_model::UniqueNames names_;
  std::unordered_map<std::string, const ::onnx::TensorProto*> constants_;
  std::map<std::pair<std::string, int>, std::string> made_;
};

}  // namespace

Result<Model> round_weights(const Model& model, bool per_channel, const onnx_model::ValueDependence& dependence) {
  return Weights(model, per_channel, dependence).run();
}

}  // namespace paritas::sim
