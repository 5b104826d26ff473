// A project with everything that it refers to loaded and checked, so that a run does not fail on a misspelt name at its
// end.
#pragma once

#include <optional>

#include "paritas/board/board.h"
#include "paritas/onnx/graph_index.h"
#include "paritas/package/package.h"
#include "paritas/project/check.h"
#include "paritas/project/prepared.h"
#include "paritas/project/sides.h"

namespace paritas {

struct PlannedSide {
  std::optional<Target> target;    // to be run
  std::optional<Package> package;  // to be run instead
  std::optional<Board> board;      // to be run instead
  Path model;                      // of the run
  OpenSide open;                   // opened by the plan, or after the run
  bool runs() const { return target || package || board; }
};

struct FurtherSide {
  std::string name;
  Feed feed = Feed::kDeclared;
  PlannedSide side;
};

struct CheckPlan {
  Project project;
  ProjectFiles files;
  PreparedInputs inputs;
  PlannedSide reference, device;
  std::vector<FurtherSide> further;
  Path model;                                          // reference's; empty: none
  std::map<std::string, std::vector<int64_t>> labels;  // by task
  std::vector<ProbeMatch> probes;
  std::vector<std::string> notes;
};

// `scratch`: for frozen inputs.
Result<CheckPlan> plan_check(const CheckRequest& request, const Path& scratch);

// What check() does with a plan: runs the sides that are to be run, compares and judges. Those who have both sides as
// recordings already, and their declarations from elsewhere, begin here.
Result<CheckResult> carry_out(const CheckRequest& request, CheckPlan plan, const Path& scratch);

}  // namespace paritas
