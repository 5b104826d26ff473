#include "paritas/metrics/abs_histogram.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace paritas::metrics {
namespace {

constexpr int64_t kBias = 1023;
constexpr uint32_t kOctave = 1U << AbsHistogram::kMantissaBits;
constexpr int64_t kNarrowLowest = -150;  // below 2^-149, the smallest float32
constexpr int64_t kNarrowHighest = 130;  // above 2 * FLT_MAX and 2^65
constexpr uint64_t kManyElements = 1 << 20;
constexpr uint64_t kFlushAt = uint64_t{1} << 31;  // before a 32-bit count can overflow

// The bin of infinity comes after the last finite one.
double upper_edge(int64_t key) {
  constexpr int64_t kInfinite = (2 * kBias + 1) << AbsHistogram::kMantissaBits;
  if (key >= kInfinite) return std::numeric_limits<double>::infinity();
  if (key == kInfinite - 1) return std::numeric_limits<double>::max();
  return std::bit_cast<double>(static_cast<uint64_t>(key + 1) << AbsHistogram::kShift);
}

}  // namespace

AbsHistogram::AbsHistogram(bool wide, uint64_t elements)
    : base_(wide ? 0 : (kBias + kNarrowLowest) << kMantissaBits),
      bins_(wide ? 2048U << kMantissaBits : static_cast<uint32_t>(kNarrowHighest - kNarrowLowest) << kMantissaBits),
      tables_(elements >= kManyElements ? 4 : 1),
      counts_(tables_ * bins_) {}

void AbsHistogram::count(const uint32_t* keys, size_t n) {
  if (pending_ + n > kFlushAt) flush();
  pending_ += n;
  counted_ += n;
  size_t i = 0;
  if (tables_ == 4) {
    uint32_t* t0 = counts_.data();
    uint32_t* t1 = t0 + bins_;
    uint32_t* t2 = t1 + bins_;
    uint32_t* t3 = t2 + bins_;
    for (; i + 4 <= n; i += 4) {
      ++t0[keys[i]];
      ++t1[keys[i + 1]];
      ++t2[keys[i + 2]];
      ++t3[keys[i + 3]];
    }
  }
  for (; i < n; ++i) ++counts_[keys[i]];
}

uint64_t AbsHistogram::bin(uint32_t b) const {
  uint64_t sum = totals_.empty() ? 0 : totals_[b];
  for (size_t t = 0; t < tables_; ++t) sum += counts_[t * bins_ + b];
  return sum;
}

uint64_t AbsHistogram::octave(uint32_t first) const {
  uint64_t sum = 0;
  for (size_t t = 0; t < tables_; ++t)
    for (uint32_t b = first; b < first + kOctave; ++b) sum += counts_[t * bins_ + b];
  if (!totals_.empty())
    for (uint32_t b = first; b < first + kOctave; ++b) sum += totals_[b];
  return sum;
}

void AbsHistogram::flush() {
  totals_.resize(bins_);
  for (size_t i = 0; i < counts_.size(); ++i) totals_[i % bins_] += counts_[i];
  std::fill(counts_.begin(), counts_.end(), 0);
  pending_ = 0;
}

void AbsHistogram::merge(const AbsHistogram& other) {
  totals_.resize(bins_);
  for (uint32_t b = 0; b < bins_; ++b) totals_[b] += other.bin(b);
  counted_ += other.counted_;
}

std::array<double, 4> AbsHistogram::quantiles(double max_abs, uint64_t zeros) const {
  constexpr std::array<unsigned, 4> kPerMille = {500, 900, 990, 999};
  std::array<double, 4> result;
  result.fill(std::numeric_limits<double>::quiet_NaN());
  if (counted_ == 0) return result;
  // rank = ceil(p n); seen >= p n is the same test without rounding.
  const auto reaches = [&](uint64_t seen, size_t which) {
    using Wide = unsigned __int128;
    return static_cast<Wide>(seen) * 1000 >= static_cast<Wide>(counted_) * kPerMille[which];
  };
  size_t next = 0;
  uint64_t seen = 0;
  for (uint32_t first = 0; first < bins_ && next < kPerMille.size(); first += kOctave) {
    // Nearly all octaves are passed over whole, which matters for small tensors.
    const uint64_t after = seen + octave(first);
    for (uint32_t b = first; reaches(after, next); ++b) {
      seen += bin(b);
      for (; next < kPerMille.size() && reaches(seen, next); ++next)
        result[next] = b == 0 && reaches(zeros, next) ? 0 : std::min(upper_edge(base_ + b), max_abs);
      if (next == kPerMille.size()) break;
    }
    seen = after;
  }
  return result;
}

}  // namespace paritas::metrics
