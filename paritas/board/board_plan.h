// Where a TFLite model's operators ran, from the profile of benchmark_model.
#pragma once

#include "paritas/recording/provenance.h"
#include "paritas/tflite/model.h"
#include "paritas/vendor/benchmark_model.h"

namespace paritas {

struct BoardPlan {
  std::optional<PlacementCounts> placement;  // nullopt: the profile does not show it
  std::vector<PlannedPart> plan;             // nodes of a delegate only where there is one partition
  std::vector<std::string> notes;
};

// Operators with a row of their own ran on the interpreter's kernels; those without one are inside of a delegate's.
// Nothing is claimed unless every row was called once in every run. Errors: a row names an operator that the model does
// not have at that place, or operators are missing and no delegate has a row: it is another model's profile.
Result<BoardPlan> plan_of_profile(const OpProfile& profile, const tflite::Model& model, const std::string& subject);

}  // namespace paritas
