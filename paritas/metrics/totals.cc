#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "paritas/metrics/block.h"
#include "paritas/metrics/wide_sums.h"
#include "paritas/tensor/float_formats.h"

namespace paritas::metrics {
namespace {

__int128 integer_at(DType type, const std::byte* data, size_t i) {
  const auto load = [&]<class T>(T value) {
    std::memcpy(&value, data + i * sizeof(T), sizeof(T));
    return static_cast<__int128>(value);
  };
  switch (type) {
    case DType::kI8:
      return load(int8_t{});
    case DType::kI16:
      return load(int16_t{});
    case DType::kU16:
      return load(uint16_t{});
    case DType::kI32:
      return load(int32_t{});
    case DType::kU32:
      return load(uint32_t{});
    case DType::kI64:
      return load(int64_t{});
    case DType::kU64:
      return load(uint64_t{});
    default:
      return load(uint8_t{});
  }
}

bool equal_exactly(__int128 integer, double value) {
  // Beyond +-2^64 no integer of 64 bits can be equal, and the conversion would not be defined.
  return std::fabs(value) <= 0x1p64 && value == std::trunc(value) && static_cast<__int128>(value) == integer;
}

}  // namespace

void BlockSums::add(const BlockSums& next) {
  abs += next.abs;
  difference2 += next.difference2;
  reference2 += next.reference2;
  device2 += next.device2;
  product += next.product;
  storage.add(next.storage);
}

void Range::include(double low, double high) {
  if (!(low <= high)) return;  // a tile without finite values
  min = any ? std::min(min, low) : low;
  max = any ? std::max(max, high) : high;
  any = true;
}

double Range::max_abs() const { return std::max(std::fabs(min), std::fabs(max)); }

void Totals::merge(const Totals& other) {
  finite += other.finite;
  differing += other.differing;
  nonfinite.nan_nan += other.nonfinite.nan_nan;
  nonfinite.nan_other += other.nonfinite.nan_other;
  nonfinite.same_inf += other.nonfinite.same_inf;
  nonfinite.opposite_inf += other.nonfinite.opposite_inf;
  nonfinite.inf_finite += other.nonfinite.inf_finite;
  nonfinite.device_only += other.nonfinite.device_only;
  nonfinite.reference_nan += other.nonfinite.reference_nan;
  if (other.max_abs > max_abs || (other.max_abs == max_abs && other.max_abs_index < max_abs_index)) {
    max_abs = other.max_abs;
    max_abs_index = other.max_abs_index;
    max_abs_reference = other.max_abs_reference;
    max_abs_device = other.max_abs_device;
  }
  max_rel = std::max(max_rel, other.max_rel);
  max_ulp = std::max(max_ulp, other.max_ulp);
  max_integer_difference = std::max(max_integer_difference, other.max_integer_difference);
  if (other.reference.any) reference.include(other.reference.min, other.reference.max);
  if (other.device.any) device.include(other.device.min, other.device.max);
  reference_zeros += other.reference_zeros;
  device_zeros += other.device_zeros;
  outside += other.outside;
  worst_outside = std::max(worst_outside, other.worst_outside);
  if (histogram && other.histogram) histogram->merge(*other.histogram);
  if (codes && other.codes) codes->merge(*other.codes);
  storage.merge(other.storage);
}

DType coarser(DType a, DType b) { return epsilon(a) >= epsilon(b) ? a : b; }

void compare_mixed_integers(DType xt, const std::byte* x, DType yt, const std::byte* y, size_t n, Totals& totals) {
  constexpr auto kMost = static_cast<__int128>(std::numeric_limits<uint64_t>::max());
  for (size_t i = 0; i < n; ++i) {
    const __int128 d = integer_at(yt, y, i) - integer_at(xt, x, i);
    const __int128 distance = std::min(d < 0 ? -d : d, kMost);
    totals.differing += distance != 0;
    totals.max_integer_difference = std::max(totals.max_integer_difference, static_cast<uint64_t>(distance));
  }
}

uint64_t count_differing_exactly(DType xt, const std::byte* x, DType yt, const std::byte* y, size_t n) {
  const bool x_is_integer = !is_float(xt);
  const DType integer = x_is_integer ? xt : yt;
  const DType real = x_is_integer ? yt : xt;
  const std::byte* integers = x_is_integer ? x : y;
  const std::byte* reals = x_is_integer ? y : x;
  uint64_t differing = 0;
  for (size_t i = 0; i < n; ++i) {
    double value = 0;
    load_as_double(real, std::span(reals, byte_size(real, n)), i, std::span(&value, 1));
    differing += !equal_exactly(integer_at(integer, integers, i), value);
  }
  return differing;
}

long double exact_value(DType type, const std::byte* bytes, size_t n, size_t i) {
  if (!is_float(type)) return static_cast<long double>(integer_at(type, bytes, i));
  double real = 0;
  load_as_double(type, std::span(bytes, byte_size(type, n)), i, std::span(&real, 1));
  return real;
}

uint64_t count_outside_exactly(DType xt, const std::byte* x, DType yt, const std::byte* y, size_t n,
                               const PassOptions& options, double& worst) {
  // Every difference of two 64-bit integers is a long double (64 bits of mantissa) or its 65-bit neighbour.
  uint64_t outside = 0;
  for (size_t i = 0; i < n; ++i) {
    const long double a = exact_value(xt, x, n, i), b = exact_value(yt, y, n, i);
    if (!std::isfinite(a) || !std::isfinite(b)) continue;
    const long double distance = std::fabs(b - a);
    const long double allowed = options.atol + options.rtol * std::fabs(a);
    outside += distance > allowed;
    if (distance > 0) worst = std::max(worst, static_cast<double>(distance / allowed));
  }
  return outside;
}

}  // namespace paritas::metrics
