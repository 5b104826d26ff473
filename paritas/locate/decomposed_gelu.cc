#include <algorithm>
#include <cmath>
#include <numbers>

#include "paritas/locate/constants.h"
#include "paritas/locate/pieces.h"

namespace paritas {
namespace {

using Node = onnx_model::GraphIndex::Node;

class Recognition {
 public:
  explicit Recognition(const Prepared& prepared) : prepared_(prepared) {}

  Result<std::vector<DecomposedGelu>> run() {
    for (const auto& [name, proto] : constants_of(prepared_.folded.graph())) constants_.emplace(name, proto);
    std::vector<DecomposedGelu> found;
    const auto& nodes = prepared_.index.nodes();
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].op != "Erf") continue;
      if (auto gelu = around(static_cast<int>(i))) found.push_back(std::move(*gelu));
    }
    return found;
  }

 private:
  const Node& node(int i) const { return prepared_.index.nodes()[static_cast<size_t>(i)]; }

  // A constant with this value in every element.
  bool is_constant(const std::string& name, double value) const {
    const auto found = constants_.find(name);
    if (found == constants_.end()) return false;
    const auto tensor = prepared_.folded.tensor(*found->second);
    if (!tensor || !is_float(tensor->dtype) || tensor->count() != 1) return false;
    const auto view = TensorView::of(*tensor);
    if (!view) return false;
    double held = 0;
    load_as_double(view->dtype(), view->bytes(), 0, {&held, 1});
    // float16 models hold the constant to three digits.
    return std::abs(held - value) <= 1e-3 * std::abs(value);
  }

  // The other operand of a two-input node.
  static std::string other(const Node& n, const std::string& operand) {
    if (n.inputs.size() != 2) return {};
    return n.inputs[0] == operand ? n.inputs[1] : n.inputs[1] == operand ? n.inputs[0] : std::string();
  }

  int only_consumer(const std::string& tensor, const std::string& op) const {
    const auto& consumers = prepared_.index.consumers(tensor);
    if (consumers.size() != 1 || prepared_.index.is_output(tensor)) return -1;
    return node(consumers.front()).op == op ? consumers.front() : -1;
  }

  // x of erf(x / sqrt 2).
  std::string scaled(int producer) const {
    if (producer < 0) return {};
    const Node& n = node(producer);
    if (n.inputs.size() != 2) return {};
    if (n.op == "Div" && is_constant(n.inputs[1], std::numbers::sqrt2)) return n.inputs[0];
    if (n.op != "Mul") return {};
    for (size_t i = 0; i < 2; ++i)
      if (is_constant(n.inputs[i], 1 / std::numbers::sqrt2)) return n.inputs[1 - i];
    return {};
  }

  std::optional<DecomposedGelu> around(int erf) const {
    const int scale = prepared_.index.producer(node(erf).inputs.front());
    DecomposedGelu gelu;
    gelu.input = scaled(scale);
    if (gelu.input.empty() || only_consumer(node(scale).outputs.front(), "Erf") != erf) return std::nullopt;
    const std::string erf_output = node(erf).outputs.front();
    const int add = only_consumer(erf_output, "Add");
    if (add < 0 || !is_constant(other(node(add), erf_output), 1)) return std::nullopt;
    gelu.nodes = {scale, erf, add};
    // Multiplied by x and by a half, in either order, or by a product of both.
    bool by_x = false, by_half = false;
    std::string at = node(add).outputs.front();
    while (!by_x || !by_half) {
      const int mul = only_consumer(at, "Mul");
      if (mul < 0) return std::nullopt;
      const std::string factor = other(node(mul), at);
      const int half = prepared_.index.producer(factor);
      if (!by_x && factor == gelu.input) {
        by_x = true;
      } else if (!by_half && is_constant(factor, 0.5)) {
        by_half = true;
      } else if (!by_x && !by_half && half >= 0 && node(half).op == "Mul" && only_consumer(factor, "Mul") == mul &&
                 is_constant(other(node(half), gelu.input), 0.5)) {
        by_x = by_half = true;
        gelu.nodes.push_back(half);
      } else {
        return std::nullopt;
      }
      gelu.nodes.push_back(mul);
      at = node(mul).outputs.front();
    }
    std::sort(gelu.nodes.begin(), gelu.nodes.end());
    return gelu;
  }

  const Prepared& prepared_;
  std::unordered_map<std::string, const ::onnx::TensorProto*> constants_;
};

}  // namespace

Result<std::vector<DecomposedGelu>> find_decomposed_gelus(const Prepared& prepared) {
  return Recognition(prepared).run();
}

}  // namespace paritas
