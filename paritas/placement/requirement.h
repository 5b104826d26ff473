// What was declared of a placement before the run, and whether it holds.
#pragma once

#include <string>
#include <vector>

#include "paritas/placement/audit_types.h"

namespace paritas {

struct Requirement {
  std::string text;     // as given
  std::string pattern;  // of node names, or "op:Softmax"; empty: the whole graph
  double share = 1;     // 0 to 1
};

// "100%", "99.5%", "/enc/*=100%", "op:Conv=90%"
Result<Requirement> parse_requirement(const std::string& text);

// The whole graph is counted in nodes of the optimised graph where that is known. A pattern concerns source nodes that
// depend on the inputs; of those about which nothing is known none counts. An error when a pattern fits no such node.
Result<RequirementOutcome> check_requirement(const Requirement& requirement, const PlacementAudit& placement,
                                             const std::string& model);

}  // namespace paritas
