// Gates in the light of noise: a difference that either side makes by itself convicts nobody, and a pass that the noise
// alone would have failed is luck.
#pragma once

#include <string>
#include <vector>

#include "paritas/judge/gates.h"
#include "paritas/locate/consistency_types.h"
#include "paritas/locate/types.h"

namespace paritas {

// Rows whose gates cannot tell become invalid, with the reason as their rule; returns their names. A gate cannot tell
//
// - when it fails, and the device's value is not worse than the noise's in some check (of repeats and rebuilds, which
//   are draws: than twice its error);
// - when it passes, and the noise of some check fails it by itself.
//
// A gate that fails outside the noise of every check stands, whatever the others do; so do faults that need no gate
// (missing outputs, NaN on the device alone).
std::vector<std::string> judge_noise(const Consistency& consistency, const GateSet& gates,
                                     std::vector<OutputRow>& rows);

// Outputs without a gate: the device's NMSE is not above that of the noise.
bool inside_noise(const Consistency& consistency, const OutputRow& row);

// Adds what the noise means to the findings.
void explain_noise(const Consistency& consistency, const GateSet& gates, LocateResult& result);

}  // namespace paritas
