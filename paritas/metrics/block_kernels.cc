// The comparison of one block, compiled for each instruction set and chosen at run time.
//
// A block is cut into tiles that stay in the first-level cache. A tile of equal types whose values are all finite
// (known after the integer scan) takes the fast way; any other is widened to double, its non-finite pairs are counted
// one by one and replaced by equal zeros, which add nothing to any sum.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "paritas/metrics/block_kernels.cc"
// SSSE3 machines (before 2008) use the scalar code; scalable vectors cannot be members or array elements.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#include "hwy/foreach_target.h"
// foreach_target.h comes first
#include "hwy/highway.h"
#include "paritas/metrics/byte_sums-inl.h"
#include "paritas/metrics/lanes-inl.h"
#include "paritas/metrics/scan-inl.h"
#include "paritas/metrics/storage-inl.h"
#include "paritas/metrics/sums-inl.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "paritas/metrics/block.h"
#include "paritas/tensor/float_formats.h"

HWY_BEFORE_NAMESPACE();
namespace paritas::metrics {
namespace HWY_NAMESPACE {

// One tile: n elements, padded with zeros to a multiple of kLanes.
struct Tile {
  const std::byte* x;
  const std::byte* y;
  size_t n;
  size_t padded;
  uint64_t first;  // flat index
};

struct Pass {
  const PassOptions& options;
  DType xt;
  DType yt;
  Scratch& scratch;
  Totals& totals;
  LaneSums lanes;
  StorageLanes storage;
};

// The value behind an ordered position of `type`.
inline double value_at(DType type, int64_t position) {
  const auto magnitude = position < 0 ? 0 - static_cast<uint64_t>(position) : static_cast<uint64_t>(position);
  const double sign = position < 0 ? -1 : 1;
  switch (type) {
    case DType::kF64:
      return sign * std::bit_cast<double>(magnitude);
    case DType::kF32:
      return sign * std::bit_cast<float>(static_cast<uint32_t>(magnitude));
    case DType::kF16:
      return sign * float_from_f16(static_cast<uint16_t>(magnitude));
    case DType::kBF16:
      return sign * float_from_bf16(static_cast<uint16_t>(magnitude));
    case DType::kF8E4M3FN:
      return sign * float_from_f8e4m3fn(static_cast<uint8_t>(magnitude));
    case DType::kF8E5M2:
      return sign * float_from_f8e5m2(static_cast<uint8_t>(magnitude));
    case DType::kU8:
      return static_cast<double>(position + 0x80);
    case DType::kU16:
      return static_cast<double>(position + 0x8000);
    case DType::kU32:
      return static_cast<double>(position + 0x80000000);
    case DType::kU64:
      return static_cast<double>(static_cast<uint64_t>(position) ^ (uint64_t{1} << 63));
    default:
      return static_cast<double>(position);
  }
}

// Largest |d| of a tile and where: only looked for when the tile beats what was found before.
void note_largest(Pass& pass, const Tile& tile, double largest, const double* x, const double* y, const bool* counted) {
  Totals& totals = pass.totals;
  if (!(largest > totals.max_abs)) return;
  for (size_t i = 0; i < tile.n; ++i) {
    if ((counted != nullptr && !counted[i]) || std::fabs(y[i] - x[i]) != largest) continue;
    totals.max_abs = largest;
    totals.max_abs_index = tile.first + i;
    totals.max_abs_reference = x[i];
    totals.max_abs_device = y[i];
    return;
  }
}

inline bool is_long(DType type) { return type == DType::kI64 || type == DType::kU64; }

// Doubles cannot tell neighbouring 64-bit integers apart: their tolerances are checked in wider arithmetic.
inline bool exact_tolerance(const Pass& pass) {
  return (is_long(pass.xt) || is_long(pass.yt)) && !pass.options.reference_affine && !pass.options.device_affine;
}

// The largest |d| of a tile, and its sums.
template <class L>
double sums_of(Pass& pass, const std::byte* x, const std::byte* y, size_t n) {
  using T = typename L::Element;
  const double floor = pass.options.rel_floor;
  if constexpr (std::is_integral_v<T> && sizeof(T) == 1)
    return sum_byte_tile<T>(x, y, n, floor, pass.lanes, pass.totals.max_rel);
  else
    return sum_tile<L>(x, y, n, floor, pass.lanes, pass.totals.max_rel);
}

// Sums and what else needs doubles. x, y: elements for L. `counted`: which pairs are finite; nullptr for all.
template <class L>
double add_sums(Pass& pass, const Tile& tile, const std::byte* x, const std::byte* y, const bool* counted) {
  const PassOptions& options = pass.options;
  Totals& totals = pass.totals;
  const double largest = sums_of<L>(pass, x, y, tile.padded);
  if (options.count_outside && !exact_tolerance(pass))
    totals.outside += count_outside<L>(x, y, tile.padded, options.atol, options.rtol, totals.worst_outside);
  if (totals.histogram) {
    uint32_t* keys = pass.scratch.keys;
    bin_keys<L>(x, y, tile.padded, totals.histogram->base(), keys);
    size_t n = tile.n;
    if (counted != nullptr) {
      n = 0;
      for (size_t i = 0; i < tile.n; ++i)
        if (counted[i]) keys[n++] = keys[i];
    }
    totals.histogram->count(keys, n);
  }
  return largest;
}

// The fast way for a loader that reads the elements as they are.
template <class L>
void sum_directly(Pass& pass, const Tile& tile) {
  const double largest = add_sums<L>(pass, tile, tile.x, tile.y, nullptr);
  if (!(largest > pass.totals.max_abs)) return;
  widen_tile(pass.xt, tile.x, tile.padded, pass.scratch.x);
  widen_tile(pass.yt, tile.y, tile.padded, pass.scratch.y);
  note_largest(pass, tile, largest, pass.scratch.x, pass.scratch.y, nullptr);
}

void sum_widened(Pass& pass, const Tile& tile, const bool* counted) {
  const double* x = pass.scratch.x;
  const double* y = pass.scratch.y;
  const double largest = add_sums<LoadF64>(pass, tile, reinterpret_cast<const std::byte*>(x),
                                           reinterpret_cast<const std::byte*>(y), counted);
  note_largest(pass, tile, largest, x, y, counted);
}

Scan scan_of(DType type, const Tile& tile) {
  switch (type) {
    case DType::kF16:
    case DType::kBF16:
      return scan_tile<int16_t, Order::kFloat>(tile.x, tile.y, tile.n);
    case DType::kF32:
      return scan_tile<int32_t, Order::kFloat>(tile.x, tile.y, tile.n);
    case DType::kF64:
      return scan_tile<int64_t, Order::kFloat>(tile.x, tile.y, tile.n);
    case DType::kF8E4M3FN:
    case DType::kF8E5M2:
      return scan_tile<int8_t, Order::kFloat>(tile.x, tile.y, tile.n);
    case DType::kU8:
      return scan_tile<int8_t, Order::kUnsigned>(tile.x, tile.y, tile.n);
    case DType::kU16:
      return scan_tile<int16_t, Order::kUnsigned>(tile.x, tile.y, tile.n);
    case DType::kU32:
      return scan_tile<int32_t, Order::kUnsigned>(tile.x, tile.y, tile.n);
    case DType::kU64:
      return scan_tile<int64_t, Order::kUnsigned>(tile.x, tile.y, tile.n);
    case DType::kI16:
      return scan_tile<int16_t, Order::kSigned>(tile.x, tile.y, tile.n);
    case DType::kI32:
      return scan_tile<int32_t, Order::kSigned>(tile.x, tile.y, tile.n);
    case DType::kI64:
      return scan_tile<int64_t, Order::kSigned>(tile.x, tile.y, tile.n);
    default:
      return scan_tile<int8_t, Order::kSigned>(tile.x, tile.y, tile.n);
  }
}

Encoding encoding_of(DType type) {
  const int mantissa = -std::ilogb(epsilon(type));
  const int min_exponent = std::ilogb(min_normal(type));
  const uint64_t bits = std::bit_cast<uint64_t>(max_finite(type)) >> (52 - mantissa);
  return {mantissa, min_exponent, bits - (static_cast<uint64_t>(1023 + min_exponent - 1) << mantissa)};
}

// False when the tile must go the general way: something in it is not finite.
bool fast_tile(Pass& pass, const Tile& tile, int64_t max_finite_position) {
  const Scan scan = scan_of(pass.xt, tile);
  if (std::max(scan.max_x, scan.max_y) > max_finite_position || std::min(scan.min_x, scan.min_y) < -max_finite_position)
    if (is_float(pass.xt)) return false;

  Totals& totals = pass.totals;
  totals.finite += tile.n;
  totals.differing += scan.differing;
  totals.reference_zeros += scan.zeros_x;
  totals.device_zeros += scan.zeros_y;
  uint64_t& distance = is_float(pass.xt) ? totals.max_ulp : totals.max_integer_difference;
  distance = std::max(distance, scan.max_distance);
  totals.reference.include(value_at(pass.xt, scan.min_x), value_at(pass.xt, scan.max_x));
  totals.device.include(value_at(pass.xt, scan.min_y), value_at(pass.xt, scan.max_y));

  switch (pass.xt) {
    case DType::kF64:
      sum_directly<LoadF64>(pass, tile);
      break;
    case DType::kF32:
      sum_directly<LoadF32>(pass, tile);
      break;
    case DType::kF16:
      sum_directly<LoadF16>(pass, tile);
      break;
    case DType::kBF16:
      sum_directly<LoadBF16>(pass, tile);
      break;
    case DType::kI8:
      sum_directly<LoadSmallInteger<int8_t>>(pass, tile);
      break;
    case DType::kU8:
      sum_directly<LoadSmallInteger<uint8_t>>(pass, tile);
      break;
    case DType::kI32:
      sum_directly<LoadI32>(pass, tile);
      break;
    default:
      widen_tile(pass.xt, tile.x, tile.padded, pass.scratch.x);
      widen_tile(pass.yt, tile.y, tile.padded, pass.scratch.y);
      sum_widened(pass, tile, nullptr);
  }
  return true;
}

// Ranges of each side's finite values, and the number of pairs that differ as doubles. True when all are finite.
bool range_and_differing(Pass& pass, const Tile& tile, uint64_t& differing) {
  const Doubles d;
  const auto infinity = hn::Inf(d);
  const double* x = pass.scratch.x;
  const double* y = pass.scratch.y;
  auto min_x = infinity, min_y = infinity, max_x = hn::Neg(infinity), max_y = hn::Neg(infinity);
  auto all_finite = hn::Eq(infinity, infinity);
  size_t equal = 0, i = 0;
  for (; i + kPerVector <= tile.n; i += kPerVector) {
    const auto vx = hn::LoadU(d, x + i);
    const auto vy = hn::LoadU(d, y + i);
    const auto finite_x = hn::Lt(hn::Abs(vx), infinity);
    const auto finite_y = hn::Lt(hn::Abs(vy), infinity);
    min_x = hn::Min(min_x, hn::IfThenElse(finite_x, vx, infinity));
    min_y = hn::Min(min_y, hn::IfThenElse(finite_y, vy, infinity));
    max_x = hn::Max(max_x, hn::IfThenElse(finite_x, vx, hn::Neg(infinity)));
    max_y = hn::Max(max_y, hn::IfThenElse(finite_y, vy, hn::Neg(infinity)));
    all_finite = hn::And(all_finite, hn::And(finite_x, finite_y));
    equal += hn::CountTrue(d, hn::Or(hn::Eq(vx, vy), hn::And(hn::IsNaN(vx), hn::IsNaN(vy))));
  }
  pass.totals.reference.include(hn::GetLane(hn::MinOfLanes(d, min_x)), hn::GetLane(hn::MaxOfLanes(d, max_x)));
  pass.totals.device.include(hn::GetLane(hn::MinOfLanes(d, min_y)), hn::GetLane(hn::MaxOfLanes(d, max_y)));
  bool finite = hn::AllTrue(d, all_finite);
  differing = i - equal;
  for (; i < tile.n; ++i) {
    if (std::isfinite(x[i])) pass.totals.reference.include(x[i], x[i]);
    if (std::isfinite(y[i])) pass.totals.device.include(y[i], y[i]);
    finite = finite && std::isfinite(x[i]) && std::isfinite(y[i]);
    differing += x[i] != y[i] && !(std::isnan(x[i]) && std::isnan(y[i]));
  }
  return finite;
}

void count_nonfinite(const PassOptions& options, double x, double y, Totals& totals) {
  NonfiniteCounts& counts = totals.nonfinite;
  bool inside = false;
  if (std::isnan(x) && std::isnan(y)) {
    ++counts.nan_nan;
  } else if (std::isnan(x) || std::isnan(y)) {
    ++counts.nan_other;
    counts.reference_nan += std::isnan(x);
  } else if (std::isinf(x) && std::isinf(y)) {
    inside = x == y;
    ++(inside ? counts.same_inf : counts.opposite_inf);
  } else {
    ++counts.inf_finite;
  }
  if (std::isfinite(x)) ++counts.device_only;
  if (options.count_outside && !inside) {
    ++totals.outside;
    totals.worst_outside = std::numeric_limits<double>::infinity();
  }
}

// Counts the non-finite pairs of the widened tile and replaces them by zeros. Returns the number of finite pairs.
size_t take_out_nonfinite(Pass& pass, const Tile& tile) {
  Scratch& scratch = pass.scratch;
  size_t finite = 0;
  for (size_t i = 0; i < tile.n; ++i) {
    const bool both = std::isfinite(scratch.x[i]) && std::isfinite(scratch.y[i]);
    scratch.finite_pair[i] = both;
    finite += both;
    if (both) continue;
    count_nonfinite(pass.options, scratch.x[i], scratch.y[i], pass.totals);
    scratch.x[i] = 0;
    scratch.y[i] = 0;
  }
  return finite;
}

uint64_t widened_ulp(Pass& pass, const Tile& tile) {
  Scratch& scratch = pass.scratch;
  const DType type = coarser(pass.xt, pass.yt);
  if (type == DType::kF64)
    return scan_tile<int64_t, Order::kFloat>(reinterpret_cast<const std::byte*>(scratch.x),
                                             reinterpret_cast<const std::byte*>(scratch.y), tile.n)
        .max_distance;
  const Encoding encoding = encoding_of(type);
  positions(scratch.x, tile.padded, encoding, scratch.position_x);
  positions(scratch.y, tile.padded, encoding, scratch.position_y);
  return scan_tile<int64_t, Order::kSigned>(reinterpret_cast<const std::byte*>(scratch.position_x),
                                            reinterpret_cast<const std::byte*>(scratch.position_y), tile.n)
      .max_distance;
}

void count_zeros(Pass& pass, const Tile& tile, bool all_finite) {
  const Scratch& scratch = pass.scratch;
  for (size_t i = 0; i < tile.n; ++i) {
    if (!all_finite && !scratch.finite_pair[i]) continue;
    pass.totals.reference_zeros += scratch.x[i] == 0;
    pass.totals.device_zeros += scratch.y[i] == 0;
  }
}

void general_tile(Pass& pass, const Tile& tile) {
  Scratch& scratch = pass.scratch;
  Totals& totals = pass.totals;
  widen_tile(pass.xt, tile.x, tile.padded, scratch.x);
  widen_tile(pass.yt, tile.y, tile.padded, scratch.y);

  const bool real = pass.options.reference_affine || pass.options.device_affine;
  if (pass.options.reference_affine) dequantise(*pass.options.reference_affine, tile.first, {scratch.x, tile.n});
  if (pass.options.device_affine) dequantise(*pass.options.device_affine, tile.first, {scratch.y, tile.n});

  uint64_t differing = 0;
  const bool all_finite = range_and_differing(pass, tile, differing);
  if (real)
    totals.differing += differing;
  else if (!is_float(pass.xt) && !is_float(pass.yt))
    compare_mixed_integers(pass.xt, tile.x, pass.yt, tile.y, tile.n, totals);
  else if (is_long(pass.xt) || is_long(pass.yt))
    totals.differing += count_differing_exactly(pass.xt, tile.x, pass.yt, tile.y, tile.n);
  else
    totals.differing += differing;

  const size_t finite = all_finite ? tile.n : take_out_nonfinite(pass, tile);
  totals.finite += finite;
  if (finite == 0) return;
  count_zeros(pass, tile, all_finite);
  if (is_float(pass.xt) && is_float(pass.yt)) totals.max_ulp = std::max(totals.max_ulp, widened_ulp(pass, tile));
  sum_widened(pass, tile, all_finite ? nullptr : scratch.finite_pair);
}

void storage_tile(Pass& pass, const Tile& tile) {
  const DType type = *pass.options.storage_type;
  double* x = pass.scratch.x;
  double* rounded = pass.scratch.y;
  widen_tile(pass.xt, tile.x, tile.padded, x);
  if (type == DType::kF64)
    std::copy(x, x + tile.padded, rounded);
  else
    round_to_format(std::span<const double>(x, tile.padded), std::span(rounded, tile.padded), type,
                    Overflow::kInfinity);
  add_storage(x, rounded, tile.n, tile.padded, type, pass.storage, pass.totals.storage);
}

// A tile at the end of a tensor may hold a broken group of lanes: it is copied and padded.
void pad_tile(Pass& pass, Tile& tile) {
  tile.padded = (tile.n + kLanes - 1) / kLanes * kLanes;
  if (tile.padded == tile.n) return;
  const auto pad = [&](DType type, const std::byte*& data, std::byte* buffer) {
    std::memset(buffer, 0, byte_size(type, tile.padded));
    std::memcpy(buffer, data, byte_size(type, tile.n));
    data = buffer;
  };
  pad(pass.xt, tile.x, pass.scratch.tail_x);
  pad(pass.yt, tile.y, pass.scratch.tail_y);
}

double reduced(const double* lanes) {
  double sum = lanes[0];
  for (size_t i = 1; i < kLanes; ++i) sum += lanes[i];
  return sum;
}

BlockSums compare_block_impl(const Block& block, const PassOptions& options, Scratch& scratch, Totals& totals) {
  Pass pass{options, block.reference_type, block.device_type, scratch, totals, {}, {}};
  const bool same = pass.xt == pass.yt && !options.reference_affine && !options.device_affine;
  const int64_t limit = is_float(pass.xt)
                            ? (pass.xt == DType::kF64 ? std::bit_cast<int64_t>(std::numeric_limits<double>::max())
                                                      : static_cast<int64_t>(encoding_of(pass.xt).max_finite))
                            : 0;
  for (size_t start = 0; start < block.count; start += kTile) {
    Tile tile{block.reference + byte_size(pass.xt, start), block.device + byte_size(pass.yt, start),
              std::min(kTile, block.count - start), 0, block.first + start};
    pad_tile(pass, tile);
    if (options.storage_type && is_float(pass.xt)) storage_tile(pass, tile);
    if (!same || !fast_tile(pass, tile, limit)) general_tile(pass, tile);
    if (options.count_outside && exact_tolerance(pass))
      totals.outside += count_outside_exactly(pass.xt, tile.x, pass.yt, tile.y, tile.n, options, totals.worst_outside);
  }
  return {reduced(pass.lanes.abs),     reduced(pass.lanes.difference2), reduced(pass.lanes.reference2),
          reduced(pass.lanes.device2), reduced(pass.lanes.product),     pass.storage.reduced()};
}

}  // namespace HWY_NAMESPACE
}  // namespace paritas::metrics
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace paritas::metrics {

HWY_EXPORT(compare_block_impl);

namespace {

// int8, uint8 or the type itself: what the kernels see.
DType unpack(DType type, const std::byte*& data, size_t n, std::byte* buffer) {
  if (type == DType::kBool) {
    for (size_t i = 0; i < n; ++i) buffer[i] = std::byte{data[i] != std::byte{0}};
    data = buffer;
    return DType::kU8;
  }
  if (type != DType::kI4 && type != DType::kU4) return type;
  for (size_t i = 0; i < n; ++i) {
    const int nibble = (std::to_integer<int>(data[i / 2]) >> (i % 2 * 4)) & 15;
    buffer[i] = static_cast<std::byte>(type == DType::kI4 && nibble > 7 ? nibble - 16 : nibble);
  }
  data = buffer;
  return type == DType::kI4 ? DType::kI8 : DType::kU8;
}

}  // namespace

BlockSums compare_block(const Block& block, const PassOptions& options, Scratch& scratch, Totals& totals) {
  Block plain = block;
  plain.reference_type = unpack(block.reference_type, plain.reference, block.count, scratch.unpacked_x);
  plain.device_type = unpack(block.device_type, plain.device, block.count, scratch.unpacked_y);
  return HWY_DYNAMIC_DISPATCH(compare_block_impl)(plain, options, scratch, totals);
}

}  // namespace paritas::metrics
#endif  // HWY_ONCE
