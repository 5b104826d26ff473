#include "paritas/locate/consistency_precision.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "paritas/base/dtype.h"
#include "paritas/onnx/element_types.h"
#include "paritas/onnx/walk.h"

namespace paritas {
namespace {

using onnx_model::ElementTypes;

std::string format_of(int code) {
  if (const auto dtype = dtype_from_onnx(code)) return std::string(name(*dtype));
  return ::onnx::TensorProto::DataType_IsValid(code)
             ? ::onnx::TensorProto::DataType_Name(static_cast<::onnx::TensorProto::DataType>(code))
             : std::to_string(code);
}

// Floating-point formats that hold less than float32; integers hold numbers of their own.
bool is_small_float(int code) {
  const auto dtype = dtype_from_onnx(code);
  return dtype && is_float(*dtype) && bits(*dtype) < 32;
}

bool is_small_integer(int code) {
  const auto dtype = dtype_from_onnx(code);
  return dtype && is_integer(*dtype) && bits(*dtype) < 32;
}

bool ends_or_begins_quantised(std::string_view op) {
  return op.rfind("QLinear", 0) == 0 || op == "ConvInteger" || op == "MatMulInteger" || op == "DynamicQuantizeLinear" ||
         op == "QGemm" || op == "QAttention" || op == "DynamicQuantizeMatMul" || op == "MatMulIntegerToFloat";
}

class Scan {
 public:
  std::vector<DeclaredPrecision> run(const ::onnx::GraphProto& graph) {
    visit(graph, nullptr);
    std::vector<DeclaredPrecision> found;
    for (auto& [format, precision] : by_format_) {
      precision.format = format;
      precision.ops.assign(ops_[format].begin(), ops_[format].end());
      found.push_back(std::move(precision));
    }
    std::stable_sort(found.begin(), found.end(), [](const DeclaredPrecision& a, const DeclaredPrecision& b) {
      if (a.computed != b.computed) return a.computed;
      return a.nodes > b.nodes;
    });
    return found;
  }

 private:
  void visit(const ::onnx::GraphProto& graph, const ElementTypes* outer) {
    const ElementTypes types(graph, outer);
    std::set<std::string> constants;
    for (const auto& tensor : graph.initializer()) {
      constants.insert(tensor.name());
      if (is_small_float(tensor.data_type())) ++by_format_[format_of(tensor.data_type())].constants;
    }
    for (const auto& node : graph.node()) {
      if (node.op_type() == "Constant") {
        for (const auto& output : node.output()) {
          constants.insert(output);
          if (is_small_float(types.of(output))) ++by_format_[format_of(types.of(output))].constants;
        }
        continue;
      }
      visit(node, types, constants);
      for (const auto* body : onnx_model::bodies_of(node)) visit(*body, &types);
    }
  }

  void visit(const ::onnx::NodeProto& node, const ElementTypes& types, const std::set<std::string>& constants) {
    const std::string& op = node.op_type();
    if (op == "QuantizeLinear" && node.output_size() > 0) return add(node, types.of(node.output(0)), true);
    if (op == "DequantizeLinear" && node.input_size() > 0) {
      // Of a constant: weights that are kept so. Of a tensor: the numbers went through these codes.
      const int code = types.of(node.input(0));
      const bool weights = constants.count(node.input(0)) != 0;
      if (weights) ++by_format_[format_of(code)].constants;
      return add(node, code, !weights);
    }
    if (ends_or_begins_quantised(op)) {
      for (const auto& input : node.input())
        if (is_small_integer(types.of(input))) return add(node, types.of(input), true);
      return add(node, ::onnx::TensorProto::UINT8, true);
    }
    std::optional<int> small;
    for (const auto& output : node.output())
      if (is_small_float(types.of(output))) small = types.of(output);
    if (small) return add(node, *small, true);
    for (const auto& input : node.input())
      if (is_small_float(types.of(input))) return add(node, types.of(input), constants.count(input) == 0);
  }

  void add(const ::onnx::NodeProto& node, int code, bool computed) {
    const std::string format = format_of(code);
    DeclaredPrecision& precision = by_format_[format];
    ++precision.nodes;
    precision.computed = precision.computed || computed;
    ops_[format].insert(node.op_type());
  }

  std::map<std::string, DeclaredPrecision> by_format_;
  std::map<std::string, std::set<std::string>> ops_;
};

}  // namespace

std::vector<DeclaredPrecision> declared_precision(const onnx_model::Model& model) { return Scan().run(model.graph()); }

}  // namespace paritas
