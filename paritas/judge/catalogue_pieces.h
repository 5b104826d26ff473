// Wordings of single functions looked at by input interval. All are notes: what becomes of the answer is not measured.
#pragma once

#include <optional>
#include <string>

#include "paritas/judge/finding.h"

namespace paritas::catalogue {

struct SaturationFacts {
  std::string node;
  std::string op;
  std::string device;
  std::string format;  // storage type of the device; empty: not known
  bool left = false;
  bool synthetic = false;      // seen on inputs that were made up
  double from = 0, level = 0;  // input from which on, outwards, the device's output stays at this level
  std::optional<double> due;   // where the format alone, or the reference, would; absent: nowhere on these inputs
  uint64_t inputs = 0;         // between the two
  double share = 0;            // of all inputs
  double max_abs = 0;          // largest difference to the reference there
};
Finding saturates_early(const SaturationFacts& facts);
Finding tail_lost(const SaturationFacts& facts);  // the level is zero: a tail that the function still has

struct GeluFormFacts {
  std::string node;
  std::string device;
  std::string declared;  // by the model
  std::string reference_form, device_form;
  double position = 0;  // of the device: 0 exact, 1 tanh
  bool synthetic = false;
};
Finding gelu_forms(const GeluFormFacts& facts);

}  // namespace paritas::catalogue
