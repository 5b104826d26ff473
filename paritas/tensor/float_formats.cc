#include "paritas/tensor/float_formats.h"

#include <bit>
#include <cassert>
#include <cmath>
#include <limits>
#include <type_traits>

namespace paritas {
namespace {

// A binary format: 1 sign bit, exponent bits, mantissa bits.
struct Format {
  int mantissa;       // stored bits
  int emin;           // exponent of the smallest normal value; the bias is 1 - emin
  double max_finite;  // also tells E4M3FN apart: its topmost exponent holds finite values
  bool has_infinity;
};

constexpr Format kF16Format{10, -14, 65504.0, true};
constexpr Format kBF16Format{7, -126, 0x1.FEp127, true};
constexpr Format kE4M3Format{3, -6, 448.0, false};
constexpr Format kE5M2Format{2, -14, 57344.0, true};
constexpr Format kF32Format{23, -126, 0x1.FFFFFEp127, true};
constexpr Format kF64Format{52, -1022, std::numeric_limits<double>::max(), true};

const Format& format_of(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return kF16Format;
    case DType::kBF16:
      return kBF16Format;
    case DType::kF8E4M3FN:
      return kE4M3Format;
    case DType::kF8E5M2:
      return kE5M2Format;
    case DType::kF32:
      return kF32Format;
    default:
      assert(dtype == DType::kF64 && "not a floating-point format");
      return kF64Format;
  }
}

// For exponents of normal doubles.
constexpr double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

template <class T>
struct Carrier;  // the type that values are computed in
template <>
struct Carrier<float> {
  using Bits = uint32_t;
  static constexpr int kMantissa = 23;
  static constexpr int kEmin = -126;
};
template <>
struct Carrier<double> {
  using Bits = uint64_t;
  static constexpr int kMantissa = 52;
  static constexpr int kEmin = -1022;
};

// Rounds a carrier to a narrower format without branches.
// Normal range: the format's values are the carrier's with the low `shift` mantissa bits zero, so adding half of the
// last place kept (less one where that place is even) to the encoding and clearing the rest rounds to nearest, ties to
// even; a carry into the exponent is right as it stands. Below the format's normal range the last place is fixed:
// adding and subtracting `anchor`, whose own last place is that one, lets the addition of the carrier round. Where both
// formats share emin, the first way serves subnormals too.
template <class T>
class Rounder {
 public:
  using Bits = typename Carrier<T>::Bits;

  constexpr Rounder(const Format& format, Overflow overflow) {
    shift_ = Carrier<T>::kMantissa - format.mantissa;
    half_less_one_ = shift_ == 0 ? 0 : (Bits{1} << (shift_ - 1)) - 1;
    odd_ = shift_ == 0 ? 0 : 1;
    keep_ = ~((Bits{1} << shift_) - 1);
    max_ = std::bit_cast<Bits>(static_cast<T>(format.max_finite));
    beyond_ = overflow == Overflow::kSaturate ? max_ : format.has_infinity ? kInfinity : kQuietNan;
    if (format.emin > Carrier<T>::kEmin) {
      min_normal_ = std::bit_cast<Bits>(static_cast<T>(power_of_two(format.emin)));
      anchor_ = static_cast<T>(power_of_two(format.emin - format.mantissa + Carrier<T>::kMantissa));
    }
  }

  T operator()(T value) const {
    const auto bits = std::bit_cast<Bits>(value);
    const Bits magnitude = bits & ~kSign;
    const Bits normal = (magnitude + half_less_one_ + ((magnitude >> shift_) & odd_)) & keep_;
    const auto subnormal = std::bit_cast<Bits>((std::bit_cast<T>(magnitude) + anchor_) - anchor_);
    Bits rounded = choose(less(magnitude, min_normal_), subnormal, normal);
    rounded = choose(less(max_, rounded), beyond_, rounded);
    rounded = choose(less(kInfinity, magnitude), magnitude | kQuietNan, rounded);
    return std::bit_cast<T>(rounded | (bits & kSign));
  }

 private:
  // Signed comparison (magnitudes have no sign bit), because SSE2 has no other.
  static bool less(Bits a, Bits b) {
    using Signed = std::make_signed_t<Bits>;
    return static_cast<Signed>(a) < static_cast<Signed>(b);
  }
  // For float a mask, since g++ turns ?: into jumps around the additions and then cannot vectorise (2.5 times slower).
  // SSE2 does not compare 64-bit integers, so double stays scalar, where the jumps are faster (2 times).
  static Bits choose(bool condition, Bits yes, Bits no) {
    if constexpr (sizeof(Bits) == 8) return condition ? yes : no;
    const Bits mask = -static_cast<Bits>(condition);
    return (yes & mask) | (no & ~mask);
  }

  static constexpr Bits kSign = Bits{1} << (sizeof(Bits) * 8 - 1);
  static constexpr Bits kInfinity = std::bit_cast<Bits>(std::numeric_limits<T>::infinity());
  static constexpr Bits kQuietNan = kInfinity | (Bits{1} << (Carrier<T>::kMantissa - 1));

  int shift_ = 0;
  Bits half_less_one_ = 0;
  Bits odd_ = 0;  // 1, or 0 when there is nothing to round away
  Bits keep_ = 0;
  Bits max_ = 0;
  Bits beyond_ = 0;      // what a magnitude over the maximum becomes
  Bits min_normal_ = 0;  // 0: the normal way serves all
  T anchor_ = 0;
};

// Packs the encoding of a value that the format holds exactly (NaN: as much of the payload as fits, never infinity).
template <class Small>
Small pack(float value, const Format& format) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 31) << (sizeof(Small) * 8 - 1);
  const uint32_t magnitude = bits & 0x7FFFFFFF;
  const int shift = 23 - format.mantissa;
  const uint32_t top = (1u << (sizeof(Small) * 8 - 1)) - 1;  // all exponent and mantissa bits set
  if (magnitude > 0x7F800000) {
    if (!format.has_infinity) return static_cast<Small>(sign | top);
    const uint32_t infinity = top & ~((1u << format.mantissa) - 1);
    const uint32_t payload = (magnitude & 0x7FFFFF) >> shift;
    return static_cast<Small>(sign | infinity | (payload != 0 ? payload : 1u << (format.mantissa - 1)));
  }
  if (magnitude == 0x7F800000) return static_cast<Small>(sign | (top & ~((1u << format.mantissa) - 1)));
  // The distance between the exponent biases; none for bfloat16, whose subnormals are then the carrier's.
  const int bias_step = format.emin + 126;
  if (bias_step > 0 && std::bit_cast<float>(magnitude) < static_cast<float>(power_of_two(format.emin))) {
    const auto scale = static_cast<float>(power_of_two(format.mantissa - format.emin));
    return static_cast<Small>(sign | static_cast<uint32_t>(std::bit_cast<float>(magnitude) * scale));
  }
  return static_cast<Small>(sign | ((magnitude >> shift) - (static_cast<uint32_t>(bias_step) << format.mantissa)));
}

template <class Small>
float widen(Small small, const Format& format) {
  const uint32_t sign = static_cast<uint32_t>(small >> (sizeof(Small) * 8 - 1)) << 31;
  const uint32_t top = (1u << (sizeof(Small) * 8 - 1)) - 1;
  const uint32_t magnitude = small & top;
  const uint32_t infinity = top & ~((1u << format.mantissa) - 1);
  const int shift = 23 - format.mantissa;
  const int bias_step = format.emin + 126;
  if (format.has_infinity ? magnitude >= infinity : magnitude == top) {
    const uint32_t payload = format.has_infinity ? (magnitude & ~infinity) << shift : 0x400000;
    return std::bit_cast<float>(sign | 0x7F800000 | payload);
  }
  if (bias_step > 0 && magnitude < (1u << format.mantissa)) {
    const float value = static_cast<float>(magnitude) * static_cast<float>(power_of_two(format.emin - format.mantissa));
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(value));
  }
  return std::bit_cast<float>(sign | ((magnitude << shift) + (static_cast<uint32_t>(bias_step) << 23)));
}

template <class Small>
Small narrow(float value, const Format& format, Overflow overflow) {
  // A NaN goes round the rounder, which would make it quiet: packing keeps all of its payload that fits.
  return pack<Small>(std::isnan(value) ? value : Rounder<float>(format, overflow)(value), format);
}

template <class T>
T round_one(T value, DType dtype, Overflow overflow) {
  return Rounder<T>(format_of(dtype), overflow)(value);
}

template <class T>
void round_all(std::span<const T> in, std::span<T> out, DType dtype, Overflow overflow) {
  assert(in.size() == out.size());
  const Rounder<T> rounder(format_of(dtype), overflow);
  const T* from = in.data();
  T* to = out.data();
  const size_t count = in.size();
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC ivdep  // in place or apart, never shifted
#endif
  for (size_t i = 0; i < count; ++i) to[i] = rounder(from[i]);
}

}  // namespace

float float_from_f16(uint16_t bits) { return widen(bits, kF16Format); }
float float_from_bf16(uint16_t bits) { return widen(bits, kBF16Format); }
float float_from_f8e4m3fn(uint8_t bits) { return widen(bits, kE4M3Format); }
float float_from_f8e5m2(uint8_t bits) { return widen(bits, kE5M2Format); }

uint16_t f16_from_float(float value, Overflow overflow) { return narrow<uint16_t>(value, kF16Format, overflow); }
uint16_t bf16_from_float(float value, Overflow overflow) { return narrow<uint16_t>(value, kBF16Format, overflow); }
uint8_t f8e4m3fn_from_float(float value, Overflow overflow) { return narrow<uint8_t>(value, kE4M3Format, overflow); }
uint8_t f8e5m2_from_float(float value, Overflow overflow) { return narrow<uint8_t>(value, kE5M2Format, overflow); }

float round_to_format(float value, DType format, Overflow overflow) {
  assert(format != DType::kF64);
  return round_one(value, format, overflow);
}
double round_to_format(double value, DType format, Overflow overflow) { return round_one(value, format, overflow); }

void round_to_format(std::span<const float> in, std::span<float> out, DType format, Overflow overflow) {
  assert(format != DType::kF64);
  round_all(in, out, format, overflow);
}
void round_to_format(std::span<const double> in, std::span<double> out, DType format, Overflow overflow) {
  round_all(in, out, format, overflow);
}

double max_finite(DType format) { return format_of(format).max_finite; }
double min_normal(DType format) { return std::ldexp(1.0, format_of(format).emin); }
double min_subnormal(DType format) { return std::ldexp(1.0, format_of(format).emin - format_of(format).mantissa); }
double epsilon(DType format) { return std::ldexp(1.0, -format_of(format).mantissa); }

}  // namespace paritas
