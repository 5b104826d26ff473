// Wordings of what was found on several samples.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "paritas/judge/finding.h"

namespace paritas::catalogue {

struct OverSamplesFacts {
  uint64_t holds = 0, diagnosed = 0;  // samples
  std::string told_from;              // the sample that the finding's own numbers are of
  bool in_worst = false, in_median = false;
  std::string worst_sample, median_sample;
  std::string node;                          // first of the finding's nodes, with its local error; empty: there is none
  double local_median = 0, local_worst = 0;  // NMSE over the samples
  std::string local_worst_sample;
  uint64_t local_nonfinite = 0;  // samples on which the device's local result has NaN or infinities of its own
};
// The finding of one sample, and on how many it was made.
Finding over_samples(const Finding& of_one, const OverSamplesFacts& facts);

// Note: samples begin to deviate at different nodes. Nodes with the number of samples, at least two.
Finding divergence_varies(const std::vector<std::pair<std::string, uint64_t>>& nodes, uint64_t diagnosed);

}  // namespace paritas::catalogue
