#include "paritas/metrics/wide_sums.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "paritas/metrics/affine.h"
#include "paritas/tensor/float_formats.h"
#include "paritas/tensor/tensor.h"

namespace paritas::metrics {
namespace {

constexpr int kUnit = 600;
constexpr double kBig = 0x1p400;  // squares of smaller values do not overflow, nor do sums of 2^59 of them
constexpr double kSmall = 0x1p-400;
constexpr double kToUnit[] = {0x1p600, 1, 0x1p-600};
// Terms that vanished from a sum of at least this, 2^59 of them, were less than its last place.
constexpr double kLeastSum = 0x1p-600;

bool lost(double sum, bool has_terms) { return !std::isfinite(sum) || (has_terms && sum < kLeastSum); }

bool is_long(DType type) { return type == DType::kI64 || type == DType::kU64; }

// |y - x|, in units of 2 where it exceeds the largest double.
struct Distance {
  double value = 0;
  double unit = 1;
};

Distance distance(double x, double y) {
  const double d = std::fabs(y - x);
  return std::isinf(d) ? Distance{std::fabs(y * 0.5 - x * 0.5), 2} : Distance{d, 1};
}

SizedValue sized(const Distance& d) {
  if (d.unit == 1) return metrics::sized(d.value);
  return {d.value * (2 * kToUnit[2]), 1};
}

void note_distance(const Distance& d, double x, double y, uint64_t index, double rel_floor, WideTotals& totals) {
  if (d.unit > totals.max_abs_unit || (d.unit == totals.max_abs_unit && d.value > totals.max_abs)) {
    totals.max_abs = d.value;
    totals.max_abs_unit = d.unit;
    totals.max_abs_index = index;
    totals.max_abs_reference = x;
    totals.max_abs_device = y;
  }
  if (d.value > 0) totals.max_rel = std::max(totals.max_rel, d.value / std::max(std::fabs(x), rel_floor) * d.unit);
}

// |d| > atol + rtol |x|, where either may exceed the largest double.
void count_outside(const Distance& d, double x, const PassOptions& options, WideTotals& totals) {
  double value = d.value * d.unit;
  double allowed = options.atol + options.rtol * std::fabs(x);
  constexpr double kTiny = 0x1p-900;
  double factor = 1;
  // What is lost on the way down is nothing beside a number above 2^1024.
  if (std::isinf(value) || std::isinf(allowed)) factor = 0x1p-1000;
  // Products below 2^-1022 lose digits.
  if (value < kTiny && allowed < kTiny) factor = 0x1p100;
  if (factor != 1) {
    value = d.value * factor * d.unit;
    allowed = options.atol * factor + options.rtol * factor * std::fabs(x);
  }
  totals.outside += value > allowed;
  if (value > 0) totals.worst_outside = std::max(totals.worst_outside, value / allowed);
}

void count_nonfinite_outside(double x, double y, WideTotals& totals) {
  if (std::isinf(x) && x == y) return;
  ++totals.outside;
  totals.worst_outside = std::numeric_limits<double>::infinity();
}

void add_storage(std::span<const double> x, std::span<double> rounded, DType type, WideStorageSums& sums) {
  if (type == DType::kF64)
    std::copy(x.begin(), x.end(), rounded.begin());
  else
    round_to_format(x, rounded, type, Overflow::kInfinity);
  const double least = min_normal(type);
  for (size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i])) continue;
    const SizedValue value = metrics::sized(x[i]);
    sums.reference2.add_product(value, value);
    if (!std::isfinite(rounded[i])) continue;
    const SizedValue error = metrics::sized(rounded[i] - x[i]);
    sums.error2.add_product(error, error);
    if (std::fabs(x[i]) < least) sums.lost2.add_product(error, error);
  }
}

void add_pair(const Distance& d, double x, double y, WideSums& sums) {
  const SizedValue sx = metrics::sized(x), sy = metrics::sized(y), sd = sized(d);
  sums.abs.add(sd);
  sums.difference2.add_product(sd, sd);
  sums.reference2.add_product(sx, sx);
  sums.device2.add_product(sy, sy);
  sums.product.add_product(sx, sy);
}

}  // namespace

SizedValue sized(double value) {
  const double magnitude = std::fabs(value);
  const int size = magnitude > kBig ? 1 : magnitude < kSmall ? -1 : 0;
  return {value * kToUnit[size + 1], size};
}

void WideSum::add(const WideSum& next) {
  for (size_t k = 0; k < parts_.size(); ++k) parts_[k] += next.parts_[k];
}

Scaled WideSum::total() const {
  size_t top = parts_.size() - 1;
  while (top > 0 && parts_[top] == 0) --top;
  Scaled sum{parts_[top], kUnit * (static_cast<int>(top) - 2)};
  for (size_t k = top; k-- > 0;) sum.value += std::ldexp(parts_[k], -kUnit * static_cast<int>(top - k));
  return sum;
}

void WideSums::add(const WideSums& next) {
  abs.add(next.abs);
  difference2.add(next.difference2);
  reference2.add(next.reference2);
  device2.add(next.device2);
  product.add(next.product);
  storage.error2.add(next.storage.error2);
  storage.lost2.add(next.storage.lost2);
  storage.reference2.add(next.storage.reference2);
}

void WideTotals::merge(const WideTotals& other) {
  const bool larger = other.max_abs_unit > max_abs_unit ||
                      (other.max_abs_unit == max_abs_unit &&
                       (other.max_abs > max_abs || (other.max_abs == max_abs && other.max_abs_index < max_abs_index)));
  if (larger) {
    max_abs = other.max_abs;
    max_abs_unit = other.max_abs_unit;
    max_abs_index = other.max_abs_index;
    max_abs_reference = other.max_abs_reference;
    max_abs_device = other.max_abs_device;
  }
  max_rel = std::max(max_rel, other.max_rel);
  outside += other.outside;
  worst_outside = std::max(worst_outside, other.worst_outside);
}

bool exact_integers(DType reference, DType device, const PassOptions& options) {
  return (is_long(reference) || is_long(device)) && !options.reference_affine && !options.device_affine;
}

bool needs_wide_sums(DType reference, DType device, const PassOptions& options, const BlockSums& sums,
                     const Totals& totals) {
  if (totals.finite > 0) {
    if (lost(sums.difference2, totals.max_abs > 0) || lost(sums.reference2, totals.reference_zeros < totals.finite) ||
        lost(sums.device2, totals.device_zeros < totals.finite))
      return true;
    const double nmse = sums.difference2 / sums.reference2;
    if (sums.difference2 > 0 && sums.reference2 > 0 && (nmse == 0 || std::isinf(nmse))) return true;
    if (options.count_outside && !std::isfinite(options.atol + options.rtol * totals.reference.max_abs())) return true;
    // Integers that doubles cannot tell apart. What differs may also be a pair of which one value is not finite.
    constexpr double kExact = 0x1p53;
    if (exact_integers(reference, device, options) && totals.differing > 0 &&
        std::max(totals.reference.max_abs(), totals.device.max_abs()) >= kExact)
      return true;
  }
  if (!options.storage_type || !is_float(reference)) return false;
  return lost(sums.storage.error2, totals.storage.max_error > 0) ||
         lost(sums.storage.reference2, totals.storage.max_abs > 0);
}

WideSums wide_block(const Block& block, const PassOptions& options, Scratch& scratch, WideTotals& totals) {
  const DType xt = block.reference_type, yt = block.device_type;
  const bool exact = exact_integers(xt, yt, options);
  WideSums block_sums;
  for (size_t start = 0; start < block.count; start += kTile) {
    const size_t n = std::min(kTile, block.count - start);
    const std::span<double> x(scratch.x, n), y(scratch.y, n);
    WideSums sums;
    const auto load = [&](DType type, const std::byte* data, std::span<double> out) {
      load_as_double(type, std::span(data, byte_size(type, block.count)), start, out);
    };
    load(xt, block.reference, x);
    if (options.storage_type && is_float(xt)) add_storage(x, y, *options.storage_type, sums.storage);
    load(yt, block.device, y);
    if (options.reference_affine) dequantise(*options.reference_affine, block.first + start, x);
    if (options.device_affine) dequantise(*options.device_affine, block.first + start, y);
    for (size_t i = 0; i < n; ++i) {
      if (!std::isfinite(x[i]) || !std::isfinite(y[i])) {
        count_nonfinite_outside(x[i], y[i], totals);
        continue;
      }
      Distance d = distance(x[i], y[i]);
      if (exact)
        d.value = static_cast<double>(std::fabs(exact_value(yt, block.device, block.count, start + i) -
                                                exact_value(xt, block.reference, block.count, start + i)) /
                                      static_cast<long double>(d.unit));
      add_pair(d, x[i], y[i], sums);
      note_distance(d, x[i], y[i], block.first + start + i, options.rel_floor, totals);
      if (options.count_outside) count_outside(d, x[i], options, totals);
    }
    block_sums.add(sums);
  }
  return block_sums;
}

}  // namespace paritas::metrics
