// Confidence intervals of shares.
#pragma once

#include <cstdint>

#include "paritas/base/json.h"

namespace paritas {

struct Interval {
  double low = 0;
  double high = 1;
};

Json to_json(const Interval& interval);

// Wilson's score interval of a binomial share, 95 %. Of 0 trials: [0, 1].
Interval wilson(uint64_t successes, uint64_t trials);

// 95 % interval of the difference of two shares measured on the same rows (Agresti and Min 2005: half a row is added
// to each of the four cells). lost: right only on the first side; gained: right only on the second. The difference is
// first minus second. Of 0 rows: [-1, 1].
Interval paired_difference(uint64_t lost, uint64_t gained, uint64_t rows);

}  // namespace paritas
