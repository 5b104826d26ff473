#include "paritas/locate/candidates.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "paritas/locate/ranking.h"

namespace paritas {
namespace {

// Chosen on 18 faulty and 8 harmless variants of detr-mini and ten published networks: no first cause was missed, at
// most a tenth of the nodes is tested alone. With 1e-3 an index computed in a format that is too coarse slips through.
constexpr double kLargeNmse = 1e-4;
constexpr double kJump = 100;  // accumulated NMSE against the worst input's
constexpr int kHopsUpstream = 2;
constexpr size_t kMaxAlone = 120;

double nmse_of(const PairMetrics* metrics) {
  if (metrics == nullptr) return 0;
  return metrics->nonfinite.device_only > 0 || std::isnan(metrics->nmse) ? INFINITY : metrics->nmse;
}

class Chooser {
 public:
  Chooser(const std::vector<NodeRow>& rows, const onnx_model::GraphIndex& index) : rows_(rows), index_(index) {
    for (const NodeRow& row : rows) by_tensor_.emplace(row.tensor, &row);
  }

  Candidates choose() {
    std::vector<const NodeRow*> suspects, conspicuous;
    for (const NodeRow& row : rows_) {
      if (!row.local || row.local->metrics.differing == 0) continue;
      if (range_suspect(row)) suspects.push_back(&row);
      if (nmse_of(&row.local->metrics) > kLargeNmse || jumps(row)) conspicuous.push_back(&row);
    }
    for (const NodeRow* row : suspects) alone_.insert(row->tensor);
    for (const NodeRow* row : conspicuous) add_upstream(row->tensor, kHopsUpstream);
    Candidates chosen;
    for (const NodeRow& row : rows_) {
      if (!row.local || row.local->metrics.differing == 0) continue;
      chosen.all.push_back(row.tensor);
      if (alone_.count(row.tensor) != 0 && chosen.first.size() < kMaxAlone) chosen.first.push_back(row.tensor);
      if (range_suspect(row)) chosen.suspects.push_back(row.tensor);
      if (row.local->metrics.storage && row.local->metrics.storage->overflowed > 0)
        chosen.overflowing.push_back(row.tensor);
    }
    return chosen;
  }

 private:
  bool jumps(const NodeRow& row) const {
    const double own = nmse_of(row.best_accumulated());
    if (own <= kLargeNmse) return false;
    double worst = 0;
    const int producer = index_.producer(row.tensor);
    if (producer < 0) return false;
    for (const std::string& input : index_.nodes()[static_cast<size_t>(producer)].inputs)
      if (auto it = by_tensor_.find(input); it != by_tensor_.end())
        worst = std::max(worst, nmse_of(it->second->best_accumulated()));
    return own > kJump * worst;
  }

  void add_upstream(const std::string& tensor, int hops) {
    alone_.insert(tensor);
    const int producer = index_.producer(tensor);
    if (hops == 0 || producer < 0) return;
    for (const std::string& input : index_.nodes()[static_cast<size_t>(producer)].inputs) {
      const int before = index_.producer(input);
      if (before < 0) continue;
      add_upstream(input, hops - (moves_data(index_.nodes()[static_cast<size_t>(before)].op) ? 0 : 1));
    }
  }

  const std::vector<NodeRow>& rows_;
  const onnx_model::GraphIndex& index_;
  std::unordered_map<std::string, const NodeRow*> by_tensor_;
  std::unordered_set<std::string> alone_;
};

}  // namespace

bool moves_data(const std::string& op) {
  static const std::unordered_set<std::string> ops = {"Reshape", "Transpose", "Squeeze", "Unsqueeze",
                                                      "Flatten", "Identity",  "Cast",    "Slice",
                                                      "Split",   "Concat",    "Expand"};
  return ops.count(op) != 0;
}

bool range_suspect(const NodeRow& row) {
  if (!row.local || !row.local->metrics.storage) return false;
  const StorageBaseline& s = *row.local->metrics.storage;
  return s.overflowed > 0 || row.local->metrics.nonfinite.device_only > 0 || s.lost_energy > kLostEnergy ||
         s.flushed > 0 || row.constant_storage.has_value();
}

std::vector<std::string> largest_local_errors(const std::vector<NodeRow>& rows, size_t count) {
  std::vector<const NodeRow*> order;
  for (const NodeRow& row : rows)
    if (row.local && row.local->metrics.differing > 0) order.push_back(&row);
  std::stable_sort(order.begin(), order.end(), [](const NodeRow* a, const NodeRow* b) {
    return nmse_of(&a->local->metrics) > nmse_of(&b->local->metrics);
  });
  std::vector<std::string> tensors;
  for (const NodeRow* row : order)
    if (tensors.size() < count) tensors.push_back(row->tensor);
  return tensors;
}

Candidates choose_candidates(const std::vector<NodeRow>& rows, const onnx_model::GraphIndex& index) {
  return Chooser(rows, index).choose();
}

}  // namespace paritas
