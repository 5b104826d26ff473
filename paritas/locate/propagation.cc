#include "paritas/locate/propagation.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace paritas {

bool explained_by_storage(const PairMetrics& metrics) {
  // Twice the baseline: the device rounds the result once, and its inputs were rounded as well.
  return metrics.storage && metrics.storage->representable() && metrics.nonfinite.device_only == 0 &&
         metrics.max_abs <= 2 * metrics.storage->max_abs;
}

bool diverges(const PairMetrics& metrics) {
  if (metrics.nonfinite.device_only > 0) return true;
  if (metrics.count == 0 || metrics.differing == 0) return false;
  // Written so that NaN (nothing finite to compare) diverges.
  return !(metrics.cosine >= kDivergenceCosine && std::abs(metrics.scale_ratio - 1) <= kDivergenceScale);
}

bool deviates(const PairMetrics& metrics) { return diverges(metrics) && !explained_by_storage(metrics); }

std::unordered_set<std::string> reaching(const std::vector<NodeRow>& rows, const onnx_model::GraphIndex& index,
                                         const std::unordered_set<std::string>& sinks,
                                         const std::unordered_set<std::string>& fed) {
  std::unordered_map<std::string, const NodeRow*> by_tensor;
  for (const NodeRow& row : rows) by_tensor.emplace(row.tensor, &row);
  auto open = [&](const std::string& tensor) {
    auto it = by_tensor.find(tensor);
    if (it == by_tensor.end() || it->second->decision) return false;
    const PairMetrics* metrics = it->second->best_accumulated();
    if (metrics == nullptr) return true;
    return is_float(it->second->dtype) ? diverges(*metrics) : metrics->differing > 0;
  };
  std::unordered_set<std::string> found;
  // Backwards in topological order: a tensor reaches a sink when it is one, or feeds a node one of whose outputs does.
  for (size_t i = index.nodes().size(); i-- > 0;) {
    for (const std::string& output : index.nodes()[i].outputs) {
      if (sinks.count(output) != 0) {
        found.insert(output);
        continue;
      }
      if (!open(output)) continue;
      if (fed.count(output) != 0) continue;
      for (int consumer : index.consumers(output)) {
        const auto& outputs = index.nodes()[static_cast<size_t>(consumer)].outputs;
        if (std::any_of(outputs.begin(), outputs.end(), [&](const std::string& o) { return found.count(o) != 0; })) {
          found.insert(output);
          break;
        }
      }
    }
  }
  return found;
}

}  // namespace paritas
