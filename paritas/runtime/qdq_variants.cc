#include "paritas/runtime/qdq_variants.h"

#include <algorithm>

#include <fmt/format.h>

#include "paritas/onnx/walk.h"

namespace paritas {
namespace {

bool holds_pairs(const ::onnx::GraphProto& graph) {
  return std::any_of(graph.node().begin(), graph.node().end(), [](const ::onnx::NodeProto& node) {
    if (node.op_type() == "QuantizeLinear" || node.op_type() == "DequantizeLinear") return true;
    const auto bodies = onnx_model::bodies_of(node);
    return std::any_of(bodies.begin(), bodies.end(), [](const auto* body) { return holds_pairs(*body); });
  });
}

}  // namespace

bool holds_qdq_pairs(const onnx_model::Model& model) { return holds_pairs(model.graph()); }

std::optional<std::string> quant_qdq_setting(const Target& target) {
  if (target.runtime != RuntimeKind::kOnnxRuntime) return std::nullopt;
  if (const auto given = target.session_entries.find(kDisableQuantQdq); given != target.session_entries.end())
    return given->second;
  if (target.capabilities.device || !target.provider_library.empty()) return std::nullopt;
  return target.optimisation == "none" ? "1" : "0";
}

bool computes_pairs_in_float(const Target& target) {
  // The pairs are fused at level "extended" and above.
  return quant_qdq_setting(target) == "1" || target.optimisation == "none" || target.optimisation == "basic";
}

Target other_qdq_variant(const Target& target) {
  Target other = target;
  const bool fuse = computes_pairs_in_float(target);
  other.optimisation = fuse ? "all" : "none";
  other.session_entries[kDisableQuantQdq] = fuse ? "0" : "1";
  return other;
}

std::string qdq_variant_text(const Target& target) {
  return fmt::format("optimisation {}, {} {}: {}", target.optimisation, kDisableQuantQdq,
                     quant_qdq_setting(target).value_or("unset"),
                     computes_pairs_in_float(target) ? "QDQ pairs computed in float as written"
                                                     : "QDQ pairs fused into integer kernels");
}

}  // namespace paritas
