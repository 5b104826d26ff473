// Were two recordings made from the inputs that the project declares? Internal to project.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "paritas/compare/input_gate.h"
#include "paritas/recording/sample_stream.h"

namespace paritas {

struct RecordedInputs {
  std::vector<std::string> differing;  // "x: the declared input is not what the device recorded: ..."; one a sample
  std::set<std::string> samples;       // ids of the samples with one
  std::set<std::string> absent;        // declared inputs that a sample does not hold
};

// `declared`: frozen inputs, one entry for all samples or one a sample. `rules`: how a float input becomes codes, by
// name. `recorded` must call the inputs by the declared names; `side` is "reference" or "device", for messages.
Result<RecordedInputs> hold_against_declared(const std::vector<NamedTensors>& declared,
                                             const std::map<std::string, QuantisationRule>& rules,
                                             SampleStream& recorded, const std::string& side);

}  // namespace paritas
