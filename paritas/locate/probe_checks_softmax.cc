#include <algorithm>
#include <cmath>

#include "paritas/locate/graph_patterns.h"
#include "paritas/locate/probe_checks.h"
#include "paritas/metrics/groups.h"
#include "paritas/metrics/pair_metrics.h"
#include "paritas/tensor/float_formats.h"

namespace paritas {
namespace {

// Row sums, in double, of the values as they are or rounded.
Result<std::vector<double>> row_sums(const Tensor& tensor, const std::vector<int>& row_axes,
                                     std::optional<DType> rounded) {
  PARITAS_ASSIGN(const TensorView view, TensorView::of(tensor));
  GroupWalk walk(tensor.shape, row_axes);
  std::vector<double> sums(walk.groups(), 0.0), values(kBlockElements);
  for (uint64_t first = 0; first < view.count(); first += kBlockElements) {
    const auto block = std::span(values).first(std::min<uint64_t>(kBlockElements, view.count() - first));
    load_as_double(view.dtype(), view.bytes(), first, block);
    if (rounded) round_to_format(block, block, *rounded, Overflow::kInfinity);
    for (double value : block) {
      sums[walk.group()] += value;
      walk.next();
    }
  }
  return sums;
}

SumError error_of(const std::vector<double>& sums, uint64_t& broken) {
  SumError error;
  uint64_t counted = 0;
  for (double sum : sums) {
    if (!std::isfinite(sum)) {
      ++broken;
      continue;
    }
    ++counted;
    error.max = std::max(error.max, std::abs(sum - 1));
    error.mean += std::abs(sum - 1);
  }
  if (counted > 0) error.mean /= static_cast<double>(counted);
  return error;
}

}  // namespace

Result<SoftmaxCheck> check_softmax_sums(const Tensor& reference, const Tensor& device, const std::vector<int>& axes,
                                        std::optional<DType> storage) {
  SoftmaxCheck check;
  check.axes = axes;
  const auto rows = other_axes(axes, reference.shape.size());
  uint64_t unused = 0;
  PARITAS_ASSIGN(const auto of_device, row_sums(device, rows, {}));
  PARITAS_ASSIGN(const auto of_reference, row_sums(reference, rows, {}));
  check.rows = of_reference.size();
  check.device = error_of(of_device, check.broken_rows);
  check.reference = error_of(of_reference, unused);
  if (storage) {
    PARITAS_ASSIGN(const auto stored, row_sums(reference, rows, storage));
    check.storage = error_of(stored, unused);
  }
  return check;
}

Status add_softmax(const CheckInput& input, ProbeChecks& checks) {
  const auto& prepared = *input.evidence.prepared;
  for (const SoftmaxSite& site : find_softmax(prepared.folded, prepared.index)) {
    auto reference = input.evidence.reference.find(site.tensor);
    if (reference == input.evidence.reference.end() || !prepared.dependence.depends(site.tensor)) continue;
    const Tensor* device = input.local(site.tensor);
    const auto axes = resolved_axes(site.axes, site.to_the_end, reference->second.shape.size());
    if (device == nullptr || axes.empty()) {
      ++checks.not_probed;
      continue;
    }
    PARITAS_ASSIGN(auto check, check_softmax_sums(reference->second, *device, axes, input.storage));
    check.node = prepared.index.nodes()[static_cast<size_t>(site.nodes.back())].name;
    check.tensor = site.tensor;
    check.decomposed = site.decomposed;
    check.island = input.island(site.tensor, site.nodes, check.whole);
    checks.softmax.push_back(std::move(check));
  }
  return {};
}

}  // namespace paritas
