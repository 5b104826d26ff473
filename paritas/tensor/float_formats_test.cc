#include "paritas/tensor/float_formats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace paritas {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

struct FormatCase {
  DType dtype;
  int width;
  int exponent_bits;
  bool has_infinity;
  float (*widen)(uint32_t);
  uint32_t (*narrow)(float, Overflow);
};

const FormatCase kCases[] = {
    {DType::kF16, 16, 5, true, [](uint32_t b) { return float_from_f16(static_cast<uint16_t>(b)); },
     [](float v, Overflow o) -> uint32_t { return f16_from_float(v, o); }},
    {DType::kBF16, 16, 8, true, [](uint32_t b) { return float_from_bf16(static_cast<uint16_t>(b)); },
     [](float v, Overflow o) -> uint32_t { return bf16_from_float(v, o); }},
    {DType::kF8E4M3FN, 8, 4, false, [](uint32_t b) { return float_from_f8e4m3fn(static_cast<uint8_t>(b)); },
     [](float v, Overflow o) -> uint32_t { return f8e4m3fn_from_float(v, o); }},
    {DType::kF8E5M2, 8, 5, true, [](uint32_t b) { return float_from_f8e5m2(static_cast<uint8_t>(b)); },
     [](float v, Overflow o) -> uint32_t { return f8e5m2_from_float(v, o); }},
};

// The value of an encoding by the definition of the formats, in double arithmetic: nothing shared with the code.
double decode(const FormatCase& c, uint32_t code) {
  const int mantissa_bits = c.width - 1 - c.exponent_bits;
  const int bias = (1 << (c.exponent_bits - 1)) - 1;
  const bool negative = (code >> (c.width - 1)) & 1;
  const auto exponent = static_cast<int>(code >> mantissa_bits) & ((1 << c.exponent_bits) - 1);
  const auto mantissa = static_cast<int>(code & ((1u << mantissa_bits) - 1));
  const int top = (1 << c.exponent_bits) - 1;
  double value = 0;
  if (c.has_infinity && exponent == top) {
    value = mantissa == 0 ? kInf : std::nan("");
  } else if (!c.has_infinity && exponent == top && mantissa == (1 << mantissa_bits) - 1) {
    value = std::nan("");
  } else if (exponent == 0) {
    value = std::ldexp(mantissa, 1 - bias - mantissa_bits);
  } else {
    value = std::ldexp((1 << mantissa_bits) + mantissa, exponent - bias - mantissa_bits);
  }
  return negative ? -value : value;
}

class FloatFormat : public ::testing::TestWithParam<FormatCase> {
 protected:
  // Encodings of all finite values that are not negative, in increasing order.
  std::vector<uint32_t> finite() const {
    std::vector<uint32_t> codes;
    for (uint32_t code = 0; code < 1u << (GetParam().width - 1); ++code)
      if (std::isfinite(decode(GetParam(), code))) codes.push_back(code);
    return codes;
  }
};

TEST_P(FloatFormat, WidensEveryEncodingAsDefined) {
  for (uint32_t code = 0; code < 1u << GetParam().width; ++code) {
    const double expected = decode(GetParam(), code);
    const float actual = GetParam().widen(code);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(actual)) << code;
    } else {
      ASSERT_EQ(actual, expected) << code;
    }
    ASSERT_EQ(std::signbit(actual), (code >> (GetParam().width - 1)) == 1) << code;
  }
}

TEST_P(FloatFormat, EveryEncodingSurvivesTheWayThroughFloat) {
  for (uint32_t code = 0; code < 1u << GetParam().width; ++code)
    ASSERT_EQ(GetParam().narrow(GetParam().widen(code), Overflow::kInfinity), code);
}

// Around every midpoint of two neighbours: below goes down, above goes up, the tie goes to the even encoding.
TEST_P(FloatFormat, RoundsToNearestTiesToEvenAtEveryBoundary) {
  const auto codes = finite();
  for (size_t i = 0; i + 1 < codes.size(); ++i) {
    const double low = decode(GetParam(), codes[i]);
    const double high = decode(GetParam(), codes[i + 1]);
    const double middle = (low + high) / 2;
    const double even = codes[i] % 2 == 0 ? low : high;
    for (const double sign : {1.0, -1.0}) {
      ASSERT_EQ(round_to_format(sign * middle, GetParam().dtype), sign * even) << middle;
      ASSERT_EQ(round_to_format(sign * std::nextafter(middle, 0.0), GetParam().dtype), sign * low) << middle;
      ASSERT_EQ(round_to_format(sign * std::nextafter(middle, kInf), GetParam().dtype), sign * high) << middle;
      const auto exact = static_cast<float>(middle);
      ASSERT_EQ(exact, middle) << "every midpoint is a float";
      const auto s = static_cast<float>(sign);
      ASSERT_EQ(round_to_format(s * exact, GetParam().dtype), static_cast<float>(sign * even)) << middle;
      ASSERT_EQ(round_to_format(s * std::nextafterf(exact, 0.0f), GetParam().dtype), static_cast<float>(sign * low));
      ASSERT_EQ(round_to_format(s * std::nextafterf(exact, INFINITY), GetParam().dtype),
                static_cast<float>(sign * high));
      const uint32_t sign_bit = sign < 0 ? 1u << (GetParam().width - 1) : 0;
      ASSERT_EQ(GetParam().narrow(s * exact, Overflow::kInfinity), (codes[i] + codes[i] % 2) | sign_bit) << middle;
    }
  }
}

TEST_P(FloatFormat, OverflowsAtHalfAStepOverTheMaximum) {
  const DType dtype = GetParam().dtype;
  const auto codes = finite();
  const double max = decode(GetParam(), codes.back());
  const double step = max - decode(GetParam(), codes[codes.size() - 2]);
  EXPECT_EQ(max, max_finite(dtype));
  const double limit = max + step / 2;
  const double below = std::nextafter(limit, 0.0);
  // The tie goes to the even neighbour: the maximum where its last bit is 0, beyond it otherwise.
  const bool tie_stays = codes.back() % 2 == 0;
  for (const double sign : {1.0, -1.0}) {
    EXPECT_EQ(round_to_format(sign * below, dtype), sign * max);
    for (const double over : {std::nextafter(limit, kInf), limit, 2 * max, kInf}) {
      EXPECT_EQ(round_to_format(sign * over, dtype, Overflow::kSaturate), sign * max);
      EXPECT_EQ(GetParam().widen(GetParam().narrow(static_cast<float>(sign * over), Overflow::kSaturate)), sign * max);
      const double rounded = round_to_format(sign * over, dtype, Overflow::kInfinity);
      if (over == limit && tie_stays) {
        EXPECT_EQ(rounded, sign * max);
      } else if (GetParam().has_infinity) {
        EXPECT_EQ(rounded, sign * kInf);
      } else {
        EXPECT_TRUE(std::isnan(rounded)) << over;
      }
    }
  }
}

TEST_P(FloatFormat, KeepsNanAndSignedZero) {
  const DType dtype = GetParam().dtype;
  for (const Overflow overflow : {Overflow::kInfinity, Overflow::kSaturate}) {
    EXPECT_TRUE(std::isnan(round_to_format(NAN, dtype, overflow)));
    EXPECT_TRUE(std::isnan(round_to_format(std::nan(""), dtype, overflow)));
    EXPECT_TRUE(std::isnan(GetParam().widen(GetParam().narrow(NAN, overflow))));
    // A payload that lies only in bits that the format lacks must not turn into infinity.
    EXPECT_TRUE(std::isnan(GetParam().widen(GetParam().narrow(std::bit_cast<float>(0x7F800001u), overflow))));
    EXPECT_TRUE(std::signbit(round_to_format(-0.0f, dtype, overflow)));
    EXPECT_TRUE(std::signbit(round_to_format(-1e-300, dtype, overflow)));
    EXPECT_EQ(round_to_format(-1e-300, dtype, overflow), 0.0);
    EXPECT_EQ(round_to_format(std::numeric_limits<float>::denorm_min(), dtype, overflow), 0.0f);
  }
}

TEST_P(FloatFormat, ConstantsAreThoseOfTheEncodings) {
  const DType dtype = GetParam().dtype;
  const int mantissa_bits = GetParam().width - 1 - GetParam().exponent_bits;
  EXPECT_EQ(min_subnormal(dtype), decode(GetParam(), 1));
  EXPECT_EQ(min_normal(dtype), decode(GetParam(), 1u << mantissa_bits));
  EXPECT_EQ(epsilon(dtype), std::ldexp(1.0, -mantissa_bits));
}

// A regular walk over all floats, by value and as an array (also in place): both ways give the same bits, and every
// result lies no further away than both neighbours among the format's values.
TEST_P(FloatFormat, ArraysRoundLikeSingleValues) {
  std::vector<float> in;
  for (uint64_t bits = 0; bits <= 0xFFFFFFFF; bits += 65521)
    in.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  std::vector<double> values;
  for (uint32_t code : finite()) values.push_back(decode(GetParam(), code));
  for (const Overflow overflow : {Overflow::kInfinity, Overflow::kSaturate}) {
    std::vector<float> out(in.size());
    std::vector<double> wide_out(in.size());
    const std::vector<double> wide(in.begin(), in.end());
    round_to_format(in, out, GetParam().dtype, overflow);
    round_to_format(wide, wide_out, GetParam().dtype, overflow);
    std::vector<float> in_place = in;
    round_to_format(in_place, in_place, GetParam().dtype, overflow);
    for (size_t i = 0; i < in.size(); ++i) {
      if (std::isnan(out[i])) {
        ASSERT_TRUE(std::isnan(in[i]) || (!GetParam().has_infinity && overflow == Overflow::kInfinity)) << in[i];
        ASSERT_TRUE(std::isnan(wide_out[i]) && std::isnan(in_place[i])) << in[i];
        continue;
      }
      ASSERT_EQ(out[i], round_to_format(in[i], GetParam().dtype, overflow)) << in[i];
      ASSERT_EQ(out[i], in_place[i]) << in[i];
      ASSERT_EQ(out[i], wide_out[i]) << in[i];
      const double magnitude = std::fabs(in[i]);
      if (magnitude > values.back()) continue;
      const auto above = std::lower_bound(values.begin(), values.end(), magnitude);
      const double distance =
          above == values.begin() ? *above - magnitude : std::min(*above - magnitude, magnitude - *(above - 1));
      ASSERT_EQ(std::fabs(std::fabs(out[i]) - magnitude), distance) << in[i];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, FloatFormat, ::testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(name(test.param.dtype)); });

// Half way between two float16 values plus a trifle that float drops: by way of float this would be a tie.
TEST(RoundToFormat, RoundsADoubleOnce) {
  const double value = 1 + std::ldexp(1, -11) + std::ldexp(1, -40);
  EXPECT_EQ(round_to_format(value, DType::kF16), 1 + std::ldexp(1, -10));
  EXPECT_EQ(round_to_format(static_cast<float>(value), DType::kF16), 1.0f);
}

TEST(RoundToFormat, DoubleToFloat32IsTheConversionOfTheProcessor) {
  uint64_t state = 1;
  for (int i = 0; i < 200'000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    // Exponents around those of float32, its subnormals and its overflow included.
    const uint64_t exponent = 1023 - 160 + (state >> 40) % 300;
    const auto value = std::bit_cast<double>((state & 0x800FFFFFFFFFFFFF) | exponent << 52);
    ASSERT_EQ(round_to_format(value, DType::kF32), static_cast<double>(static_cast<float>(value))) << value;
  }
  EXPECT_EQ(round_to_format(1e300, DType::kF32, Overflow::kSaturate), std::numeric_limits<float>::max());
}

TEST(RoundToFormat, FloatToFloat32ChangesNothing) {
  for (const float value : {1.1f, -0.0f, std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::max()})
    EXPECT_EQ(std::bit_cast<uint32_t>(round_to_format(value, DType::kF32)), std::bit_cast<uint32_t>(value));
}

}  // namespace
}  // namespace paritas
