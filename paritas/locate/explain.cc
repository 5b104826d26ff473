#include "paritas/locate/explain.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <set>

#include "paritas/judge/catalogue_experiments.h"
#include "paritas/locate/propagation.h"
#include "paritas/tensor/float_formats.h"

namespace paritas {
namespace {

using catalogue::Consequence;

class Explanation {
 public:
  Explanation(const ExplainInput& input, LocateResult& result) : input_(input), result_(result) {
    for (const NodeRow& row : result.nodes) row_of_tensor_.emplace(row.tensor, &row);
  }

  void run() {
    placement();
    if (input_.outputs_deviate)
      causes();
    else
      decision_only();
    harmless_ranges();
    probe_effect();
  }

 private:
  void placement() {
    const PlacementCounts& p = result_.placement;
    if (!input_.device_is_plugin) return;
    if (p.total() == 0)
      result_.findings.push_back(catalogue::placement_unknown(p.requested));
    else if (p.on(p.requested) < p.total())
      result_.findings.push_back(catalogue::partial_placement(p.requested, p.on(p.requested), p.total(), p.partitions,
                                                              input_.evidence->placement.elsewhere));
  }

  Consequence consequence_of(const NodeRow& row) const {
    auto it = input_.sensitivities->alone.find(row.tensor);
    return it != input_.sensitivities->alone.end() && it->second.material() ? Consequence::kInjected
                                                                            : Consequence::kPath;
  }

  catalogue::RangeFacts facts_of(const NodeRow& row) const {
    catalogue::RangeFacts facts;
    facts.node = row.name;
    facts.op = row.op;
    facts.tensor = row.tensor;
    facts.format = input_.storage_format;
    const PairMetrics& m = row.local->metrics;
    facts.reference_max_abs = m.reference_max_abs;
    facts.device_nonfinite = m.nonfinite.device_only;
    const StorageBaseline* storage = m.storage ? &*m.storage : nullptr;
    if (row.range_of_constant) {
      storage = &*row.constant_storage;
      facts.constant = row.constant;
      facts.reference_max_abs = storage->max_over_limit * max_finite(storage->type);
    }
    if (storage != nullptr) {
      facts.lost_energy = storage->lost_energy;
      facts.limit = row.range == RangeViolation::kUnderflow ? min_normal(storage->type) : max_finite(storage->type);
    }
    return facts;
  }

  // The leading suspect gets the finding; further range violations are named in it, further causes get their own.
  void causes() {
    const NodeRow* first = nullptr;
    std::vector<std::string> group;
    std::vector<const NodeRow*> others;
    for (const std::string& name : result_.ranked) {
      const NodeRow* row = consequential_row(name);
      if (row == nullptr) continue;
      if (row->range != RangeViolation::kNone && first == nullptr)
        first = row;
      else if (row->range != RangeViolation::kNone)
        group.push_back(row->name);
      else
        others.push_back(row);
    }
    if (first != nullptr) {
      catalogue::RangeFacts facts = facts_of(*first);
      facts.group = group;
      const Consequence how = consequence_of(*first);
      const bool fits = first->local->representable;
      result_.findings.push_back(first->range_of_constant ? catalogue::constant_not_representable(facts, how)
                                 : first->range == RangeViolation::kUnderflow ? catalogue::range_underflow(facts, how)
                                 : fits                                       ? catalogue::nonfinite_made(facts, how)
                                                                              : catalogue::range_overflow(facts, how));
    }
    // What follows from a range violation (a square root of a clipped square) is its group, not a second cause.
    if (first == nullptr && (others.empty() || consequence_of(*others.front()) == Consequence::kPath))
      return unexplained();
    if (first == nullptr) {
      size_t told = 0;
      for (const NodeRow* row : others)
        if (told < 3 && (row == others.front() || !only_rounded_inputs(*row))) {
          result_.findings.push_back(local_cause(*row));
          ++told;
        }
    }
  }

  // Its probe erred no more than the reference operator does when its inputs are rounded: it hands on (and perhaps
  // amplifies) what the node before it lost.
  static bool only_rounded_inputs(const NodeRow& row) {
    return row.local->input_baseline && row.local->metrics.max_abs <= 2 * *row.local->input_baseline;
  }

  const NodeRow* consequential_row(const std::string& node) const {
    const NodeRow* found = nullptr;
    for (const NodeRow& row : result_.nodes) {
      if (row.name != node || !row.consequential || !row.local) continue;
      if (found == nullptr || row.range != RangeViolation::kNone) found = &row;
    }
    return found;
  }

  Finding local_cause(const NodeRow& row) const {
    catalogue::CauseFacts facts;
    facts.node = row.name;
    facts.op = row.op;
    facts.local_nmse = row.local->metrics.nmse;
    facts.x_baseline = row.local->x_baseline.value_or(NAN);
    if (auto it = input_.sensitivities->alone.find(row.tensor); it != input_.sensitivities->alone.end())
      facts.share = it->second.share;
    const auto [amplifier, factor] = strongest_amplifier(row);
    // Rounding as the format demands (at most a few times its cost) can only be fatal when something amplifies it.
    if (!amplifier.empty() && factor >= 30 && facts.local_nmse < 1e-4)
      return catalogue::amplified(facts, amplifier, factor);
    return catalogue::local_cause(facts);
  }

  // Among the nearest nodes behind `row`, the one whose output's relative error exceeds its inputs' the most.
  std::pair<std::string, double> strongest_amplifier(const NodeRow& start) const {
    const auto& index = input_.evidence->prepared->index;
    std::pair<std::string, double> best{"", 0};
    std::deque<std::pair<std::string, int>> queue{{start.tensor, 0}};
    std::set<std::string> seen{start.tensor};
    while (!queue.empty()) {
      auto [tensor, depth] = queue.front();
      queue.pop_front();
      const double before = relative_error(tensor);
      for (int consumer : index.consumers(tensor))
        for (const std::string& output : index.nodes()[static_cast<size_t>(consumer)].outputs) {
          const double factor = before > 0 ? relative_error(output) / before : 0;
          if (factor > best.second) best = {index.nodes()[static_cast<size_t>(consumer)].name, factor};
          if (depth < 4 && seen.insert(output).second) queue.emplace_back(output, depth + 1);
        }
    }
    return best;
  }

  double relative_error(const std::string& tensor) const {
    auto it = row_of_tensor_.find(tensor);
    if (it == row_of_tensor_.end()) return 0;
    const PairMetrics* m = it->second->best_accumulated();
    return m == nullptr || !std::isfinite(m->nmse) ? 0 : std::sqrt(m->nmse);
  }

  void unexplained() {
    const Sensitivities& s = *input_.sensitivities;
    const bool injectable = std::any_of(result_.nodes.begin(), result_.nodes.end(), [](const NodeRow& row) {
      return row.local && row.local->metrics.differing > 0;
    });
    if (!injectable && s.runs == 0) {
      result_.findings.push_back(catalogue::nothing_injected(result_.first_divergence, input_.demanded));
    } else if (!s.complete || s.limited) {
      result_.findings.push_back(catalogue::search_incomplete(s.all_share, result_.first_divergence, input_.demanded));
    } else if (s.all_share >= kMaterialShare) {
      std::vector<std::string> largest(
          result_.ranked.begin(), result_.ranked.begin() + std::min<std::ptrdiff_t>(3, std::ssize(result_.ranked)));
      result_.findings.push_back(catalogue::spread(s.all_share, largest, input_.demanded));
    } else {
      result_.findings.push_back(catalogue::not_reproduced(s.all_share, result_.first_divergence, input_.demanded));
    }
  }

  void decision_only() {
    std::vector<std::string> nodes;
    for (const DecisionReport& decision : result_.decisions)
      if (decision.changed() && (input_.random == nullptr || !input_.random->depends(decision.tensor)))
        nodes.push_back(decision.node);
    const bool differs = std::any_of(result_.outputs.begin(), result_.outputs.end(), [](const OutputRow& row) {
      return row.behind_decision && row.pair.metrics && row.pair.metrics->differing > 0;
    });
    if (!nodes.empty() && differs) result_.findings.push_back(catalogue::decision_only(nodes));
  }

  void harmless_ranges() {
    std::vector<catalogue::RangeFacts> nodes;
    for (const NodeRow& row : result_.nodes)
      if (row.range != RangeViolation::kNone && !row.consequential && row.local) nodes.push_back(facts_of(row));
    // When outputs deviate for a known reason, ranges that were not convicted are part of the table, not of the story.
    if (!nodes.empty() && !input_.outputs_deviate) result_.findings.push_back(catalogue::range_harmless(nodes));
  }

  void probe_effect() {
    for (const ProbeEffect& effect : result_.probe_effect) {
      const double scale = std::max(std::abs(effect.unmarked), 1e-30);
      if (effect.changed && std::abs(effect.marked - effect.unmarked) > 1e-3 * scale)
        result_.findings.push_back(catalogue::probe_effect(effect.output, effect.unmarked, effect.marked));
    }
  }

  const ExplainInput& input_;
  LocateResult& result_;
  std::map<std::string, const NodeRow*> row_of_tensor_;
};

}  // namespace

void explain(const ExplainInput& input, LocateResult& result) { Explanation(input, result).run(); }

void explain_search(const RestoreSearch& search, LocateResult& result) {
  catalogue::RestoredFacts facts;
  facts.islands = search.islands;
  facts.nodes = search.nodes;
  facts.minimal = search.minimal;
  facts.samples = search.samples;
  facts.device = result.device;
  for (const RestoreTest& test : search.tests)
    if (test.outcome == "holds" && test.islands == search.islands) facts.elsewhere = test.elsewhere;
  if (search.needless)
    result.findings.push_back(catalogue::restore_needless(facts));
  else if (search.all)
    result.findings.push_back(catalogue::restore_not_found(facts, search.budget_spent));
  else
    result.findings.push_back(catalogue::restored(facts));
}

}  // namespace paritas
