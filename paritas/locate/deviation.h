// Does the answer deviate, and at which tensors can the deviation be followed back?
#pragma once

#include <string>
#include <vector>

#include "paritas/judge/gates.h"
#include "paritas/locate/evidence.h"
#include "paritas/locate/types.h"

namespace paritas {

struct Deviation {
  std::vector<std::string> outputs;  // that deviate: a gate failed, or, ungated, figures that no storage type explains
  // Where the diagnosis starts: those of `outputs` that deviate with the reference's decisions fed in too, and float
  // inputs of changed decisions that deviate in front of the others. Empty although outputs deviate: decided
  // differently, nothing else.
  struct Target {
    std::string tensor;
    double observed_nmse = 0;  // inf: NaN or infinities on the device only
  };
  std::vector<Target> targets;
};

Deviation find_deviation(const Evidence& evidence, const std::vector<OutputRow>& outputs,
                         const std::vector<NodeRow>& rows, const GateSet& gates);

}  // namespace paritas
