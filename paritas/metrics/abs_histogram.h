// Quantiles of |d| from a histogram over the leading bits of its float64 representation: 11 exponent bits and 6
// mantissa bits, so that a bin's upper edge exceeds its lower one by at most 1/64 (1.6 %). Counts are exact in any
// order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace paritas::metrics {

class AbsHistogram {
 public:
  static constexpr int kMantissaBits = 6;
  static constexpr int kShift = 52 - kMantissaBits;

  // `wide` covers every double; otherwise the differences of types up to float32 and of all integers: 2^-150 to 2^130.
  // `elements` is how many are expected in all (few need fewer sub-tables).
  AbsHistogram(bool wide, uint64_t elements);

  // Bin of a non-negative double with these bits is max(0, (bits >> kShift) - base()); below bins().
  int64_t base() const { return base_; }
  uint32_t bins() const { return bins_; }

  // Neighbouring elements go to different sub-tables: equal values in a row would otherwise wait for each other's
  // store.
  void count(const uint32_t* keys, size_t n);
  void merge(const AbsHistogram& other);

  // p50, p90, p99, p99.9 in the sense of numpy's method "inverted_cdf" (the smallest value v such that at least the
  // fraction p of all is <= v), as the upper edge of the bin that holds it, but at most `max_abs`. `zeros` of what was
  // counted were exactly zero, and stay so. NaN when nothing was counted.
  std::array<double, 4> quantiles(double max_abs, uint64_t zeros) const;

 private:
  void flush();
  uint64_t bin(uint32_t b) const;
  uint64_t octave(uint32_t first) const;  // sum of the bins of one exponent

  int64_t base_;
  uint32_t bins_;
  size_t tables_;
  uint64_t counted_ = 0;          // elements in all
  uint64_t pending_ = 0;          // of them, in counts_
  std::vector<uint32_t> counts_;  // tables_ x bins_
  std::vector<uint64_t> totals_;  // bins_; empty until the first flush, since small tensors are many
};

}  // namespace paritas::metrics
