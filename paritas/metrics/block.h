// One block (65,536 elements or fewer) of the fused comparison pass: what goes in, what comes out. Internal to metrics.
//
// What a block yields is of two kinds. BlockSums are floating-point sums, whose order matters: the caller keeps one per
// block and adds them in index order. Totals hold counts and extrema, which are exact in any order: one per thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "paritas/base/dtype.h"
#include "paritas/metrics/abs_histogram.h"
#include "paritas/metrics/integer_figures.h"
#include "paritas/metrics/pair_metrics.h"
#include "paritas/metrics/storage_totals.h"

namespace paritas::metrics {

// Elements that are processed together: both sides, widened to double, stay within a 32 KiB first-level cache.
inline constexpr size_t kTile = 2048;
// Virtual lanes of every sum; see pair_metrics.h.
inline constexpr size_t kLanes = 8;

struct BlockSums {
  double abs = 0;          // sum |d|
  double difference2 = 0;  // sum d^2
  double reference2 = 0;   // sum x^2
  double device2 = 0;      // sum y^2
  double product = 0;      // sum x y
  StorageSums storage;

  void add(const BlockSums& next);
};

// Extremes of one side's finite values.
struct Range {
  bool any = false;
  double min = 0;
  double max = 0;

  void include(double low, double high);
  double max_abs() const;
};

struct Totals {
  uint64_t finite = 0;
  uint64_t differing = 0;
  NonfiniteCounts nonfinite;

  double max_abs = -1;  // below every |d|, so that the first finite pair sets the index
  uint64_t max_abs_index = 0;
  double max_abs_reference = 0;
  double max_abs_device = 0;
  double max_rel = 0;
  uint64_t max_ulp = 0;
  uint64_t max_integer_difference = 0;
  Range reference;
  Range device;

  uint64_t reference_zeros = 0;
  uint64_t device_zeros = 0;
  uint64_t outside = 0;
  double worst_outside = 0;
  std::optional<AbsHistogram> histogram;
  std::optional<CodeCounter> codes;
  StorageTotals storage;

  void merge(const Totals& other);
};

struct PassOptions {
  double rel_floor = 0;
  bool count_outside = false;
  double atol = 0;
  double rtol = 0;
  std::optional<DType> storage_type;
  std::optional<Affine> reference_affine;
  std::optional<Affine> device_affine;
};

struct Block {
  DType reference_type = DType::kF32;
  DType device_type = DType::kF32;
  const std::byte* reference = nullptr;  // aligned for the type; 4-bit types start on a whole byte
  const std::byte* device = nullptr;
  uint64_t first = 0;  // flat index of the first element
  size_t count = 0;    // at most kBlockElements
};

// Bytes that one element takes when a tile is widened or unpacked, kept between blocks by the caller's thread.
struct Scratch {
  alignas(64) double x[kTile];
  alignas(64) double y[kTile];
  alignas(64) std::byte tail_x[kTile * 8];
  alignas(64) std::byte tail_y[kTile * 8];
  alignas(64) int64_t position_x[kTile];
  alignas(64) int64_t position_y[kTile];
  alignas(64) uint32_t keys[kTile];
  bool finite_pair[kTile];
  std::byte unpacked_x[kBlockElements];  // 4-bit integers and bool, a byte each
  std::byte unpacked_y[kBlockElements];
};

// Adds the block to `totals` and returns its sums.
BlockSums compare_block(const Block& block, const PassOptions& options, Scratch& scratch, Totals& totals);

// The coarser of two float types: the one with the larger epsilon (bfloat16 is coarser than float16).
DType coarser(DType a, DType b);

// Exact comparison of integers of different types: differing elements and the largest difference (2^64 - 1 at most).
void compare_mixed_integers(DType xt, const std::byte* x, DType yt, const std::byte* y, size_t n, Totals& totals);
// Elements whose values differ, one side being int64 or uint64 and the other a float, without rounding either.
uint64_t count_differing_exactly(DType xt, const std::byte* x, DType yt, const std::byte* y, size_t n);
// |d| > atol + rtol |x| where a side is int64 or uint64: differences are exact. Non-finite values of a float side are
// left out (they were counted elsewhere).
uint64_t count_outside_exactly(DType xt, const std::byte* x, DType yt, const std::byte* y, size_t n,
                               const PassOptions& options, double& worst);

}  // namespace paritas::metrics
