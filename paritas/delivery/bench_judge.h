// Whether what was timed is right.
#pragma once

#include "paritas/delivery/bench_types.h"

namespace paritas {

struct BenchJudgement {
  Verdict verdict = Verdict::kNotJudged;
  std::vector<std::string> reasons;
  std::optional<CompareResult> comparison;  // nullopt: there was no reference
  std::vector<std::string> notes;
};

// Holds `outputs` against what the reference makes of the same inputs, now, in a process of its own; against the
// recorded reference where the subject has one, with the tasks that a package declares. `folder`: scratch, created.
Result<BenchJudgement> judge_outputs(const BenchRequest& request, const BenchSubject& subject,
                                     const NamedTensors& outputs, const Path& folder);

// The gates that judge this subject: the user's, else its own.
const GateSet& gates_for(const BenchRequest& request, const BenchSubject& subject);

}  // namespace paritas
