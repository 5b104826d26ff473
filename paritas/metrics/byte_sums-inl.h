// sum_tile for 8-bit integers: the same sums in whole numbers, at a third of the cost. All of them are exact in doubles
// too, so that the bits are the same whichever way was taken. Compiled once per instruction set; include only from
// block_kernels.cc.
#if defined(PARITAS_METRICS_BYTE_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PARITAS_METRICS_BYTE_SUMS_INL_H_
#undef PARITAS_METRICS_BYTE_SUMS_INL_H_
#else
#define PARITAS_METRICS_BYTE_SUMS_INL_H_
#endif

#include <algorithm>

#include "hwy/highway.h"
#include "paritas/metrics/block.h"
#include "paritas/metrics/lanes-inl.h"
#include "paritas/metrics/sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace paritas::metrics {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR  // has no halves of a vector
template <class T>
HWY_INLINE double sum_byte_tile(const std::byte* x, const std::byte* y, size_t n, double rel_floor, LaneSums& lanes,
                                double& max_rel) {
  return sum_tile<LoadSmallInteger<T>>(x, y, n, rel_floor, lanes, max_rel);
}
#else

using Shorts = hn::CappedTag<int16_t, 32>;
using Ints = hn::RepartitionToWide<Shorts>;
using Floats = hn::RebindToFloat<Ints>;
using ShortVec = hn::Vec<Shorts>;
using FloatVec = hn::Vec<Floats>;

// A sum of products of 16-bit numbers, exact for a tile: 2048 * 255 * 255 fits 31 bits.
struct ProductSum {
  hn::Vec<Ints> low, high;
  HWY_INLINE void add(ShortVec a, ShortVec b) { low = hn::ReorderWidenMulAccumulate(Ints(), a, b, low, high); }
  HWY_INLINE double total() const {
    return static_cast<double>(hn::GetLane(hn::SumOfLanes(Ints(), hn::Add(low, high))));
  }
};

HWY_INLINE ProductSum no_sum() { return {hn::Zero(Ints()), hn::Zero(Ints())}; }

// Whether a ratio of a chunk may exceed the largest one so far. In single precision, and a little too ready to say yes:
// what it finds is divided exactly afterwards.
struct CandidateTest {
  FloatVec floor, best;

  template <class HalfVec>
  HWY_INLINE hn::Mask<Floats> half(HalfVec abs_d, HalfVec abs_x) const {
    const Floats df;
    const auto distance = hn::ConvertTo(df, hn::PromoteTo(Ints(), abs_d));
    const auto denominator = hn::Max(hn::ConvertTo(df, hn::PromoteTo(Ints(), abs_x)), floor);
    const auto needed = hn::Max(hn::Mul(best, denominator), hn::Set(df, 0.5F));  // |d| = 0 is never a candidate
    return hn::Ge(distance, needed);
  }

  HWY_INLINE hn::Mask<Floats> operator()(ShortVec abs_d, ShortVec abs_x) const {
    const hn::Half<Shorts> d;
    return hn::Or(half(hn::LowerHalf(d, abs_d), hn::LowerHalf(d, abs_x)),
                  half(hn::UpperHalf(d, abs_d), hn::UpperHalf(d, abs_x)));
  }
};

inline float lowered(double v) { return static_cast<float>(std::min(v, 1e30) * (1 - 1e-6)); }

// As sum_tile<LoadSmallInteger<T>>; n is at most kTile.
template <class T>
HWY_NOINLINE double sum_byte_tile(const std::byte* x_bytes, const std::byte* y_bytes, size_t n, double rel_floor,
                                  LaneSums& lanes, double& max_rel) {
  const Shorts ds;
  const hn::Rebind<T, Shorts> db;
  const auto* x = reinterpret_cast<const T*>(x_bytes);
  const auto* y = reinterpret_cast<const T*>(y_bytes);
  const auto one = hn::Set(ds, 1);
  ProductSum abs = no_sum(), difference2 = no_sum(), reference2 = no_sum(), device2 = no_sum(), product = no_sum();
  const auto floor = hn::Set(Floats(), lowered(rel_floor));
  auto largest = hn::Zero(ds);
  const size_t whole = n / kChunk * kChunk;
  for (size_t start = 0; start < whole; start += kChunk) {
    const CandidateTest may_exceed_best{floor, hn::Set(Floats(), lowered(max_rel))};
    auto candidates = hn::Lt(floor, hn::Zero(Floats()));  // none
    for (size_t i = start; i < start + kChunk; i += hn::Lanes(ds)) {
      const auto vx = hn::PromoteTo(ds, hn::LoadU(db, x + i));
      const auto vy = hn::PromoteTo(ds, hn::LoadU(db, y + i));
      const auto abs_d = hn::Abs(hn::Sub(vy, vx));
      abs.add(abs_d, one);
      difference2.add(abs_d, abs_d);
      reference2.add(vx, vx);
      device2.add(vy, vy);
      product.add(vx, vy);
      largest = hn::Max(largest, abs_d);
      candidates = hn::Or(candidates, may_exceed_best(abs_d, hn::Abs(vx)));
    }
    if (!hn::AllFalse(Floats(), candidates)) {
      const FloorDenominator denominator{hn::Set(Doubles(), rel_floor)};
      max_rel = largest_ratio<LoadSmallInteger<T>>(x + start, y + start, kChunk, denominator, max_rel);
    }
  }
  lanes.abs[0] += abs.total();
  lanes.difference2[0] += difference2.total();
  lanes.reference2[0] += reference2.total();
  lanes.device2[0] += device2.total();
  lanes.product[0] += product.total();
  const double rest =
      sum_tile<LoadSmallInteger<T>>(x_bytes + whole, y_bytes + whole, n - whole, rel_floor, lanes, max_rel);
  return std::max(rest, static_cast<double>(hn::GetLane(hn::MaxOfLanes(ds, largest))));
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace paritas::metrics
HWY_AFTER_NAMESPACE();

#endif  // include guard that flips with the target
