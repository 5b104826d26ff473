// Local probes in depth: what evidence and rows say beyond the bare local errors. Nothing is run here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paritas/locate/evidence.h"
#include "paritas/locate/probe_checks_types.h"
#include "paritas/locate/types.h"

namespace paritas {

Result<ProbeChecks> check_probes(const Evidence& evidence, const std::vector<NodeRow>& rows,
                                 std::optional<DType> storage, int threads);

// The parts, as pure functions.

// |sum - 1| over rows along `axes` (resolved) of the device's and the reference's result, and of the reference rounded
// to `storage`. Fills everything but the names. Shapes must be equal.
Result<SoftmaxCheck> check_softmax_sums(const Tensor& reference, const Tensor& device, const std::vector<int>& axes,
                                        std::optional<DType> storage);

// See ImpliedStatistic. Scale and bias (broadcast over the last dimensions) are taken out first, where given; elements
// of scale 0 do not count.
Result<ImpliedStatistic> fit_statistic(const Tensor& reference, const Tensor& device, const std::vector<int>& axes,
                                       bool shift, const Tensor* scale, const Tensor* bias);

Result<RelativeError> relative_error(const Tensor& reference, const Tensor& device);

// Estimated rms errors of a sum of `terms` products whose factors have these rms values, independent and of mean zero.
// u: unit roundoff of `format` (half its epsilon).
//   One rounding of a value whose mantissa is log-uniform costs rho = u / sqrt(8 ln 2) = 0.425 u of it (rms): an error
//   uniform in +-u on a mantissa m in [1, 2), E[1 / m^2] = 3 / (8 ln 2).
//   operands      rho sqrt(2) s sqrt(K), s = left_rms right_rms: each product is off by two roundings
//   accumulation  rho s sqrt(K (K + 1) / 2): the k-th partial sum has rms s sqrt(k), and is rounded once
// So accumulation grows as K, operands (and the result itself) as sqrt(K). Model: the rounding errors of recursive
// summation as independent variables of mean zero (N. J. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd
// ed., 2002, 2.8 and 4.5; N. J. Higham and T. Mary, "A new approach to probabilistic rounding error analysis", SIAM J.
// Sci. Comput. 41, 2019). Not a bound, and not what a kernel with wider accumulators or blocks does.
struct SumEstimate {
  double operand_rms = 0;
  double accumulation_rms = 0;
};
SumEstimate estimate_sum(uint64_t terms, double left_rms, double right_rms, DType format);

// Every module path of the rows' node names with its figures, in order of first appearance, outer ones first.
std::vector<BlockFigures> roll_up(const std::vector<NodeRow>& rows, const onnx_model::GraphIndex& index);

// "/dec/layers.0/n3" for "/dec/layers.0/n3/Pow"; empty: the name has no path.
std::string module_path(const std::string& node);

// Internal: the rows of each kind.
struct CheckInput {
  const Evidence& evidence;
  const std::vector<NodeRow>& rows;
  std::optional<DType> storage;
  const NodeRow* row(const std::string& tensor) const;   // nullptr: none
  const Tensor* local(const std::string& tensor) const;  // of the reference's shape; nullptr: not probed
  // Reference tensor or constant.
  Result<Tensor> value(const std::string& tensor) const;
  // Name of the island that makes `tensor`, and whether all of `nodes` are in it.
  std::string island(const std::string& tensor, const std::vector<int>& nodes, bool& whole) const;
};
Status add_softmax(const CheckInput& input, ProbeChecks& checks);
Status add_norms(const CheckInput& input, ProbeChecks& checks);
Status add_sums(const CheckInput& input, ProbeChecks& checks);
Result<std::vector<ProbeFigures>> probe_figures(const CheckInput& input, int threads);

}  // namespace paritas
