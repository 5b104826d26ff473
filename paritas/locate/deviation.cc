#include "paritas/locate/deviation.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "paritas/locate/propagation.h"

namespace paritas {
namespace {

double observed(const PairMetrics& metrics) { return metrics.nonfinite.device_only > 0 ? INFINITY : metrics.nmse; }

class Finder {
 public:
  Finder(const Evidence& evidence, const std::vector<NodeRow>& rows, const GateSet& gates)
      : evidence_(evidence), gates_(gates) {
    for (const NodeRow& row : rows) rows_.emplace(row.tensor, &row);
  }

  Deviation find(const std::vector<OutputRow>& outputs) {
    bool behind_decisions = false;
    for (const OutputRow& row : outputs) {
      if (!row.pair.metrics || !is_float(row.pair.reference->dtype)) continue;
      const std::string& name = row.pair.name;
      const PairMetrics* forced = row.behind_decision ? forced_metrics(name) : nullptr;
      const bool gated = !gates_.for_tensor(name).empty();
      const bool free = fails(name, *row.pair.metrics);
      // Rows behind a decision that cannot be fed say nothing by position: there only a declared gate speaks.
      if (!free || (row.behind_decision && forced == nullptr && !gated)) continue;
      const bool still = forced == nullptr || fails(name, *forced);
      if (!still && !gated) {
        behind_decisions = true;
        continue;
      }
      deviation_.outputs.push_back(name);
      if (still)
        add(name, observed(forced != nullptr ? *forced : *row.pair.metrics));
      else
        behind_decisions = true;
    }
    if (behind_decisions) add_decision_inputs();
    return std::move(deviation_);
  }

 private:
  const PairMetrics* forced_metrics(const std::string& tensor) const {
    auto it = rows_.find(tensor);
    return it != rows_.end() && it->second->accumulated_forced ? &*it->second->accumulated_forced : nullptr;
  }

  bool fails(const std::string& output, const PairMetrics& metrics) const {
    const auto gates = gates_.for_tensor(output);
    if (gates.empty()) return deviates(metrics);
    if (metrics.nonfinite.device_only > 0) return true;
    return std::any_of(gates.begin(), gates.end(), [&](const Gate* gate) { return !evaluate(*gate, metrics).passed; });
  }

  void add_decision_inputs() {
    const auto& index = evidence_.prepared->index;
    for (const DecisionReport& decision : evidence_.decisions) {
      const int node = decision.changed() ? index.producer(decision.tensor) : -1;
      if (node < 0) continue;
      for (const std::string& input : index.nodes()[static_cast<size_t>(node)].inputs) {
        auto it = rows_.find(input);
        if (it == rows_.end() || !is_float(it->second->dtype)) continue;
        const PairMetrics* metrics = it->second->best_accumulated();
        if (metrics != nullptr && deviates(*metrics)) add(input, observed(*metrics));
      }
    }
  }

  void add(const std::string& tensor, double nmse) {
    auto& targets = deviation_.targets;
    if (std::none_of(targets.begin(), targets.end(), [&](const auto& t) { return t.tensor == tensor; }))
      targets.push_back({tensor, nmse});
  }

  const Evidence& evidence_;
  const GateSet& gates_;
  std::unordered_map<std::string, const NodeRow*> rows_;
  Deviation deviation_;
};

}  // namespace

Deviation find_deviation(const Evidence& evidence, const std::vector<OutputRow>& outputs,
                         const std::vector<NodeRow>& rows, const GateSet& gates) {
  return Finder(evidence, rows, gates).find(outputs);
}

}  // namespace paritas
