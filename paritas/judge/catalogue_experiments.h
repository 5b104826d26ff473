// Wordings of experiments: errors put into the reference, parts of the network computed by it.
#pragma once

#include <string>
#include <vector>

#include "paritas/judge/finding.h"

namespace paritas::catalogue {

// An error put into the reference run, alone, and what became of the outputs.
struct InjectionFacts {
  std::vector<std::string> nodes;
  std::vector<std::string> tensors;
  std::string mode;    // "local", "noise(1e-4)"
  std::string device;  // whose error it is; empty: made up
  double nmse = 0;     // of the injected error, the largest over the tensors; inf: NaN or infinities
  bool equal = false;  // every output is as without it, to the bit
  bool gated = false;
  std::vector<std::string> broken;  // outputs with the gate that fails
  double output_nmse = 0;           // largest over the float outputs
  size_t decisions_changed = 0;
};
Finding injection(const InjectionFacts& facts);

// Outputs deviate and no probe gave a local error that could be injected. `demanded` as with search_incomplete.
Finding nothing_injected(const std::string& first_divergence, bool demanded);

// With these islands computed by the reference and the rest by the device, the gates hold.
struct RestoredFacts {
  std::vector<std::string> islands;
  std::vector<std::string> nodes;
  std::vector<std::string> elsewhere;  // nodes of the device's parts that ran elsewhere, with the provider
  bool minimal = false;                // without any one of them they do not
  uint64_t samples = 0;
  std::string device;
};
Finding restored(const RestoredFacts& facts);
Finding restore_needless(const RestoredFacts& facts);
Finding restore_not_found(const RestoredFacts& facts, bool budget_spent);

}  // namespace paritas::catalogue
