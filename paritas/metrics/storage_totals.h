// What rounding the reference to a smaller float type costs: sums, counts, figures. Internal to metrics.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "paritas/base/dtype.h"
#include "paritas/metrics/pair_metrics.h"

namespace paritas::metrics {

// Sums whose order matters. All over the finite values of the reference, whatever the device has there.
struct StorageSums {
  double error2 = 0;      // (round(x) - x)^2 over values that the type can hold
  double lost2 = 0;       // the same over nonzero values below the smallest normal
  double reference2 = 0;  // x^2

  void add(const StorageSums& next);
};

// The same, an entry a virtual lane.
struct StorageLanes {
  alignas(64) std::array<double, 8> error2{};
  alignas(64) std::array<double, 8> lost2{};
  alignas(64) std::array<double, 8> reference2{};

  StorageSums reduced() const;  // lanes in index order
};

// Counts and extremes.
struct StorageTotals {
  double max_error = 0;
  double max_abs = 0;  // of finite values
  uint64_t held = 0;   // finite values that the type can hold
  uint64_t overflowed = 0;
  uint64_t subnormal = 0;
  uint64_t flushed = 0;

  void merge(const StorageTotals& other);
};

StorageBaseline finish_storage(DType type, const StorageSums& sums, const StorageTotals& totals);

}  // namespace paritas::metrics
