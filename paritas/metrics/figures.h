// From sums and totals to the figures of PairMetrics. Internal to metrics.
#pragma once

#include "paritas/metrics/block.h"
#include "paritas/metrics/wide_sums.h"

namespace paritas::metrics {

// Of a pair whose sums the fused pass has right.
PairMetrics figures(DType reference, DType device, uint64_t count, const PassOptions& options, const BlockSums& sums,
                    const Totals& totals);

// Replaces the figures that rest on sums, or on differences beyond the largest double, of a pair that needs_wide_sums.
void fill_wide(DType reference, DType device, const PassOptions& options, const WideSums& sums, const WideTotals& wide,
               const Totals& totals, PairMetrics& m);

}  // namespace paritas::metrics
