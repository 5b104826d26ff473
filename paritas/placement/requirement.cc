#include "paritas/placement/requirement.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "paritas/placement/audit.h"

namespace paritas {
namespace {

// The list is for people: the JSON result has every node.
constexpr size_t kMaxMissing = 1000;

bool depends_on_inputs(const NodePlacement& node) { return node.place != Place::kConstant; }

}  // namespace

Result<Requirement> parse_requirement(const std::string& text) {
  Requirement made;
  made.text = text;
  const auto equals = text.rfind('=');
  if (equals != std::string::npos) made.pattern = text.substr(0, equals);
  const std::string share = equals == std::string::npos ? text : text.substr(equals + 1);
  double percent = 0;
  const auto [end, code] = std::from_chars(share.data(), share.data() + share.size(), percent);
  const bool whole = code == std::errc() && share.ends_with('%') && end + 1 == share.data() + share.size();
  if (!whole || !(percent >= 0 && percent <= 100) || equals == 0)
    return usage_error("--require " + text, "is not PERCENT% or PATTERN=PERCENT%",
                       "for example: --require 100%, --require '/enc/*=100%', --require 'op:Conv=90%'");
  made.share = percent / 100;
  return made;
}

Result<RequirementOutcome> check_requirement(const Requirement& requirement, const PlacementAudit& placement,
                                             const std::string& model) {
  RequirementOutcome outcome;
  outcome.text = requirement.text;
  // Where a session told every node of its graph, what it no longer has was merged into what surrounds it. Other
  // sources may simply leave nodes out.
  const bool complete = std::any_of(placement.evidence.begin(), placement.evidence.end(),
                                    [](const EvidenceUse& use) { return use.source == EvidenceSource::kAssignment; });
  uint64_t on_cpu = 0;
  outcome.optimised = requirement.pattern.empty() && placement.totals.optimised_nodes.has_value();
  for (const NodePlacement& node : placement.nodes) {
    if (!depends_on_inputs(node)) continue;
    if (!requirement.pattern.empty() && !pattern_fits(requirement.pattern, node.name, node.op)) continue;
    ++outcome.counted;
    on_cpu += node.place == Place::kFallbackCpu;
    if (node.place == Place::kDevice && (!node.inferred || complete))
      ++outcome.on_device;
    else if (outcome.missing.size() < kMaxMissing)
      outcome.missing.push_back(node.name);
  }
  if (outcome.counted == 0 && !requirement.pattern.empty())
    return usage_error("--require " + requirement.text,
                       fmt::format("\"{}\" fits no node of {} that depends on its inputs", requirement.pattern, model),
                       "patterns are node names with * and ?, or op:TYPE");
  if (outcome.optimised) {
    outcome.counted = placement.counted();
    outcome.on_device = placement.on_device();
  }
  // No rounding: 999 of 1000 is not 100 %.
  outcome.share =
      outcome.counted == 0 ? 0 : static_cast<double>(outcome.on_device) / static_cast<double>(outcome.counted);
  outcome.met = outcome.counted > 0 && outcome.share >= requirement.share;
  // Sources that count may leave out what another shows on the CPU: that is not the whole.
  if (requirement.pattern.empty() && requirement.share == 1 && on_cpu > 0) outcome.met = false;
  if (outcome.met) outcome.missing.clear();
  return outcome;
}

}  // namespace paritas
