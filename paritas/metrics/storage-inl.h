// The storage baseline of one tile: its values against themselves rounded to a smaller float type.
// Compiled once per instruction set; include only from block_kernels.cc.
#if defined(PARITAS_METRICS_STORAGE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PARITAS_METRICS_STORAGE_INL_H_
#undef PARITAS_METRICS_STORAGE_INL_H_
#else
#define PARITAS_METRICS_STORAGE_INL_H_
#endif

#include <algorithm>

#include "hwy/highway.h"
#include "paritas/metrics/block.h"
#include "paritas/metrics/lanes-inl.h"
#include "paritas/tensor/float_formats.h"

HWY_BEFORE_NAMESPACE();
namespace paritas::metrics {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Values that are not finite are passed over. x[n, padded) is zero, padded a
// multiple of kLanes.
inline void add_storage(const double* x, const double* rounded, size_t n, size_t padded, DType type,
                        StorageLanes& lanes, StorageTotals& totals) {
  const Doubles d;
  const auto infinity = hn::Inf(d);
  const auto zero = hn::Zero(d);
  const auto least = hn::Set(d, min_normal(type));
  auto max_error = zero, max_abs = zero;
  size_t finite_count = 0, held_count = 0, subnormal = 0, flushed = 0;
  for (size_t i = 0; i < padded; i += kPerVector) {
    const size_t lane = i % kLanes;
    const auto value = hn::LoadU(d, x + i);
    const auto stored = hn::LoadU(d, rounded + i);
    const auto magnitude = hn::Abs(value);
    const auto finite = hn::Lt(magnitude, infinity);
    const auto held = hn::And(finite, hn::Lt(hn::Abs(stored), infinity));
    const auto tiny = hn::And(hn::Gt(magnitude, zero), hn::Lt(magnitude, least));
    const auto error = hn::IfThenElseZero(held, hn::Abs(hn::Sub(stored, value)));
    const auto square = hn::Mul(error, error);
    const auto counted = hn::IfThenElseZero(finite, value);
    const auto accumulate = [&](double* sums, DoubleVec term)
                                HWY_ATTR { hn::Store(hn::Add(hn::Load(d, sums + lane), term), d, sums + lane); };
    accumulate(lanes.error2.data(), square);
    accumulate(lanes.lost2.data(), hn::IfThenElseZero(tiny, square));
    accumulate(lanes.reference2.data(), hn::Mul(counted, counted));
    max_error = hn::Max(max_error, error);
    max_abs = hn::Max(max_abs, hn::IfThenElseZero(finite, magnitude));
    finite_count += hn::CountTrue(d, finite);
    held_count += hn::CountTrue(d, held);
    subnormal += hn::CountTrue(d, tiny);
    flushed += hn::CountTrue(d, hn::And(tiny, hn::Eq(stored, zero)));
  }
  totals.max_error = std::max(totals.max_error, hn::GetLane(hn::MaxOfLanes(d, max_error)));
  totals.max_abs = std::max(totals.max_abs, hn::GetLane(hn::MaxOfLanes(d, max_abs)));
  totals.held += held_count - (padded - n);
  totals.overflowed += finite_count - held_count;
  totals.subnormal += subnormal;
  totals.flushed += flushed;
}

}  // namespace HWY_NAMESPACE
}  // namespace paritas::metrics
HWY_AFTER_NAMESPACE();

#endif  // include guard that flips with the target
