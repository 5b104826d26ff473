// What can be done with stored results: judge them by other gates, merge parts, and see what became worse.
#pragma once

#include <string>
#include <vector>

#include "paritas/compare/types.h"
#include "paritas/judge/gates.h"

namespace paritas {

// Judges the stored figures again. Gates that need a figure that was not stored make their tensors "not judged" and are
// named in the notes; the result says that it was decided afterwards. Errors: a gate matches no tensor.
Result<CompareResult> judge_again(const CompareResult& stored, const GateSet& gates);

// Parts of one comparison (--samples A:B on any machine) as the whole. The order of the arguments does not matter.
// Errors: parts of different comparisons, that overlap, or that leave a gap.
Result<CompareResult> merge_parts(std::vector<CompareResult> parts, const std::vector<std::string>& subjects);

struct Regression {
  std::string tensor;
  std::string sample;
  std::string metric;
  double before = 0;
  double after = 0;
  bool worse = false;  // else better
};

struct BaselineComparison {
  std::string baseline;                 // its file
  std::vector<Regression> changes;      // the worst first: worse ones, then better ones
  std::vector<std::string> gone;        // compared before, not now
  std::vector<std::string> added;       // compared now, not before
  std::vector<std::string> provenance;  // what differs between the two devices' runs
  std::vector<std::string> notes;
};

// Per tensor and sample the metrics that changed by more than `tolerance` (relative). A tensor that was compared before
// and is not now counts as gone, which is no improvement.
BaselineComparison compare_with_baseline(const CompareResult& now, const CompareResult& before, const std::string& file,
                                         double tolerance = 0.05);

// "threads: 1 / 4": what the two runs differ in besides their tensors.
std::vector<std::string> provenance_differences(const RunInfo& a, const RunInfo& b);

}  // namespace paritas
