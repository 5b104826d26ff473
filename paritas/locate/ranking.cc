#include "paritas/locate/ranking.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "paritas/locate/propagation.h"

namespace paritas {
namespace {

struct Suspect {
  std::string name;
  size_t order = 0;        // graph order of its first row
  int group = 2;           // 0 consequential range violation, 1 consequential, 2 the rest
  double local_nmse = -1;  // largest of its rows; -1: not probed
};

// Share of a result's squared error that lost subnormals must make up for the error to be called an underflow.
constexpr double kAccountingShare = 0.1;

double local_size(const NodeRow& row) {
  if (!row.local) return -1;
  const PairMetrics& m = row.local->metrics;
  if (m.nonfinite.device_only > 0) return INFINITY;
  return std::isnan(m.nmse) ? -1 : m.nmse;
}

}  // namespace

std::string_view name(RangeViolation violation) {
  switch (violation) {
    case RangeViolation::kNone:
      return "none";
    case RangeViolation::kOverflow:
      return "overflow";
    case RangeViolation::kUnderflow:
      return "underflow";
  }
  return "none";
}

void classify_range(NodeRow& row, const Sensitivities::Effect* effect) {
  row.range = RangeViolation::kNone;
  row.range_of_constant = false;
  row.range_factor = 0;
  if (!row.local || !row.local->metrics.storage) return;
  const PairMetrics& m = row.local->metrics;
  const StorageBaseline& s = *m.storage;
  const bool fatal = effect != nullptr && effect->material();
  auto violate = [&row](RangeViolation kind, double factor, bool of_constant = false) {
    row.range = kind;
    row.range_factor = factor;
    row.range_of_constant = of_constant;
  };
  if (s.overflowed > 0) return violate(RangeViolation::kOverflow, s.max_over_limit);
  if (row.constant_storage && row.constant_storage->overflowed > 0 && m.differing > 0)
    return violate(RangeViolation::kOverflow, row.constant_storage->max_over_limit, true);
  // Underflow of the result must account for its error; an error of another kind may happen to hit small values too.
  const double lost = s.lost_energy * m.reference_norm * m.reference_norm;
  const bool accounts = lost >= kAccountingShare * m.error_norm * m.error_norm;
  if (s.lost_energy > kLostEnergy && accounts) return violate(RangeViolation::kUnderflow, s.lost_energy);
  if (fatal && (s.lost_energy > 0 || s.flushed > 0) && accounts)
    return violate(RangeViolation::kUnderflow, s.lost_energy);
  if (row.constant_storage && m.differing > 0 &&
      (row.constant_storage->lost_energy > kLostEnergy || (fatal && row.constant_storage->flushed > 0)))
    return violate(RangeViolation::kUnderflow, row.constant_storage->lost_energy, true);
  // Everything that enters and leaves fits, and yet: an inner value does not.
  if (m.nonfinite.device_only > 0) violate(RangeViolation::kOverflow, s.max_over_limit);
}

namespace {

const Sensitivities::Effect* effect_of(const Sensitivities& sensitivities, const NodeRow& row) {
  auto it = sensitivities.alone.find(row.tensor);
  return it == sensitivities.alone.end() ? nullptr : &it->second;
}

// Rows of a path at which it starts: nothing that they read diverges.
bool starts_path(const NodeRow& row, const onnx_model::GraphIndex& index,
                 const std::unordered_set<std::string>& reaching) {
  const int producer = index.producer(row.tensor);
  if (producer < 0 || reaching.count(row.tensor) == 0) return false;
  const auto& inputs = index.nodes()[static_cast<size_t>(producer)].inputs;
  return std::none_of(inputs.begin(), inputs.end(),
                      [&](const std::string& input) { return reaching.count(input) != 0; });
}

void convict_by_path(std::vector<NodeRow>& rows, const onnx_model::GraphIndex& index,
                     const std::unordered_set<std::string>& reaching) {
  bool any = false;
  for (NodeRow& row : rows)
    if (row.range != RangeViolation::kNone && reaching.count(row.tensor) != 0) any = row.consequential = true;
  if (any) return;
  for (NodeRow& row : rows)
    if (!row.decision && is_float(row.dtype) && row.best_accumulated() != nullptr)
      row.consequential = starts_path(row, index, reaching);
}

}  // namespace

Ranking rank(std::vector<NodeRow>& rows, const onnx_model::GraphIndex& index,
             const std::unordered_set<std::string>& reaching, const Sensitivities& sensitivities,
             bool outputs_deviate) {
  bool convicted = false;
  for (NodeRow& row : rows) {
    const Sensitivities::Effect* effect = effect_of(sensitivities, row);
    if (effect != nullptr) row.sensitivity = effect->nmse;
    classify_range(row, effect);
    row.consequential = outputs_deviate && effect != nullptr && effect->material();
    convicted = convicted || row.consequential;
  }
  if (outputs_deviate && !convicted) convict_by_path(rows, index, reaching);

  std::map<std::string, size_t> position;
  std::vector<Suspect> suspects;
  Ranking ranking;
  for (size_t i = 0; i < rows.size(); ++i) {
    NodeRow& row = rows[i];
    // A tensor without figures may lie on the path; nobody saw it deviate.
    if (outputs_deviate && ranking.first_divergence.empty() && reaching.count(row.tensor) != 0 && !row.decision &&
        row.best_accumulated() != nullptr) {
      ranking.first_divergence = row.name;
      ranking.first_divergence_tensor = row.tensor;
    }
    const auto [it, fresh] = position.emplace(row.name, suspects.size());
    if (fresh) suspects.push_back({row.name, i});
    Suspect& suspect = suspects[it->second];
    const int group = !row.consequential ? 2 : row.range != RangeViolation::kNone ? 0 : 1;
    suspect.group = std::min(suspect.group, group);
    suspect.local_nmse = std::max(suspect.local_nmse, local_size(row));
  }
  std::erase_if(suspects, [](const Suspect& s) { return s.local_nmse < 0 && s.group == 2; });
  std::stable_sort(suspects.begin(), suspects.end(), [](const Suspect& a, const Suspect& b) {
    if (a.group != b.group) return a.group < b.group;
    // Graph order among the consequential: what comes later may only have received badly rounded inputs (the
    // subtraction of a cancellation shows a large local error, the addition before it made it).
    if (a.group != 2) return a.order < b.order;
    // Harmless losses of range (an infinite anchor) would otherwise lead the rest.
    const bool a_finite = std::isfinite(a.local_nmse), b_finite = std::isfinite(b.local_nmse);
    if (a_finite != b_finite) return a_finite;
    return a.local_nmse > b.local_nmse;
  });
  for (const Suspect& suspect : suspects) ranking.nodes.push_back(suspect.name);
  return ranking;
}

}  // namespace paritas
