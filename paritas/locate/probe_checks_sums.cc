#include <cmath>

#include "paritas/locate/probe_checks.h"
#include "paritas/metrics/pair_metrics.h"
#include "paritas/tensor/float_formats.h"

namespace paritas {
namespace {

double rms_of(const PairMetrics& m) {
  return m.finite > 0 ? m.reference_norm / std::sqrt(static_cast<double>(m.finite)) : 0;
}

Result<double> rms(const Tensor& tensor) {
  PARITAS_ASSIGN(const PairMetrics m, compare_tensors(tensor, tensor, {}));
  return rms_of(m);
}

// Products in one sum; 0: not known.
uint64_t terms_of(const std::string& op, const ::onnx::NodeProto& node, const Tensor& left, const Tensor& right) {
  int64_t terms = 0;
  if (op == "MatMul" && !left.shape.empty()) {
    terms = left.shape.back();
  } else if (op == "Gemm" && left.shape.size() == 2) {
    bool transposed = false;
    for (const auto& a : node.attribute()) transposed |= a.name() == "transA" && a.i() != 0;
    terms = left.shape[transposed ? 0 : 1];
  } else if (op == "Conv" && right.shape.size() >= 2) {
    terms = 1;  // channels of one group, times the kernel
    for (size_t i = 1; i < right.shape.size(); ++i) terms *= right.shape[i];
  }
  return terms > 0 ? static_cast<uint64_t>(terms) : 0;
}

const ProbeFigures* figures_of(const ProbeChecks& checks, const std::string& tensor) {
  for (const ProbeFigures& figures : checks.probes)
    if (figures.tensor == tensor) return &figures;
  return nullptr;
}

}  // namespace

SumEstimate estimate_sum(uint64_t terms, double left_rms, double right_rms, DType format) {
  const double rho = 0.5 * epsilon(format) / std::sqrt(8 * std::log(2.0));
  const double product = left_rms * right_rms;
  const auto k = static_cast<double>(terms);
  return {rho * std::sqrt(2.0 * k) * product, rho * product * std::sqrt(k * (k + 1) / 2)};
}

Status add_sums(const CheckInput& input, ProbeChecks& checks) {
  if (!input.storage) return {};  // nothing is known to be rounded
  const Prepared& prepared = *input.evidence.prepared;
  for (const auto& node : prepared.index.nodes()) {
    if (node.op != "MatMul" && node.op != "Gemm" && node.op != "Conv") continue;
    if (node.inputs.size() < 2 || !prepared.dependence.depends(node.outputs.front())) continue;
    auto left = input.value(node.inputs[0]);
    auto right = input.value(node.inputs[1]);
    if (!left || !right || !is_float(left->dtype) || !is_float(right->dtype)) continue;
    SumCheck check;
    check.node = node.name;
    check.op = node.op;
    check.tensor = node.outputs.front();
    check.terms = terms_of(node.op, prepared.folded.graph().node(node.proto_index), *left, *right);
    if (check.terms == 0) continue;
    const ProbeFigures* figures = figures_of(checks, check.tensor);
    if (figures == nullptr) {
      ++checks.not_probed;
      continue;
    }
    check.island = figures->island;
    check.kernel_rms = figures->kernel_rms;
    PARITAS_ASSIGN(check.left_rms, rms(*left));
    PARITAS_ASSIGN(check.right_rms, rms(*right));
    const SumEstimate estimate = estimate_sum(check.terms, check.left_rms, check.right_rms, *input.storage);
    check.operand_rms = estimate.operand_rms;
    check.accumulation_rms = estimate.accumulation_rms;
    checks.sums.push_back(std::move(check));
  }
  return {};
}

}  // namespace paritas
