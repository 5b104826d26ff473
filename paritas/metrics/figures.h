// From sums and totals to the figures of PairMetrics. Internal to metrics.
#pragma once

#include "paritas/metrics/block.h"

namespace paritas::metrics {

// The scale (a power of two) that a second pass needs because squares of the values overflow or vanish; 1 for none.
// Only float64 can need one.
double scale_for_sums(const Totals& totals);

// `sums` were made with options.scale.
PairMetrics figures(DType reference, DType device, uint64_t count, const PassOptions& options, const BlockSums& sums,
                    const Totals& totals);

}  // namespace paritas::metrics
