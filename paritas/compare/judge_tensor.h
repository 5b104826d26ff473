// The verdict on one tensor whose figures are known.
#pragma once

#include "paritas/compare/input_gate.h"
#include "paritas/compare/types.h"
#include "paritas/judge/gates.h"

namespace paritas {

GateSubject gate_subject(const TensorComparison& tensor);

// Judges one pair. `role` decides what an ungated tensor means: an ungated output keeps the verdict at "not judged", an
// ungated intermediate has no say (its verdict is "pass" with the rule "not gated"). Gates that cannot fail prove
// nothing: where no other applies, it is not judged. Ids that are equal up to
// the order of equal scores pass. Inputs as by judge_input.
void judge_tensor(const GateSet& gates, TensorComparison& tensor);

// Inputs are judged by equality, or by what was found where one side is quantised: any difference makes the pairing
// invalid. Of the gates only those that name the input exactly apply.
void judge_input(const GateSet& gates, TensorComparison& input);

// What was made from other inputs is not judged, unless it is invalid or has no say.
void leave_unjudged(TensorComparison& tensor);

// Reasons to mistrust the figures of a compared pair, whatever the verdict: mostly zeros, constant, few elements, few
// large deviations, a shift in one direction.
std::vector<std::string> mistrust(const PairMetrics& metrics);

}  // namespace paritas
