// What checks of local probes add to a finding that injection convicts: more evidence, never a verdict of their own.
#pragma once

#include <string>

#include "paritas/judge/finding.h"

namespace paritas::catalogue {

struct SoftmaxSumFacts {
  std::string node;
  double device_max = 0;               // largest |sum - 1| over its rows on the device
  double storage_max = 0;              // of the reference's result rounded to the storage type
  uint64_t rows = 0, broken_rows = 0;  // broken: with NaN or infinities on the device
};
void add_softmax_sums(Finding& finding, const SoftmaxSumFacts& facts);

struct StatisticFacts {
  std::string node;       // of the result
  double scale_rms = 0;   // relative error of the statistic, as the result implies it
  double result_rms = 0;  // of the result
  double rest_rms = 0;    // of it, what no statistic explains
};
void add_statistic(Finding& finding, const StatisticFacts& facts);

struct AccumulationFacts {
  std::string node;
  uint64_t terms = 0;           // products in one sum
  double kernel_rms = 0;        // measured
  double accumulation_rms = 0;  // what rounding every partial sum would cost
};
void add_accumulation(Finding& finding, const AccumulationFacts& facts);

}  // namespace paritas::catalogue
