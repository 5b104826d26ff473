// What integer arithmetic on the elements' own bits can tell: ranges, differing elements, the largest distance in units
// in the last place (floats) or in value (integers), and whether anything is not finite.
//
// Every type is mapped to signed integers in the order of its values. For floats that is the sign-magnitude encoding
// read as sign and number: neighbours differ by one, both zeros are 0, NaN and infinity lie outside +-max_finite.
// Compiled once per instruction set; include only from block_kernels.cc.
#if defined(PARITAS_METRICS_SCAN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PARITAS_METRICS_SCAN_INL_H_
#undef PARITAS_METRICS_SCAN_INL_H_
#else
#define PARITAS_METRICS_SCAN_INL_H_
#endif

#include <algorithm>
#include <limits>
#include <type_traits>

#include "hwy/highway.h"
#include "paritas/metrics/block.h"

HWY_BEFORE_NAMESPACE();
namespace paritas::metrics {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

enum class Order { kSigned, kUnsigned, kFloat };

struct Scan {
  int64_t min_x, max_x, min_y, max_y;  // in the ordered mapping
  uint64_t max_distance;
  uint64_t differing;
  uint64_t zeros_x, zeros_y;
};

template <Order kOrder, class D, class V>
HWY_INLINE V ordered(D d, V v) {
  using T = hn::TFromD<D>;
  if constexpr (kOrder == Order::kSigned) {
    return v;
  } else if constexpr (kOrder == Order::kUnsigned) {
    return hn::Xor(v, hn::Set(d, std::numeric_limits<T>::min()));
  } else {
    const V sign = hn::BroadcastSignBit(v);
    return hn::Sub(hn::Xor(hn::And(v, hn::Set(d, std::numeric_limits<T>::max())), sign), sign);
  }
}

template <Order kOrder, class T>
HWY_INLINE T ordered_scalar(T v) {
  constexpr T kMin = std::numeric_limits<T>::min();
  if constexpr (kOrder == Order::kSigned) return v;
  if constexpr (kOrder == Order::kUnsigned) return static_cast<T>(v ^ kMin);
  return v >= 0 ? v : static_cast<T>(-static_cast<T>(v & std::numeric_limits<T>::max()));
}

// Extremes per vector lane, then of all.
template <class T>
class ScanState {
 public:
  using D = hn::ScalableTag<T>;
  using U = std::make_unsigned_t<T>;
  using DU = hn::Rebind<U, D>;
  using V = hn::Vec<D>;

  // Written out: an implicit constructor would not be compiled for the instruction set of this namespace.
  HWY_INLINE explicit ScanState(V zero)
      : min_x_(hn::Set(D(), std::numeric_limits<T>::max())),
        max_x_(hn::Set(D(), std::numeric_limits<T>::min())),
        min_y_(min_x_),
        max_y_(max_x_),
        distance_(hn::Zero(DU())),
        zero_(zero) {}

  HWY_INLINE void add(V x, V y) {
    const D d;
    const DU du;
    min_x_ = hn::Min(min_x_, x);
    max_x_ = hn::Max(max_x_, x);
    min_y_ = hn::Min(min_y_, y);
    max_y_ = hn::Max(max_y_, y);
    // Larger minus smaller, read as unsigned, cannot overflow.
    const auto distance = hn::BitCast(du, hn::Sub(hn::Max(x, y), hn::Min(x, y)));
    distance_ = hn::Max(distance_, distance);
    equal_ += hn::CountTrue(d, hn::Eq(x, y));
    zeros_x_ += hn::CountTrue(d, hn::Eq(x, zero_));
    zeros_y_ += hn::CountTrue(d, hn::Eq(y, zero_));
  }

  HWY_INLINE Scan finish(size_t n) const {
    HWY_ALIGN T lanes[4][HWY_MAX_BYTES / sizeof(T)];
    HWY_ALIGN U distances[HWY_MAX_BYTES / sizeof(T)];
    const D d;
    hn::Store(min_x_, d, lanes[0]);
    hn::Store(max_x_, d, lanes[1]);
    hn::Store(min_y_, d, lanes[2]);
    hn::Store(max_y_, d, lanes[3]);
    hn::Store(distance_, DU(), distances);
    const size_t count = hn::Lanes(d);
    return {*std::min_element(lanes[0], lanes[0] + count),
            *std::max_element(lanes[1], lanes[1] + count),
            *std::min_element(lanes[2], lanes[2] + count),
            *std::max_element(lanes[3], lanes[3] + count),
            *std::max_element(distances, distances + count),
            n - equal_,
            zeros_x_,
            zeros_y_};
  }

 private:
  V min_x_;
  V max_x_;
  V min_y_;
  V max_y_;
  hn::Vec<DU> distance_;
  V zero_;  // zero in the ordered mapping
  size_t equal_ = 0;
  size_t zeros_x_ = 0;
  size_t zeros_y_ = 0;
};

// T: the signed integer of the element's width.
template <class T, Order kOrder>
HWY_NOINLINE Scan scan_tile(const std::byte* x_bytes, const std::byte* y_bytes, size_t n) {
  const auto* x = reinterpret_cast<const T*>(x_bytes);
  const auto* y = reinterpret_cast<const T*>(y_bytes);
  const hn::ScalableTag<T> d;
  const size_t step = hn::Lanes(d);
  const T zero = ordered_scalar<kOrder>(T{0});
  ScanState<T> state(hn::Set(d, zero));
  size_t i = 0;
  for (; i + step <= n; i += step)
    state.add(ordered<kOrder>(d, hn::LoadU(d, x + i)), ordered<kOrder>(d, hn::LoadU(d, y + i)));

  Scan scan = state.finish(i);
  for (; i < n; ++i) {
    const T a = ordered_scalar<kOrder>(x[i]);
    const T b = ordered_scalar<kOrder>(y[i]);
    scan.min_x = std::min<int64_t>(scan.min_x, a);
    scan.max_x = std::max<int64_t>(scan.max_x, a);
    scan.min_y = std::min<int64_t>(scan.min_y, b);
    scan.max_y = std::max<int64_t>(scan.max_y, b);
    using U = std::make_unsigned_t<T>;
    const U distance = static_cast<U>(static_cast<U>(std::max(a, b)) - static_cast<U>(std::min(a, b)));
    scan.max_distance = std::max<uint64_t>(scan.max_distance, distance);
    scan.differing += a != b;
    scan.zeros_x += a == zero;
    scan.zeros_y += b == zero;
  }
  return scan;
}

// Float formats as their ordered mapping sees them.
struct Encoding {
  int mantissa;
  int min_exponent;     // of the smallest normal value
  uint64_t max_finite;  // bits of the largest finite value
};

// Positions of doubles among the values of a float type: each is rounded to the type (nearest, ties to even); what is
// beyond its range comes one step after its largest finite value. n is a multiple of kLanes.
inline void positions(const double* HWY_RESTRICT values, size_t n, const Encoding& type, int64_t* HWY_RESTRICT out) {
  const Doubles d;
  const hn::Rebind<uint64_t, Doubles> du;
  const hn::Rebind<int64_t, Doubles> di;
  const int shift = 52 - type.mantissa;
  const auto half_less_one = hn::Set(du, (uint64_t{1} << (shift - 1)) - 1);
  const auto one = hn::Set(du, uint64_t{1});
  const auto bias = hn::Set(du, static_cast<uint64_t>(1023 + type.min_exponent - 1) << type.mantissa);
  const auto min_normal = hn::Set(du, static_cast<uint64_t>(1023 + type.min_exponent) << 52);
  const auto beyond = hn::Set(du, type.max_finite + 1);
  // In units of the smallest subnormal; adding 2^52 rounds to a whole number.
  const auto to_units =
      hn::BitCast(d, hn::Set(du, static_cast<uint64_t>(1023 + type.mantissa - type.min_exponent) << 52));
  const auto anchor = hn::Set(d, 0x1p52);
  for (size_t i = 0; i < n; i += kPerVector) {
    const auto value = hn::LoadU(d, values + i);
    const auto magnitude = hn::BitCast(du, hn::Abs(value));
    const auto even = hn::And(hn::ShiftRightSame(magnitude, shift), one);
    const auto rounded = hn::ShiftRightSame(hn::Add(magnitude, hn::Add(half_less_one, even)), shift);
    const auto normal = hn::Sub(rounded, bias);
    const auto units = hn::Add(hn::Mul(hn::Abs(value), to_units), anchor);
    const auto subnormal = hn::Sub(hn::BitCast(du, units), hn::BitCast(du, anchor));
    const auto position = hn::Min(hn::IfThenElse(hn::Lt(magnitude, min_normal), subnormal, normal), beyond);
    const auto sign = hn::BroadcastSignBit(hn::BitCast(di, value));
    hn::StoreU(hn::Sub(hn::Xor(hn::BitCast(di, position), sign), sign), di, out + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace paritas::metrics
HWY_AFTER_NAMESPACE();

#endif  // include guard that flips with the target
