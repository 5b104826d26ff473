// Three or more recordings of one model: a comparison for every pair, and what can be said about where differences come
// from.
#pragma once

#include <string>
#include <vector>

#include "paritas/compare/types.h"

namespace paritas {

struct ManyResult {
  Verdict verdict = Verdict::kInvalid;  // worst of the pairs with the first recording
  std::vector<std::string> subjects;
  std::vector<bool> accelerated;      // whether each ran on something else than the CPU, as far as its provenance tells
  std::vector<CompareResult> pairs;   // (0,1), (0,2), ..., (1,2), ...
  std::vector<std::string> findings;  // in words: which difference exists without the accelerator
  // For each pair: what its recordings differ in besides the device under test.
  std::vector<std::vector<std::string>> differences;
};

// `pairs` in the order above.
ManyResult conclude_many(std::vector<std::string> subjects, std::vector<CompareResult> pairs);

// True when provenance names a provider, a delegate or a target (a simulated one, too) that is not the CPU's own
// kernels. A delegate may compute on the CPU, as XNNPACK does: it is what is switched on and off all the same. Imported
// dumps without provenance: false.
bool ran_on_accelerator(const RunInfo& info);

}  // namespace paritas
