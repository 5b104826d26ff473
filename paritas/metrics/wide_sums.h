// Sums of values whose squares leave the range of doubles, or whose differences do or vanish in them. Scalar, and only
// for pairs of which the fused pass says so (needs_wide_sums). Internal to metrics.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "paritas/metrics/block.h"

namespace paritas::metrics {

// value * 2^exponent
struct Scaled {
  double value = 0;
  int exponent = 0;
};

// A value near 1 at the scale of its size: value * 2^(600 * size), size -1, 0 or 1. Squares and products of such
// values, and sums of 2^59 of them, stay within the range of doubles.
struct SizedValue {
  double value = 0;
  int size = 0;
};
SizedValue sized(double value);

// A sum by size of its terms (Blue's way of taking a norm): big terms cannot overflow, nor do small ones vanish unless
// they are small beside the others. The order of terms alone decides the bits.
class WideSum {
 public:
  void add(SizedValue a) { part(a.size) += a.value; }
  void add_product(SizedValue a, SizedValue b) { part(a.size + b.size) += a.value * b.value; }
  void add(const WideSum& next);
  Scaled total() const;

 private:
  double& part(int size) { return parts_[static_cast<size_t>(size + 2)]; }
  std::array<double, 5> parts_{};  // units 2^-1200, 2^-600, 1, 2^600, 2^1200
};

struct WideStorageSums {  // as StorageSums
  WideSum error2;
  WideSum lost2;
  WideSum reference2;
};

struct WideSums {  // as BlockSums
  WideSum abs;
  WideSum difference2;
  WideSum reference2;
  WideSum device2;
  WideSum product;
  WideStorageSums storage;

  void add(const WideSums& next);
};

// What the fused pass has wrong, too, where |d| or a tolerance exceeds the largest double.
struct WideTotals {
  double max_abs = -1;         // in units of max_abs_unit
  double max_abs_unit = 1;     // 2 where |d| exceeds the largest double
  uint64_t max_abs_index = 0;  // of the first occurrence
  double max_abs_reference = 0;
  double max_abs_device = 0;
  double max_rel = 0;
  uint64_t outside = 0;
  double worst_outside = 0;

  void merge(const WideTotals& other);
};

// One side holds 64-bit integers and neither is dequantised: doubles cannot tell neighbours apart.
bool exact_integers(DType reference, DType device, const PassOptions& options);

// Whether `sums` overflowed, lost what they are made of, or belong to differences that doubles cannot hold.
bool needs_wide_sums(DType reference, DType device, const PassOptions& options, const BlockSums& sums,
                     const Totals& totals);

// Element i of n: every 64-bit integer is a long double (64 bits of mantissa).
long double exact_value(DType type, const std::byte* bytes, size_t n, size_t i);

// Adds the block to `totals` and returns its sums. Differences of 64-bit integers are taken in long double.
WideSums wide_block(const Block& block, const PassOptions& options, Scratch& scratch, WideTotals& totals);

}  // namespace paritas::metrics
