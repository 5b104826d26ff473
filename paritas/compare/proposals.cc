#include "paritas/compare/proposals.h"

#include <algorithm>
#include <cmath>

#include "paritas/metrics/pair_metrics.h"

namespace paritas {
namespace {

constexpr uint64_t kFewest = 8;
constexpr double kFarthest = 0.1;

const Tensor* find(const Sample& sample, const std::string& name) {
  for (const auto& [each, tensor] : sample.tensors)
    if (each == name) return &tensor;
  return nullptr;
}

}  // namespace

Result<std::vector<PairProposal>> propose_pairs(const Sample& reference,
                                                const std::vector<std::string>& unmatched_reference,
                                                const Sample& device, const std::vector<std::string>& unmatched_device,
                                                int threads, size_t limit) {
  std::vector<PairProposal> proposals;
  size_t compared = 0;
  for (const std::string& name : unmatched_reference) {
    const Tensor* x = find(reference, name);
    if (x == nullptr || x->count() < kFewest) continue;
    PairProposal best{name, {}, INFINITY, INFINITY, {}};
    for (const std::string& candidate : unmatched_device) {
      const Tensor* y = find(device, candidate);
      if (y == nullptr || y->shape != x->shape || is_float(x->dtype) != is_float(y->dtype)) continue;
      if (++compared > limit) return proposals;
      MetricOptions options;
      options.threads = threads;
      PARITAS_ASSIGN(const PairMetrics m, compare_tensors(*x, *y, options));
      const double nmse = m.finite == m.count && !std::isnan(m.nmse) ? m.nmse : INFINITY;
      if (nmse < best.nmse) {
        best.runner_up_nmse = best.nmse;
        best.runner_up = best.device;
        best.nmse = nmse;
        best.device = candidate;
      } else if (nmse < best.runner_up_nmse) {
        best.runner_up_nmse = nmse;
        best.runner_up = candidate;
      }
    }
    if (best.nmse < kFarthest) proposals.push_back(std::move(best));
  }
  return proposals;
}

}  // namespace paritas
