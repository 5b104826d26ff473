#include "paritas/metrics/storage_totals.h"

#include <algorithm>
#include <cmath>

#include "paritas/tensor/float_formats.h"

namespace paritas::metrics {
void StorageSums::add(const StorageSums& next) {
  error2 += next.error2;
  lost2 += next.lost2;
  reference2 += next.reference2;
}

StorageSums StorageLanes::reduced() const {
  StorageSums sums;
  for (size_t i = 0; i < error2.size(); ++i) sums.add({error2[i], lost2[i], reference2[i]});
  return sums;
}

void StorageTotals::merge(const StorageTotals& other) {
  max_error = std::max(max_error, other.max_error);
  max_abs = std::max(max_abs, other.max_abs);
  held += other.held;
  overflowed += other.overflowed;
  subnormal += other.subnormal;
  flushed += other.flushed;
}

StorageBaseline finish_storage(DType type, const StorageSums& sums, const StorageTotals& totals) {
  StorageBaseline baseline;
  baseline.type = type;
  baseline.max_abs = totals.max_error;
  baseline.rms = totals.held == 0 ? 0 : std::sqrt(sums.error2 / static_cast<double>(totals.held));
  baseline.overflowed = totals.overflowed;
  baseline.max_over_limit = totals.max_abs / max_finite(type);
  baseline.subnormal = totals.subnormal;
  baseline.flushed = totals.flushed;
  baseline.lost_energy = sums.reference2 == 0 ? 0 : sums.lost2 / sums.reference2;
  return baseline;
}

}  // namespace paritas::metrics
