// The fused comparison pass: every metric of one pair of tensors in one reading.
// x is the reference, y the device, d = y - x. Sums run over pairs where both values are finite ("finite pairs").
//
// Reproducible to the bit for any number of threads and any CPU: values are widened to double and summed in 8 virtual
// lanes (element i goes to lane i mod 8) over fixed blocks of 65,536 elements; lanes and blocks are reduced in index
// order; no fused multiply-add, no reassociation by the compiler.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "paritas/metrics/affine.h"
#include "paritas/metrics/integer_figures.h"
#include "paritas/tensor/tensor.h"

namespace paritas {

inline constexpr uint64_t kBlockElements = 65536;

struct MetricOptions {
  bool quantiles = false;   // fill abs_quantiles (costs about a third of the speed)
  bool codes = false;       // fill codes, where both sides have one type with codes (integer_figures.h)
  double rel_floor = 1e-6;  // denominator floor of max_rel, in the tensor's unit
  // For `outside`: abs d > atol + rtol * abs x. Not counted when both are absent.
  std::optional<double> atol;
  std::optional<double> rtol;
  // Reference rounded to this type is compared with the reference: fills `storage`. Floats only.
  std::optional<DType> storage_type;
  // The side holds quantised integers: its values are these real ones. Figures that only integers have
  // (max_integer_difference) are then absent, `differing` counts real values that are not equal.
  std::optional<Affine> reference_affine;
  std::optional<Affine> device_affine;
  // The values are names (class ids, indices): they are equal or not, and no distance between them means anything.
  bool names = false;
  int threads = 1;
};

struct NonfiniteCounts {
  uint64_t nan_nan = 0;       // both NaN
  uint64_t nan_other = 0;     // exactly one is NaN
  uint64_t same_inf = 0;      // both infinite, same sign
  uint64_t opposite_inf = 0;  // both infinite, opposite sign
  uint64_t inf_finite = 0;    // one infinite, the other finite
  // Of nan_other and inf_finite, those where the device is not finite and the reference is.
  uint64_t device_only = 0;
  uint64_t reference_nan = 0;  // of nan_other, those where the reference is the NaN
  bool any() const { return nan_nan + nan_other + same_inf + opposite_inf + inf_finite != 0; }
};

// What storing the reference in a smaller type would cost (vocabulary: storage baseline).
struct StorageBaseline {
  DType type = DType::kF16;
  double max_abs = 0;         // max |round(x) - x| over values that the type can hold
  double rms = 0;             // root mean square of the same differences
  uint64_t overflowed = 0;    // finite values beyond the type's largest (after rounding)
  double max_over_limit = 0;  // largest |x| / largest finite value of the type; > 1 means not representable
  uint64_t subnormal = 0;     // nonzero |x| below the type's smallest normal value (those rounded to zero included)
  uint64_t flushed = 0;       // of them, those that round to zero
  double lost_energy = 0;     // sum over `subnormal` of (round(x) - x)^2, divided by sum x^2 (0 when that is 0)
  bool representable() const { return overflowed == 0; }
};

// Differences in quantisation steps.
struct StepFigures {
  // What one step is in the unit of the other figures: 1 where codes were compared, else the scale.
  double size = 1;
  double max = 0;   // largest |d| in steps
  double mean = 0;  // mean |d| in steps
};

struct PairMetrics {
  // The values were compared as names: where any differ, no figure but count, finite, differing and nonfinite is
  // filled; where none does, the others are those of equal tensors.
  bool names = false;
  uint64_t count = 0;      // elements
  uint64_t finite = 0;     // finite pairs
  uint64_t differing = 0;  // elements not equal: values compare unequal, or exactly one is NaN. -0 equals +0.
  NonfiniteCounts nonfinite;

  // When finite == 0 and count > 0, all figures down to max_rel, and the norms, are NaN: nothing was compared.
  double max_abs = 0;            // max |d|, unit of the tensor
  uint64_t max_abs_index = 0;    // flat index of its first occurrence
  double max_abs_reference = 0;  // x and y there
  double max_abs_device = 0;
  double mean_abs = 0;  // MAE
  double mse = 0;
  double rmse = 0;
  double nmse = 0;     // sum d^2 / sum x^2; 0/0 = 0, positive/0 = inf
  double sqnr_db = 0;  // -10 log10(nmse): inf when equal
  // ((sum d^2) - (|x| - |y|)^2) / (2 |x| |y|), clamped to [0, 2]; where sum d^2 > 2 |x| |y|, and that form would lose
  // its digits, the equal 1 - (sum x y) / (|x| |y|).
  double cosine_distance = 0;
  double cosine = 1;       // 1 - cosine_distance
  bool zero_norm = false;  // exactly one side has norm zero: cosine_distance is 1 by definition
  double scale_ratio = 1;  // |y| / |x|; 0/0 = 1, positive/0 = inf
  double max_rel = 0;      // max |d| / max(|x|, rel_floor); 0 / 0 = 0
  // Largest distance in units in the last place of the coarser (by epsilon) of the two float types, over finite pairs:
  // both values are rounded to it, and what is beyond its range counts as one step after its largest value. Absent for
  // integers, bool, and when no pair is finite.
  std::optional<uint64_t> max_ulp;

  std::optional<double> epsilon;  // of the coarser of two float types

  // Ranges over finite values of each side (zero when there are none).
  double reference_min = 0, reference_max = 0, reference_max_abs = 0;
  double device_min = 0, device_max = 0, device_max_abs = 0;
  uint64_t reference_zeros = 0, device_zeros = 0;  // elements that are exactly zero, of pairs that are finite
  double reference_norm = 0;                       // sqrt(sum x^2) over finite pairs
  double error_norm = 0;                           // sqrt(sum d^2)

  // Both sides integer or bool: exact, in integer arithmetic (2^64 - 1 where the difference is larger still).
  std::optional<uint64_t> max_integer_difference;

  // Elements outside the declared tolerance. Pairs of NaN count as outside, equal infinities as inside, every other
  // non-finite pair as outside. worst_outside = largest |d| / (atol + rtol |x|) over all pairs, inside or not (inf for
  // outside pairs that are not finite or have no tolerance at all; 0 / 0 = 0). Differences of 64-bit integers are exact
  // here (long double: 64 bits), not rounded to double.
  std::optional<uint64_t> outside;
  double outside_atol = 0, outside_rtol = 0;  // that it was counted with
  double worst_outside = 0;

  // p50, p90, p99, p99.9 of |d| over finite pairs: the smallest v with at least that share of all <= v (numpy's
  // "inverted_cdf"), rounded up to the edge of a histogram bin, at most 1/64 above (2^-1028 above where |d| is below
  // 2^-1022); never above max_abs. Only zero reads as 0.
  std::optional<std::array<double, 4>> abs_quantiles;

  std::optional<StorageBaseline> storage;

  std::optional<IntegerFigures> codes;  // when asked for
  // Filled by whoever knows the quantisation (compare_tensors does not).
  std::optional<StepFigures> steps;
};

// Shapes must have the same number of elements (checked by the caller: pairing decides about shapes). Types may differ.
// Reads files piece by piece (pread, up to 512 KiB a side) into reused buffers, a pair for each thread; memory use does
// not depend on the size of the tensors. Values of int64 and uint64 are rounded to double, but their differences are
// exact where that matters. Squares that would overflow or vanish, of float64 or of a huge or tiny scale, cost a
// second, slower pass; figures beyond the largest double are infinite, and those that are not zero never read as zero.
// Errors: kInput for a file that cannot be read or has changed, or for different element counts; kUsage for a tolerance
// or floor that is negative or not finite.
Result<PairMetrics> compare_tensors(const Tensor& reference, const Tensor& device, const MetricOptions& options);

}  // namespace paritas
