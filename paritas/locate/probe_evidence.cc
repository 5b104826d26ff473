#include "paritas/locate/probe_evidence.h"

#include <algorithm>
#include <unordered_set>

#include "paritas/judge/catalogue_probes.h"

namespace paritas {
namespace {

class Evidencing {
 public:
  Evidencing(const std::vector<NodeRow>& rows, const Sensitivities& sensitivities) {
    for (const NodeRow& row : rows)
      if (const auto it = sensitivities.alone.find(row.tensor);
          it != sensitivities.alone.end() && it->second.material())
        convicted_.insert(row.name);
  }

  // The finding that is about one of these nodes, which injection convicted. Null: none.
  Finding* about(const std::vector<std::string>& nodes, std::vector<Finding>& findings) const {
    for (Finding& finding : findings) {
      if (finding.nodes.empty() || convicted_.count(finding.nodes.front()) == 0) continue;
      if (std::find(nodes.begin(), nodes.end(), finding.nodes.front()) != nodes.end()) return &finding;
    }
    return nullptr;
  }

 private:
  std::unordered_set<std::string> convicted_;  // nodes
};

bool beyond_storage(const SoftmaxCheck& check) {
  return check.broken_rows > 0 ||
         (check.storage && check.storage->max > 0 && check.device.max > kSumsBeyondStorage * check.storage->max);
}

bool explained(const ImpliedStatistic& implied) {
  return implied.result_rms > 0 && implied.rest_rms <= kUnexplainedRest * implied.result_rms;
}

}  // namespace

void add_probe_evidence(const ProbeChecks& checks, const std::vector<NodeRow>& rows, const Sensitivities& sensitivities,
                        std::vector<Finding>& findings) {
  const Evidencing evidencing(rows, sensitivities);
  for (const SoftmaxCheck& check : checks.softmax)
    if (beyond_storage(check))
      if (Finding* finding = evidencing.about({check.node}, findings))
        catalogue::add_softmax_sums(*finding, {check.node, check.device.max, check.storage ? check.storage->max : 0,
                                               check.rows, check.broken_rows});
  for (const NormCheck& check : checks.norms) {
    if (!check.implied || !explained(*check.implied)) continue;
    std::vector<std::string> nodes = {check.node};
    // The steps are within the probe only where it holds them all.
    if (check.whole)
      for (const NormStep& step : check.steps) nodes.push_back(step.node);
    if (Finding* finding = evidencing.about(nodes, findings))
      catalogue::add_statistic(
          *finding, {check.node, check.implied->scale_rms, check.implied->result_rms, check.implied->rest_rms});
  }
  for (const SumCheck& check : checks.sums)
    if (check.kernel_rms && check.accumulation_rms > 0 &&
        *check.kernel_rms > kBeyondAccumulation * check.accumulation_rms)
      if (Finding* finding = evidencing.about({check.node}, findings))
        catalogue::add_accumulation(*finding, {check.node, check.terms, *check.kernel_rms, check.accumulation_rms});
}

}  // namespace paritas
