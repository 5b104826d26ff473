#include "paritas/locate/decisions.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include <fmt/format.h>

namespace paritas {
namespace {

// Operators that make integers from floats without deciding anything: their integers are numbers, and a wrong one (an
// index computed in a format that is too coarse) is an error, not a near tie.
const std::unordered_set<std::string>& numeric_ops() {
  static const std::unordered_set<std::string> ops = {"QuantizeLinear", "DynamicQuantizeLinear",
                                                      "com.microsoft::QuantizeLinear", "Cast", "CastLike"};
  return ops;
}

// All values as int64 (bool and every integer type; uint64 beyond 2^63 wraps, which equality does not mind).
Result<std::vector<int64_t>> integers(const Tensor& tensor) {
  PARITAS_ASSIGN(TensorView view, TensorView::of(tensor));
  std::vector<int64_t> values(view.count());
  auto copy = [&]<class T>(T) {
    for (size_t i = 0; i < values.size(); ++i) {
      T value;
      __builtin_memcpy(&value, view.bytes().data() + i * sizeof(T), sizeof(T));
      values[i] = static_cast<int64_t>(value);
    }
  };
  switch (tensor.dtype) {
    case DType::kBool:
    case DType::kU8:
      copy(uint8_t{});
      break;
    case DType::kI8:
      copy(int8_t{});
      break;
    case DType::kI16:
      copy(int16_t{});
      break;
    case DType::kU16:
      copy(uint16_t{});
      break;
    case DType::kI32:
      copy(int32_t{});
      break;
    case DType::kU32:
      copy(uint32_t{});
      break;
    case DType::kI64:
      copy(int64_t{});
      break;
    case DType::kU64:
      copy(uint64_t{});
      break;
    default:
      return runtime_error("", fmt::format("{} is not an integer type", name(tensor.dtype)));
  }
  return values;
}

// Elements of `reference` that `device` lacks, counted with multiplicity.
uint64_t missing_picks(std::vector<int64_t> reference, std::vector<int64_t> device) {
  std::sort(reference.begin(), reference.end());
  std::sort(device.begin(), device.end());
  std::vector<int64_t> lacking;
  std::set_difference(reference.begin(), reference.end(), device.begin(), device.end(), std::back_inserter(lacking));
  return lacking.size();
}

}  // namespace

std::vector<DecisionPoint> find_decisions(const Prepared& prepared,
                                          const std::unordered_map<std::string, Tensor>& reference) {
  auto is_float_tensor = [&](const std::string& name) {
    auto it = reference.find(name);
    return it != reference.end() && is_float(it->second.dtype);
  };
  std::vector<DecisionPoint> points;
  const auto& nodes = prepared.index.nodes();
  for (size_t i = 0; i < nodes.size(); ++i) {
    const auto& node = nodes[i];
    if (numeric_ops().count(node.op) != 0) continue;
    const bool reads_float = std::any_of(node.inputs.begin(), node.inputs.end(), is_float_tensor) ||
                             std::any_of(node.captures.begin(), node.captures.end(), is_float_tensor);
    if (!reads_float) continue;
    for (const std::string& output : node.outputs) {
      auto it = reference.find(output);
      if (it == reference.end() || is_float(it->second.dtype) || !prepared.dependence.depends(output)) continue;
      if (prepared.index.consumers(output).empty() && !prepared.index.is_output(output)) continue;  // decides nothing
      points.push_back({static_cast<int>(i), output});
    }
  }
  return points;
}

Result<DecisionReport> compare_decision(const onnx_model::GraphIndex::Node& node, const std::string& tensor,
                                        const Tensor& reference, const Tensor& device) {
  DecisionReport report;
  report.node = node.name;
  report.op = node.op;
  report.tensor = tensor;
  report.count = reference.count();
  if (reference.shape != device.shape) {  // NonZero and its like: the number of picks itself differs
    report.moved = std::max<uint64_t>(1, std::max(reference.count(), device.count()));
    report.picks = report.moved;
    return report;
  }
  PARITAS_ASSIGN(auto x, integers(reference));
  PARITAS_ASSIGN(auto y, integers(device));
  for (size_t i = 0; i < x.size(); ++i) report.moved += x[i] != y[i];
  if (reference.dtype == DType::kBool || report.moved == 0) {
    report.picks = report.moved;
    return report;
  }
  const size_t row = reference.shape.empty() ? 1 : static_cast<size_t>(std::max<int64_t>(1, reference.shape.back()));
  for (size_t at = 0; at + row <= x.size(); at += row) {
    const auto first = static_cast<std::ptrdiff_t>(at), last = static_cast<std::ptrdiff_t>(at + row);
    report.picks += missing_picks({x.begin() + first, x.begin() + last}, {y.begin() + first, y.begin() + last});
  }
  return report;
}

Result<onnx_model::Model> feed_from_reference(const onnx_model::Model& model, const std::vector<std::string>& tensors,
                                              const std::unordered_map<std::string, Tensor>& reference,
                                              NamedTensors& inputs) {
  std::map<std::string, onnx_model::TensorType> types;
  for (const std::string& tensor : tensors) {
    const Tensor& value = reference.at(tensor);
    types[tensor] = {value.dtype, value.shape};
  }
  if (types.empty()) return model.clone();
  PARITAS_ASSIGN(auto fed, onnx_model::feed_tensors(model, types));
  for (const auto& [tensor, input] : fed.feed_names) inputs.emplace_back(input, reference.at(tensor));
  return std::move(fed.model);
}

std::vector<bool> nodes_behind(const onnx_model::GraphIndex& index, const std::vector<std::string>& tensors) {
  std::vector<bool> behind(index.nodes().size(), false);
  std::unordered_set<std::string> reached(tensors.begin(), tensors.end());
  for (size_t i = 0; i < index.nodes().size(); ++i) {  // topological order: one pass is enough
    const auto& node = index.nodes()[i];
    auto hit = [&](const std::string& name) { return reached.count(name) != 0; };
    if (!std::any_of(node.inputs.begin(), node.inputs.end(), hit) &&
        !std::any_of(node.captures.begin(), node.captures.end(), hit))
      continue;
    behind[i] = true;
    reached.insert(node.outputs.begin(), node.outputs.end());
  }
  return behind;
}

}  // namespace paritas
