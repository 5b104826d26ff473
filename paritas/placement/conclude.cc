#include "paritas/placement/conclude.h"

#include <algorithm>

#include <fmt/format.h>

#include "paritas/placement/pin.h"

namespace paritas {
namespace {

bool uses(const PlacementAudit& audit, EvidenceSource source) {
  return std::any_of(audit.evidence.begin(), audit.evidence.end(),
                     [&](const EvidenceUse& use) { return use.source == source; });
}

// The requested provider has no node by any source, and there is a source that would name it.
bool took_nothing(const PlacementAudit& audit) {
  if (!audit.device_requested || audit.evidence.empty() || audit.counted() == 0) return false;
  // Names that stand for several nodes may be all that the source tells: then it is not known who took them.
  if (!audit.ambiguous.empty() && !audit.totals.optimised_nodes) return false;
  return audit.totals.optimised_on_device == 0 && audit.totals.of(Place::kDevice) == 0 &&
         audit.totals.of(Place::kVendorCpu) == 0 && audit.totals.device_partitions == 0;
}

catalogue::PlacementFacts facts_of(const PlacementAudit& audit) {
  catalogue::PlacementFacts facts;
  facts.provider = audit.requested;
  facts.on_device = audit.on_device();
  facts.total = audit.counted();
  facts.partitions = audit.totals.device_partitions;
  facts.counted = audit.totals.optimised_nodes ? "nodes of the optimised graph" : "nodes of the source graph";
  facts.assigned = uses(audit, EvidenceSource::kAssignment);
  facts.traced_ops = audit.traced_ops;
  facts.executed_ops = audit.executed_ops;
  facts.profiled = audit.totals.profile_runs > 0;
  return facts;
}

void add_placement_findings(const PlacementAudit& audit, PlacementResult& result) {
  for (const Contradiction& contradiction : audit.contradictions)
    result.findings.push_back(catalogue::evidence_contradicts(contradiction.text, contradiction.nodes));
  if (!audit.device_requested) return;
  if (took_nothing(audit)) {
    result.findings.push_back(catalogue::nothing_placed(audit.requested, audit.counted()));
    return;
  }
  std::vector<std::string> fallback;
  uint64_t contexts = 0;
  for (const NodePlacement& node : audit.nodes) {
    if (node.place == Place::kFallbackCpu) fallback.push_back(node.name);
    contexts += node.op == "com.microsoft::EPContext";
  }
  if (!fallback.empty()) result.findings.push_back(catalogue::cpu_fallback(audit.requested, fallback));
  const uint64_t on_vendor_cpu =
      audit.totals.optimised_nodes ? audit.totals.optimised_on_device : audit.totals.of(Place::kVendorCpu);
  if (audit.cpu_backend && on_vendor_cpu > 0)
    result.findings.push_back(catalogue::vendor_cpu(audit.requested, on_vendor_cpu));
  if (contexts > 0) result.findings.push_back(catalogue::context_opaque(contexts, audit.requested));
  if (!audit.cpu_backend && !audit.evidence.empty())
    result.findings.push_back(catalogue::placement_shown(facts_of(audit)));
}

void add_change(PlacementResult& result) {
  if (!result.change) return;
  const PlacementChange& change = *result.change;
  const bool same = change.moved.empty() && change.only_before.empty() && change.only_after.empty() &&
                    change.partitions_before == change.partitions_after;
  if (same) {
    result.notes.push_back(fmt::format("the same placement as in {}", change.file));
    return;
  }
  std::vector<std::string> nodes;
  for (const MovedNode& node : change.moved) nodes.push_back(node.name);
  result.findings.push_back(catalogue::placement_changed(change.file, change.moved.size(), change.partitions_before,
                                                         change.partitions_after, nodes));
}

std::string plain(const RequirementOutcome& outcome) {
  return fmt::format("{}: {} of {} nodes on the device, required {}",
                     outcome.optimised ? "optimised graph" : "source graph", outcome.on_device, outcome.counted,
                     outcome.text);
}

void judge(bool gated, PlacementResult& result) {
  VerdictBuilder builder;
  for (const Contradiction& contradiction : result.placement.contradictions)
    builder.invalid("contradictory evidence: " + contradiction.text);
  if (took_nothing(result.placement))
    builder.deviates(fmt::format("0 of {} nodes on {}", result.placement.counted(), result.placement.requested));
  for (const RequirementOutcome& outcome : result.requirements)
    outcome.met ? builder.passed(plain(outcome)) : builder.deviates(plain(outcome));
  if (gated && result.pin)
    for (const PinOutput& output : result.pin->outputs) {
      if (output.cannot_tell)
        output.has_gate ? builder.invalid(output.name + ": " + output.rule)
                        : builder.not_judged(output.name + ": " + output.rule);
      else if (!output.agrees_after)
        builder.deviates(output.name + ": " + output.rule);
      else if (output.rule.find("not judged") == std::string::npos)
        builder.passed(output.name + ": " + output.rule);
    }
  if (result.requirements.empty()) builder.not_judged("nothing is required of the placement (--require)");
  result.verdict = builder.verdict();
  result.reasons = builder.reasons();
}

}  // namespace

void conclude(bool gated, PlacementResult& result) {
  if (result.pin && result.pin->ran) {
    result.findings.push_back(pin_finding(*result.pin, result.placement));
    for (const Contradiction& contradiction : result.pin->before.contradictions)
      result.notes.push_back("without the pin: contradictory evidence: " + contradiction.text);
  }
  add_placement_findings(result.placement, result);
  for (const RequirementOutcome& outcome : result.requirements)
    if (!outcome.met)
      result.findings.push_back(catalogue::placement_required(outcome.text, outcome.share, outcome.on_device,
                                                              outcome.counted, outcome.missing));
  add_change(result);
  judge(gated, result);
}

}  // namespace paritas
