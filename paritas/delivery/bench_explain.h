// What may be said about times: findings and ratios. Pure functions of what was measured.
#pragma once

#include "paritas/delivery/bench_history.h"
#include "paritas/delivery/bench_types.h"

namespace paritas {

// The second of two subjects over the first; both were timed in alternating rounds of one call.
BenchRatio ratio_of(const BenchResult& result);

// This round over an earlier one.
BenchRatio ratio_to_earlier(const HistoryLine& before, const HistoryLine& now);

// Fills result.findings.
void explain_bench(BenchResult& result);

}  // namespace paritas
