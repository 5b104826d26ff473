// Loading elements of each type as double vectors. Compiled once per instruction set; include only from
// block_kernels.cc.
#if defined(PARITAS_METRICS_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PARITAS_METRICS_LANES_INL_H_
#undef PARITAS_METRICS_LANES_INL_H_
#else
#define PARITAS_METRICS_LANES_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "paritas/metrics/block.h"

HWY_BEFORE_NAMESPACE();
namespace paritas::metrics {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Sums have 8 lanes on every CPU: 1, 2, 4 or 8 vectors of doubles, never wider than 8 lanes.
using Doubles = hn::CappedTag<double, kLanes>;
using DoubleVec = hn::Vec<Doubles>;
constexpr size_t kPerVector = hn::MaxLanes(Doubles());
constexpr size_t kVectors = kLanes / kPerVector;
static_assert(kVectors * kPerVector == kLanes);

// Loaders: load(p) widens the kPerVector elements at p exactly. p need not be aligned.
struct LoadF64 {
  using Element = double;
  static HWY_INLINE DoubleVec load(const double* p) { return hn::LoadU(Doubles(), p); }
};

struct LoadF32 {
  using Element = float;
  static HWY_INLINE DoubleVec load(const float* p) {
    return hn::PromoteTo(Doubles(), hn::LoadU(hn::Rebind<float, Doubles>(), p));
  }
};

// Without the F16C instructions: the exponent is moved by an exact multiplication, which also makes subnormals right;
// infinity and NaN get the largest exponent afterwards.
template <class U32Vec>
HWY_INLINE hn::Vec<hn::Rebind<float, Doubles>> widen_f16(U32Vec bits) {
  const hn::Rebind<uint32_t, Doubles> du;
  const hn::Rebind<float, Doubles> df;
  const auto magnitude = hn::ShiftLeft<13>(hn::And(bits, hn::Set(du, 0x7FFFU)));
  const auto finite = hn::BitCast(du, hn::Mul(hn::BitCast(df, magnitude), hn::Set(df, 0x1p112F)));
  const auto is_special = hn::Gt(magnitude, hn::Set(du, (0x7C00U << 13) - 1));
  const auto special = hn::Or(magnitude, hn::Set(du, 0x7F800000U));
  const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(du, 0x8000U)));
  return hn::BitCast(df, hn::Or(hn::IfThenElse(is_special, special, finite), sign));
}

struct LoadF16 {
  using Element = uint16_t;
  static HWY_INLINE DoubleVec load(const uint16_t* p) {
    const hn::Rebind<uint16_t, Doubles> d16;
    const hn::Rebind<uint32_t, Doubles> d32;
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
    (void)d32;
    const hn::Rebind<hwy::float16_t, Doubles> dh;
    return hn::PromoteTo(Doubles(), hn::PromoteTo(hn::Rebind<float, Doubles>(), hn::BitCast(dh, hn::LoadU(d16, p))));
#else
    return hn::PromoteTo(Doubles(), widen_f16(hn::PromoteTo(d32, hn::LoadU(d16, p))));
#endif
  }
};

struct LoadBF16 {
  using Element = uint16_t;
  static HWY_INLINE DoubleVec load(const uint16_t* p) {
    const hn::Rebind<uint32_t, Doubles> d32;
    const auto bits = hn::ShiftLeft<16>(hn::PromoteTo(d32, hn::LoadU(hn::Rebind<uint16_t, Doubles>(), p)));
    return hn::PromoteTo(Doubles(), hn::BitCast(hn::Rebind<float, Doubles>(), bits));
  }
};

// int8, uint8, int16, uint16
template <class T>
struct LoadSmallInteger {
  using Element = T;
  static HWY_INLINE DoubleVec load(const T* p) {
    const hn::Rebind<int32_t, Doubles> d32;
    return hn::PromoteTo(Doubles(), hn::PromoteTo(d32, hn::LoadU(hn::Rebind<T, Doubles>(), p)));
  }
};

struct LoadI32 {
  using Element = int32_t;
  static HWY_INLINE DoubleVec load(const int32_t* p) {
    return hn::PromoteTo(Doubles(), hn::LoadU(hn::Rebind<int32_t, Doubles>(), p));
  }
};

// n is a multiple of kLanes.
template <class L>
HWY_INLINE void widen_with(const std::byte* from, size_t n, double* HWY_RESTRICT to) {
  const auto* p = reinterpret_cast<const typename L::Element*>(from);
  for (size_t i = 0; i < n; i += kPerVector) hn::StoreU(L::load(p + i), Doubles(), to + i);
}

// A whole number of lanes of any type but the 4-bit ones (which arrive unpacked).
inline void widen_tile(DType type, const std::byte* from, size_t n, double* HWY_RESTRICT to) {
  switch (type) {
    case DType::kF64:
      return widen_with<LoadF64>(from, n, to);
    case DType::kF32:
      return widen_with<LoadF32>(from, n, to);
    case DType::kF16:
      return widen_with<LoadF16>(from, n, to);
    case DType::kBF16:
      return widen_with<LoadBF16>(from, n, to);
    case DType::kI8:
      return widen_with<LoadSmallInteger<int8_t>>(from, n, to);
    case DType::kU8:
      return widen_with<LoadSmallInteger<uint8_t>>(from, n, to);
    case DType::kI16:
      return widen_with<LoadSmallInteger<int16_t>>(from, n, to);
    case DType::kU16:
      return widen_with<LoadSmallInteger<uint16_t>>(from, n, to);
    case DType::kI32:
      return widen_with<LoadI32>(from, n, to);
    default:
      load_as_double(type, std::span(from, byte_size(type, n)), 0, std::span(to, n));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace paritas::metrics
HWY_AFTER_NAMESPACE();

#endif  // include guard that flips with the target
