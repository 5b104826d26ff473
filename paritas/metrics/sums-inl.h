// Sums, the largest difference and the largest ratios of tiles whose values are all finite, in doubles.
// Compiled once per instruction set; include only from block_kernels.cc.
#if defined(PARITAS_METRICS_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PARITAS_METRICS_SUMS_INL_H_
#undef PARITAS_METRICS_SUMS_INL_H_
#else
#define PARITAS_METRICS_SUMS_INL_H_
#endif

#include <algorithm>

#include "hwy/highway.h"
#include "paritas/metrics/block.h"

HWY_BEFORE_NAMESPACE();
namespace paritas::metrics {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Lane sums of one block between its tiles.
struct LaneSums {
  alignas(64) double abs[kLanes] = {};
  alignas(64) double difference2[kLanes] = {};
  alignas(64) double reference2[kLanes] = {};
  alignas(64) double device2[kLanes] = {};
  alignas(64) double product[kLanes] = {};
};

// Denominators of the ratios |d| / denominator(|x|).
struct FloorDenominator {
  DoubleVec floor;
  HWY_INLINE DoubleVec operator()(DoubleVec abs_x) const { return hn::Max(abs_x, floor); }
};

struct ToleranceDenominator {
  DoubleVec atol;
  DoubleVec rtol;
  HWY_INLINE DoubleVec operator()(DoubleVec abs_x) const { return hn::Add(atol, hn::Mul(rtol, abs_x)); }
};

// Divisions cost more than all the rest, and few of them can raise a maximum. q = |d| / den, rounded, exceeds `best`
// only if |d| >= best * den, rounded (each rounding is off by half a unit at most), so the others need no division. The
// maximum is then the same whatever `best` was at the start: independent of threads and of vector width.
template <class Denominator>
HWY_INLINE hn::Mask<Doubles> may_exceed(DoubleVec abs_d, DoubleVec abs_x, DoubleVec best,
                                        const Denominator& denominator) {
  const auto tiny = hn::Set(Doubles(), std::numeric_limits<double>::denorm_min());  // |d| = 0 is never a candidate
  return hn::Ge(abs_d, hn::Max(hn::Mul(best, denominator(abs_x)), tiny));
}

// The larger of `best` and the ratios of n elements; 0 / 0 is 0.
template <class L, class Denominator>
HWY_NOINLINE double largest_ratio(const typename L::Element* x, const typename L::Element* y, size_t n,
                                  const Denominator& denominator, double best) {
  const Doubles d;
  auto largest = hn::Set(d, best);
  for (size_t i = 0; i < n; i += kPerVector) {
    const auto vx = L::load(x + i);
    const auto abs_d = hn::Abs(hn::Sub(L::load(y + i), vx));
    const auto ratio = hn::Div(abs_d, denominator(hn::Abs(vx)));
    largest = hn::Max(largest, hn::IfThenElseZero(hn::Gt(abs_d, hn::Zero(d)), ratio));
  }
  return hn::GetLane(hn::MaxOfLanes(d, largest));
}

constexpr size_t kChunk = 64;  // elements between two looks at the candidates

// n is a multiple of kLanes. Returns the largest |d|.
template <class L>
HWY_NOINLINE double sum_tile(const std::byte* x_bytes, const std::byte* y_bytes, size_t n, double rel_floor,
                             LaneSums& lanes, double& max_rel) {
  const auto* x = reinterpret_cast<const typename L::Element*>(x_bytes);
  const auto* y = reinterpret_cast<const typename L::Element*>(y_bytes);
  const Doubles d;
  const FloorDenominator denominator{hn::Set(d, rel_floor)};
  DoubleVec abs[kVectors], difference2[kVectors], reference2[kVectors], device2[kVectors], product[kVectors];
  for (size_t k = 0; k < kVectors; ++k) {
    abs[k] = hn::Load(d, lanes.abs + k * kPerVector);
    difference2[k] = hn::Load(d, lanes.difference2 + k * kPerVector);
    reference2[k] = hn::Load(d, lanes.reference2 + k * kPerVector);
    device2[k] = hn::Load(d, lanes.device2 + k * kPerVector);
    product[k] = hn::Load(d, lanes.product + k * kPerVector);
  }
  auto largest = hn::Zero(d);
  for (size_t start = 0; start < n; start += kChunk) {
    const size_t end = std::min(n, start + kChunk);
    const auto best = hn::Set(d, max_rel);
    auto candidates = hn::Lt(largest, hn::Zero(d));  // none
    for (size_t i = start; i < end; i += kLanes) {
      for (size_t k = 0; k < kVectors; ++k) {
        const auto vx = L::load(x + i + k * kPerVector);
        const auto vy = L::load(y + i + k * kPerVector);
        const auto abs_d = hn::Abs(hn::Sub(vy, vx));
        abs[k] = hn::Add(abs[k], abs_d);
        difference2[k] = hn::Add(difference2[k], hn::Mul(abs_d, abs_d));
        reference2[k] = hn::Add(reference2[k], hn::Mul(vx, vx));
        device2[k] = hn::Add(device2[k], hn::Mul(vy, vy));
        product[k] = hn::Add(product[k], hn::Mul(vx, vy));
        largest = hn::Max(largest, abs_d);
        candidates = hn::Or(candidates, may_exceed(abs_d, hn::Abs(vx), best, denominator));
      }
    }
    if (!hn::AllFalse(d, candidates))
      max_rel = largest_ratio<L>(x + start, y + start, end - start, denominator, max_rel);
  }
  for (size_t k = 0; k < kVectors; ++k) {
    hn::Store(abs[k], d, lanes.abs + k * kPerVector);
    hn::Store(difference2[k], d, lanes.difference2 + k * kPerVector);
    hn::Store(reference2[k], d, lanes.reference2 + k * kPerVector);
    hn::Store(device2[k], d, lanes.device2 + k * kPerVector);
    hn::Store(product[k], d, lanes.product + k * kPerVector);
  }
  return hn::GetLane(hn::MaxOfLanes(d, largest));
}

// Counts |d| > atol + rtol |x|. n is a multiple of kLanes; padding with zeros is never outside.
template <class L>
HWY_NOINLINE uint64_t count_outside(const std::byte* x_bytes, const std::byte* y_bytes, size_t n, double atol,
                                    double rtol, double& worst) {
  const auto* x = reinterpret_cast<const typename L::Element*>(x_bytes);
  const auto* y = reinterpret_cast<const typename L::Element*>(y_bytes);
  const Doubles d;
  const ToleranceDenominator tolerance{hn::Set(d, atol), hn::Set(d, rtol)};
  size_t inside = 0;
  for (size_t start = 0; start < n; start += kChunk) {
    const size_t end = std::min(n, start + kChunk);
    const auto best = hn::Set(d, worst);
    auto candidates = hn::Lt(best, hn::Zero(d));  // none
    for (size_t i = start; i < end; i += kPerVector) {
      const auto vx = L::load(x + i);
      const auto abs_d = hn::Abs(hn::Sub(L::load(y + i), vx));
      inside += hn::CountTrue(d, hn::Le(abs_d, tolerance(hn::Abs(vx))));
      candidates = hn::Or(candidates, may_exceed(abs_d, hn::Abs(vx), best, tolerance));
    }
    if (!hn::AllFalse(d, candidates)) worst = largest_ratio<L>(x + start, y + start, end - start, tolerance, worst);
  }
  return n - inside;
}

// Histogram bins of |d|. n is a multiple of kLanes.
template <class L>
HWY_NOINLINE void bin_keys(const std::byte* x_bytes, const std::byte* y_bytes, size_t n, int64_t base,
                           uint32_t* HWY_RESTRICT keys) {
  const auto* x = reinterpret_cast<const typename L::Element*>(x_bytes);
  const auto* y = reinterpret_cast<const typename L::Element*>(y_bytes);
  const hn::Rebind<int64_t, Doubles> di;
  const hn::Rebind<uint64_t, Doubles> du;
  const hn::Rebind<uint32_t, Doubles> d32;
  const auto lowest = hn::Set(di, base);
  for (size_t i = 0; i < n; i += kPerVector) {
    const auto abs_d = hn::Abs(hn::Sub(L::load(y + i), L::load(x + i)));
    const auto key = hn::ShiftRight<AbsHistogram::kShift>(hn::BitCast(di, abs_d));
    const auto bin = hn::Max(hn::Sub(key, lowest), hn::Zero(di));
    hn::StoreU(hn::TruncateTo(d32, hn::BitCast(du, bin)), d32, keys + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace paritas::metrics
HWY_AFTER_NAMESPACE();

#endif  // include guard that flips with the target
