#include "paritas/locate/curve.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <unordered_map>

#include "paritas/tensor/float_formats.h"

namespace paritas {
namespace {

// Where activations bend and where their tails end in 8 to 32 bits.
constexpr std::array<double, 21> kEdges = {-INFINITY, -16.0, -8.0, -6.0, -5.0, -4.0, -3.0, -2.0, -1.0, -0.5,    0.0,
                                           0.5,       1.0,   2.0,  3.0,  4.0,  5.0,  6.0,  8.0,  16.0, INFINITY};
constexpr double kPlateauWidth = 0.25;
constexpr size_t kPlateauInputs = 3;

// Both forms must differ by so many roundings, and at so many inputs, before values tell them apart; and half of the
// positions must lie this close together, or something else than the form decides them.
constexpr double kFormRoundings = 4;
constexpr double kFormSpread = 0.5;
constexpr size_t kFormInputs = 8;
constexpr double kFormMargin = 0.25;

double exact_gelu(double x) { return 0.5 * x * std::erfc(-x / std::numbers::sqrt2); }
double exact_slope(double x) {
  return 0.5 * std::erfc(-x / std::numbers::sqrt2) + x * std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi);
}
double tanh_gelu(double x) {
  // 0.5 (1 + tanh u) = 1 / (1 + exp(-2 u)) keeps the digits of the left tail.
  const double u = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return x / (1 + std::exp(-2 * u));
}

const std::vector<double>& best(const CurveValues& values) {
  return values.stored.empty() ? values.reference : values.stored;
}

void add(CurveInterval& interval, const CurveValues& v, size_t i) {
  const double reference = v.reference[i], device = v.device[i], expected = best(v)[i];
  ++interval.count;
  if (!std::isfinite(device)) {
    interval.nonfinite += std::isfinite(expected);
    return;
  }
  interval.lost += device == 0 && expected != 0;
  if (!std::isfinite(reference)) return;
  ++interval.compared;
  const double error = std::abs(device - reference);
  interval.max_abs = std::max(interval.max_abs, error);
  interval.mean_abs += error;
  if (reference != 0) interval.max_rel = std::max(interval.max_rel, error / std::abs(reference));
  if (v.stored.empty() || !std::isfinite(expected)) return;
  const double least = std::abs(expected - reference);
  interval.stored_max_abs = std::max(interval.stored_max_abs.value_or(0), least);
  if (reference != 0)
    interval.stored_max_rel = std::max(interval.stored_max_rel.value_or(0), least / std::abs(reference));
}

// Saturation of one side's values. `order`: indices from the outermost input inwards.
Saturation saturation(Tail tail, double limit, const std::vector<size_t>& order, const std::vector<double>& x,
                      const std::vector<double>& y, std::optional<DType> storage) {
  Saturation result;
  if (order.empty() || tail == Tail::kNone) return result;
  const auto held = [&](size_t i) {
    if (tail != Tail::kIdentity) return y[i] == y[order.front()];
    return y[i] == x[i] || (storage && is_float(*storage) && y[i] == round_to_format(x[i], *storage));
  };
  size_t run = 0, different = 0;
  double last = NAN;
  while (run < order.size() && held(order[run])) {
    different += x[order[run]] != last;
    last = x[order[run]];
    ++run;
  }
  if (run == 0) return result;
  const double level = y[order.front()];
  const bool at_limit = tail == Tail::kIdentity || level == limit;
  const double width = std::abs(x[order.front()] - x[order[run - 1]]);
  if (!at_limit && (different < kPlateauInputs || width < kPlateauWidth)) return result;
  result.from = x[order[run - 1]];
  result.level = level;
  result.beyond = run;
  return result;
}

}  // namespace

std::optional<CurveKind> curve_kind(const std::string& op) {
  const CurveKind ramp{Tail::kZero, Tail::kIdentity, 0, 0, false};
  const CurveKind gelu{Tail::kZero, Tail::kIdentity, 0, 0, true};
  const CurveKind step{Tail::kZero, Tail::kConstant, 0, 1, false};
  const CurveKind odd{Tail::kConstant, Tail::kConstant, -1, 1, false};
  static const std::unordered_map<std::string, CurveKind> kKinds = {
      {"Erf", odd},
      {"Tanh", odd},
      {"Softsign", odd},
      {"Sigmoid", step},
      {"HardSigmoid", step},
      {"Exp", {Tail::kZero, Tail::kNone, 0, 0, false}},
      {"Softplus", ramp},
      {"Gelu", gelu},
      {"com.microsoft::Gelu", gelu},
      {"com.microsoft::FastGelu", gelu},
      {"com.microsoft::QuickGelu", ramp},
      {"Swish", ramp},
      {"HardSwish", ramp},
      {"Mish", ramp},
      {"Elu", {Tail::kConstant, Tail::kIdentity, -1, 0, false}},
      {"Celu", {Tail::kConstant, Tail::kIdentity, -1, 0, false}}};
  const auto found = kKinds.find(op);
  if (found == kKinds.end()) return std::nullopt;
  return found->second;
}

std::vector<CurveInterval> curve_intervals(const CurveValues& values) {
  std::vector<CurveInterval> intervals(kEdges.size() - 1);
  for (size_t k = 0; k < intervals.size(); ++k) {
    intervals[k].from = kEdges[k];
    intervals[k].to = kEdges[k + 1];
  }
  uint64_t total = 0;
  for (size_t i = 0; i < values.x.size(); ++i) {
    if (!std::isfinite(values.x[i])) continue;
    ++total;
    const auto edge = std::upper_bound(kEdges.begin(), kEdges.end(), values.x[i]);
    add(intervals[static_cast<size_t>(edge - kEdges.begin()) - 1], values, i);
  }
  std::erase_if(intervals, [](const CurveInterval& interval) { return interval.count == 0; });
  for (CurveInterval& interval : intervals) {
    interval.share = static_cast<double>(interval.count) / static_cast<double>(total);
    interval.mean_abs /= static_cast<double>(std::max<uint64_t>(1, interval.compared));
  }
  return intervals;
}

std::array<CurveSide, 2> curve_sides(const CurveKind& kind, const CurveValues& values, std::optional<DType> storage) {
  std::vector<size_t> order(values.x.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::erase_if(order, [&](size_t i) { return !std::isfinite(values.x[i]); });
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values.x[a] < values.x[b]; });
  const auto total = static_cast<double>(std::max<size_t>(1, order.size()));
  std::array<CurveSide, 2> sides;
  for (size_t s = 0; s < 2; ++s) {
    CurveSide& side = sides[s];
    side.tail = s == 0 ? kind.left : kind.right;
    side.limit = s == 0 ? kind.left_limit : kind.right_limit;
    // A side is what lies beyond zero: a tensor of large inputs alone does not saturate on the left.
    std::vector<size_t> outwards;
    for (const size_t i : order)
      if (s == 0 ? values.x[i] < 0 : values.x[i] > 0) outwards.push_back(i);
    if (s == 1) std::reverse(outwards.begin(), outwards.end());
    const auto of = [&](const std::vector<double>& y, std::optional<DType> type) {
      return saturation(side.tail, side.limit, outwards, values.x, y, type);
    };
    side.reference = of(values.reference, std::nullopt);
    side.device = of(values.device, storage);
    if (!values.stored.empty()) side.stored = of(values.stored, storage);
    side.share_beyond = static_cast<double>(side.device.beyond) / total;
    const uint64_t due = side.stored ? side.stored->beyond : side.reference.beyond;
    for (uint64_t i = due; i < side.device.beyond; ++i) {
      const size_t at = outwards[i];
      const double level = side.tail == Tail::kIdentity ? values.x[at] : side.device.level;
      ++side.early;
      side.early_max_abs = std::max(side.early_max_abs, std::abs(values.reference[at] - level));
    }
  }
  return sides;
}

GeluForm gelu_form(const std::vector<double>& x, const std::vector<double>& y, DType type, bool sums) {
  GeluForm result;
  std::vector<double> positions;
  for (size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i]) || !std::isfinite(y[i])) continue;
    const double exact = exact_gelu(x[i]), approximate = tanh_gelu(x[i]);
    const double apart = approximate - exact;
    result.max_distance = std::max(result.max_distance, std::min(std::abs(y[i] - exact), std::abs(y[i] - approximate)));
    // Rounding of the result, and of the input where the side rounds it first.
    const double sum = sums ? 0.5 * std::abs(x[i]) : 0;
    const double rounding =
        0.5 * epsilon(type) * (sum + std::abs(exact) + std::abs(exact_slope(x[i]) * x[i])) + min_subnormal(type);
    if (std::abs(apart) > kFormRoundings * rounding) positions.push_back((y[i] - exact) / apart);
  }
  result.deciding = positions.size();
  result.form = "cannot tell";
  result.position = NAN;
  if (positions.size() < kFormInputs) return result;
  std::sort(positions.begin(), positions.end());
  const size_t quarter = positions.size() / 4;
  const double middle = positions[positions.size() / 2];
  if (positions[positions.size() - 1 - quarter] - positions[quarter] > kFormSpread) return result;
  result.position = middle;
  result.form = std::abs(middle) < kFormMargin ? "exact" : std::abs(middle - 1) < kFormMargin ? "tanh" : "neither";
  return result;
}

}  // namespace paritas
