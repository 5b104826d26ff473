// Checks of local probes beside findings: figures become evidence only where injection convicted the node, so that they
// have a consequence, and only where they are beyond what the storage type costs by itself.
#pragma once

#include "paritas/locate/sensitivity.h"
#include "paritas/locate/types.h"

namespace paritas {

// |sum - 1| of a Softmax, against the same of the stored right result.
inline constexpr double kSumsBeyondStorage = 10;
// A statistic explains a result's error when what is left of it is at most this share.
inline constexpr double kUnexplainedRest = 0.5;
// A kernel's error, against the estimate for sums in the storage type (which is no bound).
inline constexpr double kBeyondAccumulation = 4;

// Adds to the findings about the nodes that these checks are of, where one of the node's errors was material alone.
void add_probe_evidence(const ProbeChecks& checks, const std::vector<NodeRow>& rows, const Sensitivities& sensitivities,
                        std::vector<Finding>& findings);

}  // namespace paritas
