// `paritas bench`: how long a model or a package takes, under conditions that are fixed and recorded, and whether what
// was timed is right. docs/bench.md has the method.
#pragma once

#include "paritas/delivery/bench_types.h"

namespace paritas {

// Times, then holds outputs against the reference, which is made afterwards in another process. Nothing is written but
// BenchRequest::history.
Result<BenchResult> bench(const BenchRequest& request);

}  // namespace paritas
