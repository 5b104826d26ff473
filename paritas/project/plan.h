// A project with everything that it refers to loaded and checked, so that a run does not fail on a misspelt name at its
// end. Internal to project.
#pragma once

#include <optional>

#include "paritas/onnx/graph_index.h"
#include "paritas/project/check.h"
#include "paritas/project/prepared.h"
#include "paritas/project/sides.h"

namespace paritas {

struct PlannedSide {
  std::optional<Target> target;  // to be run
  Path model;                    // of the run
  OpenSide open;                 // opened by the plan, or after the run
};

struct CheckPlan {
  Project project;
  ProjectFiles files;
  PreparedInputs inputs;
  PlannedSide reference, device;
  Path model;                                          // reference's; empty: none
  std::map<std::string, std::vector<int64_t>> labels;  // by task
  std::vector<ProbeMatch> probes;
  std::vector<std::string> notes;
};

// `scratch`: for frozen inputs.
Result<CheckPlan> plan_check(const CheckRequest& request, const Path& scratch);

}  // namespace paritas
