#include "paritas/metrics/groups.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "paritas/metrics/pair_metrics.h"

namespace paritas {
namespace {

// Longer periods are not told apart from single indices.
constexpr int64_t kMaxPeriod = 64;
// 40 bytes each.
constexpr uint64_t kMaxGroups = uint64_t{1} << 22;

const char* ordinal(int64_t n) {
  if (n % 100 / 10 == 1) return "th";
  return n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : n % 10 == 3 ? "rd" : "th";
}

double ratio(double error, double reference) {
  if (error == 0) return 0;
  return reference > 0 ? error / reference : INFINITY;
}

// Is `share` of the energy on `fair` of the elements enough to be named?
bool stands_out(double share, double fair, double reference_share, double leaves) {
  if (!(share > fair) || 1 - share > leaves * (1 - fair)) return false;
  return share >= kBeyondValues * reference_share || reference_share <= kEvenValues * fair;
}

struct Sums {
  std::vector<double> error, reference, max_abs;
  std::vector<uint64_t> count, device_only;
  explicit Sums(size_t n) : error(n), reference(n), max_abs(n), count(n), device_only(n) {}

  void add(size_t group, double x, double y) {
    ++count[group];
    if (!std::isfinite(x)) return;
    if (!std::isfinite(y)) {
      ++device_only[group];
      return;
    }
    const double d = y - x;
    error[group] += d * d;
    reference[group] += x * x;
    max_abs[group] = std::max(max_abs[group], std::abs(d));
  }
};

Status collect(const Tensor& reference, const Tensor& device, const std::vector<int>& axes, Sums& sums) {
  PARITAS_ASSIGN(const TensorView x, TensorView::of(reference));
  PARITAS_ASSIGN(const TensorView y, TensorView::of(device));
  GroupWalk walk(reference.shape, axes);
  std::vector<double> a(kBlockElements), b(kBlockElements);
  for (uint64_t first = 0; first < x.count(); first += kBlockElements) {
    const size_t n = std::min<uint64_t>(kBlockElements, x.count() - first);
    load_as_double(x.dtype(), x.bytes(), first, std::span(a).first(n));
    load_as_double(y.dtype(), y.bytes(), first, std::span(b).first(n));
    for (size_t i = 0; i < n; ++i, walk.next()) sums.add(walk.group(), a[i], b[i]);
  }
  return {};
}

// Sums over all groups with the same index along one of the axes.
std::vector<double> marginal(const std::vector<double>& values, const Shape& sizes, size_t axis) {
  std::vector<double> out(static_cast<size_t>(sizes[axis]), 0.0);
  uint64_t inner = 1;
  for (size_t i = axis + 1; i < sizes.size(); ++i) inner *= static_cast<uint64_t>(sizes[i]);
  for (size_t g = 0; g < values.size(); ++g) out[g / inner % out.size()] += values[g];
  return out;
}

UnevenSet set_of(UnevenSet::Kind kind, const std::vector<double>& error, const std::vector<double>& reference,
                 double error_sum, double reference_sum, int64_t first, int64_t step, int64_t last) {
  UnevenSet set;
  set.kind = kind;
  set.size = static_cast<int64_t>(error.size());
  set.first = first;
  set.last = last;
  set.period = step;
  int64_t members = 0;
  for (int64_t i = first; i <= last; i += step, ++members) {
    set.share += error[static_cast<size_t>(i)];
    set.reference_share += reference[static_cast<size_t>(i)];
  }
  set.share /= error_sum;
  set.reference_share = reference_sum > 0 ? set.reference_share / reference_sum : 0;
  set.fair = static_cast<double>(members) / static_cast<double>(set.size);
  return set;
}

std::optional<UnevenSet> best_period(const std::vector<double>& error, const std::vector<double>& reference,
                                     double error_sum, double reference_sum) {
  const auto n = static_cast<int64_t>(error.size());
  for (int64_t period = 2; period <= std::min(kMaxPeriod, n / 3); ++period)
    for (int64_t first = 0; first < period; ++first) {
      const auto set = set_of(UnevenSet::Kind::kPeriod, error, reference, error_sum, reference_sum, first, period,
                              first + (n - 1 - first) / period * period);
      if (!stands_out(set.share, set.fair, set.reference_share, kSetLeaves)) continue;
      // Its members must share the error: a single one within it is no period.
      double largest = 0;
      for (int64_t i = first; i < n; i += period) largest = std::max(largest, error[static_cast<size_t>(i)]);
      if (largest / error_sum <= 0.5 * set.share) return set;
    }
  return std::nullopt;
}

// The shortest window at one end; running sums keep long axes cheap.
std::optional<UnevenSet> best_window(const std::vector<double>& error, const std::vector<double>& reference,
                                     double error_sum, double reference_sum) {
  const size_t n = error.size();
  std::array<double, 2> held = {error.front(), error.back()}, energy = {reference.front(), reference.back()};
  for (size_t length = 2; length <= n / 2; ++length)
    for (const bool back : {false, true}) {
      const size_t newest = back ? n - length : length - 1;
      held[back] += error[newest];
      energy[back] += reference[newest];
      const double fair = static_cast<double>(length) / static_cast<double>(n);
      const double share = held[back] / error_sum;
      const double of_reference = reference_sum > 0 ? energy[back] / reference_sum : 0;
      if (!stands_out(share, fair, of_reference, kSetLeaves)) continue;
      UnevenSet set;
      set.kind = UnevenSet::Kind::kWindow;
      set.size = static_cast<int64_t>(n);
      set.first = static_cast<int64_t>(back ? newest : 0);
      set.last = static_cast<int64_t>(back ? n - 1 : newest);
      set.period = 1;
      set.share = share;
      set.fair = fair;
      set.reference_share = of_reference;
      return set;
    }
  return std::nullopt;
}

}  // namespace

GroupWalk::GroupWalk(const Shape& shape, const std::vector<int>& axes)
    : shape_(shape), stride_(shape.size(), 0), at_(shape.size(), 0) {
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    stride_[static_cast<size_t>(*axis)] = groups_;
    groups_ *= static_cast<uint64_t>(shape[static_cast<size_t>(*axis)]);
  }
}

void GroupWalk::next() {
  for (size_t i = shape_.size(); i-- > 0;) {
    group_ += stride_[i];
    if (++at_[i] < shape_[i]) return;
    group_ -= stride_[i] * static_cast<uint64_t>(shape_[i]);
    at_[i] = 0;
  }
}

Result<std::vector<int>> resolve_axes(const std::vector<int64_t>& axes, size_t rank, const std::string& subject) {
  if (axes.empty()) return usage_error(subject, "no axis is named", "write e.g. axis=1");
  std::vector<int> resolved;
  const auto n = static_cast<int64_t>(rank);
  for (int64_t axis : axes) {
    if (axis < -n || axis >= n)
      return usage_error(subject,
                         fmt::format("the tensor has {} dimension{}, there is no axis {}", n, n == 1 ? "" : "s", axis),
                         fmt::format("axes count from 0, or from -1 backwards"));
    const int at = static_cast<int>(axis < 0 ? axis + n : axis);
    if (std::find(resolved.begin(), resolved.end(), at) != resolved.end())
      return usage_error(subject, fmt::format("axis {} is named twice", at), "name each axis once");
    resolved.push_back(at);
  }
  return resolved;
}

Result<GroupFigures> group_errors(const Tensor& reference, const Tensor& device, const std::vector<int>& axes,
                                  size_t keep) {
  if (reference.shape != device.shape)
    return input_error("",
                       fmt::format("shapes differ: {} and {}", to_string(reference.shape), to_string(device.shape)));
  GroupFigures figures;
  figures.axes = axes;
  for (int axis : axes) figures.sizes.push_back(reference.shape[static_cast<size_t>(axis)]);
  figures.groups = GroupWalk(reference.shape, axes).groups();
  if (figures.groups > kMaxGroups)
    return usage_error("", fmt::format("these axes make {} groups, more than {}", figures.groups, kMaxGroups),
                       "name fewer axes");
  Sums sums(figures.groups);
  if (reference.count() > 0) PARITAS_TRY(collect(reference, device, axes, sums));
  // Summed in the order of groups: the same bits whatever the memory order.
  figures.error_energy = std::accumulate(sums.error.begin(), sums.error.end(), 0.0);
  figures.reference_energy = std::accumulate(sums.reference.begin(), sums.reference.end(), 0.0);
  std::vector<size_t> order(figures.groups);
  std::iota(order.begin(), order.end(), size_t{0});
  const size_t kept = std::min<size_t>(keep, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
                    [&](size_t a, size_t b) {
                      if (sums.device_only[a] != sums.device_only[b]) return sums.device_only[a] > sums.device_only[b];
                      return sums.error[a] != sums.error[b] ? sums.error[a] > sums.error[b] : a < b;
                    });
  for (size_t i = 0; i < kept; ++i) {
    const size_t g = order[i];
    GroupError e;
    e.index.resize(axes.size());
    for (size_t axis = axes.size(), rest = g; axis-- > 0;) {
      e.index[axis] = static_cast<int64_t>(rest % static_cast<uint64_t>(figures.sizes[axis]));
      rest /= static_cast<uint64_t>(figures.sizes[axis]);
    }
    e.count = sums.count[g];
    e.error_energy = sums.error[g];
    e.reference_energy = sums.reference[g];
    e.max_abs = sums.max_abs[g];
    e.device_only = sums.device_only[g];
    e.error_share = figures.error_energy > 0 ? sums.error[g] / figures.error_energy : 0;
    e.reference_share = figures.reference_energy > 0 ? sums.reference[g] / figures.reference_energy : 0;
    e.nmse = ratio(sums.error[g], sums.reference[g]);
    figures.largest.push_back(std::move(e));
  }
  const bool broken = std::any_of(sums.device_only.begin(), sums.device_only.end(), [](uint64_t n) { return n > 0; });
  const std::vector<double> lost(sums.device_only.begin(), sums.device_only.end());
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    auto set = uneven_set(marginal(broken ? lost : sums.error, figures.sizes, axis),
                          marginal(sums.reference, figures.sizes, axis));
    if (!set) continue;
    set->axis = axes[axis];
    figures.uneven.push_back(*set);
  }
  return figures;
}

std::optional<UnevenSet> uneven_set(const std::vector<double>& error, const std::vector<double>& reference) {
  const double error_sum = std::accumulate(error.begin(), error.end(), 0.0);
  const double reference_sum = std::accumulate(reference.begin(), reference.end(), 0.0);
  if (error.size() < 2 || !(error_sum > 0) || !std::isfinite(error_sum)) return std::nullopt;
  const auto largest = static_cast<int64_t>(std::max_element(error.begin(), error.end()) - error.begin());
  const auto one = set_of(UnevenSet::Kind::kOne, error, reference, error_sum, reference_sum, largest, 1, largest);
  if (stands_out(one.share, one.fair, one.reference_share, kOneLeaves)) return one;
  if (auto period = best_period(error, reference, error_sum, reference_sum)) return period;
  return best_window(error, reference, error_sum, reference_sum);
}

std::string to_string(const UnevenSet& set) {
  switch (set.kind) {
    case UnevenSet::Kind::kOne:
      return set.first == 0              ? "the first index (0)"
             : set.first == set.size - 1 ? fmt::format("the last index ({})", set.first)
                                         : fmt::format("index {}", set.first);
    case UnevenSet::Kind::kPeriod:
      if (set.period == 2) return set.first == 0 ? "even indices" : "odd indices";
      return fmt::format("every {}{} index from {} on", set.period, ordinal(set.period), set.first);
    case UnevenSet::Kind::kWindow:
      return fmt::format("the {} {} indices ({} to {})", set.first == 0 ? "first" : "last", set.last - set.first + 1,
                         set.first, set.last);
  }
  return {};
}

}  // namespace paritas
