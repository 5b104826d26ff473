// The verdict on one tensor whose figures are known.
#pragma once

#include "paritas/compare/types.h"
#include "paritas/judge/gates.h"

namespace paritas {

GateSubject gate_subject(const TensorComparison& tensor);

// Judges one pair. `role` decides what an ungated tensor means: an ungated output keeps the verdict at "not judged", an
// ungated intermediate has no say (its verdict is "pass" with the rule "not gated"). Inputs are judged by equality: any
// difference makes the pairing invalid; of the gates only those that name them exactly apply.
void judge_tensor(const GateSet& gates, TensorComparison& tensor);

// Reasons to mistrust the figures of a compared pair, whatever the verdict: mostly zeros, constant, few elements, few
// large deviations, a shift in one direction.
std::vector<std::string> mistrust(const PairMetrics& metrics);

}  // namespace paritas
