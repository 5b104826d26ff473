// Every wording of a finding. Numbers go into `evidence` too, so that nobody has to read them out of prose.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "paritas/judge/catalogue_text.h"
#include "paritas/judge/finding.h"

namespace paritas {
namespace {

using catalogue::list;

// A whole number of percent that never rounds up to a hundred.
int percent_of(double share) {
  return share >= 1 ? 100 : std::min(99, static_cast<int>(std::lround(100 * std::max(0.0, share))));
}

std::string consequence_text(catalogue::Consequence consequence) {
  return consequence == catalogue::Consequence::kInjected
             ? "injecting this node's device result alone into the reference run moves the outputs as the device does"
             : "an unbroken path of deviating tensors leads from here to an output that deviates";
}

const char* kOtherInputs = "how other inputs behave";

Finding range_finding(const char* id, const catalogue::RangeFacts& facts, catalogue::Consequence consequence,
                      std::string text) {
  Finding f;
  f.id = id;
  f.severity = Severity::kFault;
  f.nodes = {facts.node};
  f.nodes.insert(f.nodes.end(), facts.group.begin(), facts.group.end());
  if (!facts.group.empty()) text += fmt::format(" Further nodes leave the range behind it: {}.", list(facts.group));
  f.text = std::move(text);
  f.shows = consequence_text(consequence);
  f.does_not_show = consequence == catalogue::Consequence::kInjected
                        ? fmt::format("that nothing else is wrong on the device, or {}", kOtherInputs)
                        : fmt::format("that it alone explains the outputs, or {}", kOtherInputs);
  f.next = "keep this node's values in range (rescale before it), or run it in a wider type; then run locate again";
  f.evidence = {{"tensor", facts.tensor},
                {"format", facts.format},
                {"reference_max_abs", json_number(facts.reference_max_abs)},
                {"limit", json_number(facts.limit)},
                {"lost_energy", json_number(facts.lost_energy)},
                {"constant", facts.constant},
                {"device_nonfinite", facts.device_nonfinite},
                {"consequence", consequence == catalogue::Consequence::kInjected ? "injected" : "path"}};
  return f;
}

}  // namespace

std::string_view name(Severity severity) { return severity == Severity::kFault ? "fault" : "note"; }

Json to_json(const Finding& f) {
  return {{"id", f.id},       {"severity", name(f.severity)},     {"nodes", f.nodes}, {"text", f.text},
          {"shows", f.shows}, {"does_not_show", f.does_not_show}, {"next", f.next},   {"evidence", f.evidence}};
}

namespace catalogue {

Finding range_overflow(const RangeFacts& facts, Consequence consequence) {
  return range_finding(
      "range-overflow", facts, consequence,
      fmt::format("{} ({}) makes values up to {:.3g}; {} ends at {:.5g}, so they are {:.3g} times too large.",
                  facts.node, facts.op, facts.reference_max_abs, facts.format, facts.limit,
                  facts.reference_max_abs / facts.limit));
}

Finding range_underflow(const RangeFacts& facts, Consequence consequence) {
  return range_finding(
      "range-underflow", facts, consequence,
      fmt::format("{} ({}) makes values too small for {} (largest {:.3g}; full precision ends at {:.3g}): {} of their "
                  "energy is lost to subnormals and zero.",
                  facts.node, facts.op, facts.format, facts.reference_max_abs, facts.limit,
                  facts.lost_energy >= 1e-3 ? fmt::format("{:.3g} %", 100 * facts.lost_energy)
                                            : fmt::format("a share of {:.2g}", facts.lost_energy)));
}

Finding constant_not_representable(const RangeFacts& facts, Consequence consequence) {
  const bool too_large = facts.reference_max_abs > facts.limit;
  return range_finding(
      "constant-not-representable", facts, consequence,
      too_large
          ? fmt::format("{} ({}) reads the constant \"{}\", which holds values up to {:.3g}; {} ends at {:.5g}.",
                        facts.node, facts.op, facts.constant, facts.reference_max_abs, facts.format, facts.limit)
          : fmt::format("{} ({}) reads the constant \"{}\", part of which is too small for {} (full precision ends at "
                        "{:.3g}): it is rounded to subnormals or zero.",
                        facts.node, facts.op, facts.constant, facts.format, facts.limit));
}

Finding nonfinite_made(const RangeFacts& facts, Consequence consequence) {
  return range_finding("nonfinite-made", facts, consequence,
                       fmt::format("{} ({}) gives {} NaN or infinite elements on the device from inputs for which the "
                                   "reference is finite: an operand or an inner value does not fit {}.",
                                   facts.node, facts.op, facts.device_nonfinite, facts.format));
}

Finding range_harmless(const std::vector<RangeFacts>& nodes) {
  Finding f;
  f.id = "range-harmless";
  Json evidence = Json::array();
  for (const RangeFacts& facts : nodes) {
    f.nodes.push_back(facts.node);
    evidence.push_back({{"node", facts.node},
                        {"tensor", facts.tensor},
                        {"reference_max_abs", json_number(facts.reference_max_abs)},
                        {"lost_energy", json_number(facts.lost_energy)}});
  }
  f.text = fmt::format("{} node{} make{} values that {} cannot hold, without consequence for the outputs: {}.",
                       nodes.size(), nodes.size() == 1 ? "" : "s", nodes.size() == 1 ? "s" : "",
                       nodes.empty() ? "the format" : nodes.front().format, list(f.nodes));
  f.shows = "on these inputs the loss changes no output materially (mask constants and tiny tails are usual)";
  f.does_not_show = kOtherInputs;
  f.next = "nothing to do; look again when the inputs change";
  f.evidence = std::move(evidence);
  return f;
}

Finding local_cause(const CauseFacts& facts) {
  Finding f;
  f.id = "local-cause";
  f.severity = Severity::kFault;
  f.nodes = {facts.node};
  const std::string baseline = std::isnan(facts.x_baseline)
                                   ? std::string()
                                   : fmt::format(" ({:.3g} times what storing it costs)", facts.x_baseline);
  f.text = fmt::format(
      "{} ({}) has a local NMSE of {:.2g}{}; injected alone into the reference run it brings {} % of the "
      "deviation.",
      facts.node, facts.op, facts.local_nmse, baseline, percent_of(facts.share));
  f.shows = consequence_text(Consequence::kInjected);
  f.does_not_show = fmt::format("why the device computes it so, or {}", kOtherInputs);
  f.next = "run this node in a wider type or rewrite it; then run locate again";
  f.evidence = {{"local_nmse", json_number(facts.local_nmse)},
                {"x_baseline", json_number(facts.x_baseline)},
                {"share", json_number(facts.share)}};
  return f;
}

Finding amplified(const CauseFacts& facts, const std::string& amplifier, double amplification) {
  Finding f = local_cause(facts);
  f.id = "amplified-rounding";
  f.nodes = {facts.node, amplifier};
  f.text = fmt::format(
      "{} ({}) is rounded as the format rounds (local NMSE {:.2g}), but {} behind it amplifies the relative "
      "error {:.3g} times: a cancellation of large values. Injected alone it brings {} % of the deviation.",
      facts.node, facts.op, facts.local_nmse, amplifier, amplification, percent_of(facts.share));
  f.next = "remove the large offset before the rounding, or keep both nodes in a wider type";
  f.evidence["amplifier"] = amplifier;
  f.evidence["amplification"] = json_number(amplification);
  return f;
}

namespace {

void mark_demanded(Finding& f, bool demanded) {
  f.severity = demanded ? Severity::kFault : Severity::kNote;
  if (!demanded) f.does_not_show += "; nor whether the difference matters: no gate was declared for these outputs";
  f.evidence["demanded"] = demanded;
}

}  // namespace

Finding spread(double all_share, const std::vector<std::string>& largest, bool demanded) {
  Finding f;
  f.id = "spread-error";
  f.nodes = largest;
  f.text = fmt::format(
      "No single node explains the deviation: all local errors together bring {} % of it, none alone "
      "{:.0f} %. Largest local errors: {}.",
      percent_of(all_share), 10.0, list(largest));
  f.shows = "the deviation is the sum of many small errors, as far as injection can tell";
  f.does_not_show = "that a wider type for the largest few would not be enough";
  f.next = "try a wider type for a block at a time";
  f.evidence = {{"all_share", json_number(all_share)}};
  mark_demanded(f, demanded);
  return f;
}

Finding not_reproduced(double all_share, const std::string& first_divergence, bool demanded) {
  Finding f;
  f.id = "not-reproduced";
  if (!first_divergence.empty()) f.nodes = {first_divergence};
  f.text = fmt::format(
      "Local errors do not reproduce the deviation: injected together they bring {} % of it{}.", percent_of(all_share),
      first_divergence.empty() ? "" : fmt::format("; the first tensor that deviates is {}'s", first_divergence));
  f.shows = "adding what nodes err one by one on the device to the reference does not give the device's outputs";
  f.does_not_show = "what the compiled whole graph does differently (fusion, layout, another kernel)";
  f.next = "compare with fewer marks, and look at what the device fuses around the first divergence";
  f.evidence = {{"all_share", json_number(all_share)}};
  mark_demanded(f, demanded);
  return f;
}

Finding search_incomplete(double tested_share, const std::string& first_divergence, bool demanded) {
  Finding f;
  f.id = "search-incomplete";
  if (!first_divergence.empty()) f.nodes = {first_divergence};
  f.text = fmt::format(
      "The cause was not found: injection did not cover every node (what it covered brings {} % of the deviation){}.",
      percent_of(tested_share),
      first_divergence.empty() ? "" : fmt::format("; the first tensor that deviates is {}'s", first_divergence));
  f.shows = "only that the outputs differ and where tensors start to";
  f.does_not_show = "which node is the cause, nor that the nodes are right one by one";
  f.next = "allow the search more: --memory, --injection-seconds";
  f.evidence = {{"tested_share", json_number(tested_share)}};
  mark_demanded(f, demanded);
  return f;
}

Finding decision_only(const std::vector<std::string>& decisions) {
  Finding f;
  f.id = "decision-only";
  f.nodes = decisions;
  f.text = fmt::format("The outputs differ only behind a decision ({}): with the reference's picks fed in they agree.",
                       list(decisions));
  f.shows = "near ties were decided differently; the numbers themselves agree";
  f.does_not_show = "whether the task's answer is the same";
  f.next = "compare such outputs by task (matched boxes, classes), not row by row";
  return f;
}

Finding partial_placement(const std::string& provider, uint64_t on_device, uint64_t total, uint64_t partitions,
                          const std::vector<std::string>& elsewhere) {
  Finding f;
  f.id = "partial-placement";
  f.text = fmt::format("Only {} of {} nodes ran on {}, in {} partition{}.", on_device, total, provider, partitions,
                       partitions == 1 ? "" : "s");
  if (!elsewhere.empty()) f.text += fmt::format(" Elsewhere: {}.", list(elsewhere));
  f.shows = "part of what was compared was computed by another provider";
  f.does_not_show = "how the device would compute those nodes";
  f.next = "look at the nodes that stayed behind before trusting a match";
  f.evidence = {{"on_device", on_device}, {"total", total}, {"partitions", partitions}, {"elsewhere", elsewhere}};
  return f;
}

Finding placement_unknown(const std::string& provider) {
  Finding f;
  f.id = "placement-unknown";
  f.text = fmt::format("The runtime does not tell which nodes ran on {}.", provider);
  f.shows = "nothing about where the network ran";
  f.does_not_show = "that the device took part at all";
  f.next = "use a runtime that reports its node assignment";
  return f;
}

Finding probe_effect(const std::string& output, double unmarked, double marked) {
  Finding f;
  f.id = "probe-effect";
  f.text = fmt::format("Marking intermediates as outputs changes the device's {}: largest value {:.4g} becomes {:.4g}.",
                       output, unmarked, marked);
  f.shows = "figures of intermediates come from another compilation than the one that is deployed";
  f.does_not_show = "that the deployed graph's intermediates are the same";
  f.next = "trust the final outputs of the unmarked run; use figures of intermediates to find the place";
  f.evidence = {{"output", output}, {"unmarked", json_number(unmarked)}, {"marked", json_number(marked)}};
  return f;
}

Finding placement_shown(const PlacementFacts& facts) {
  Finding f;
  f.id = "placement-shown";
  f.text = fmt::format("{} of {} {} are on {}, in {} partition{}.", facts.on_device, facts.total, facts.counted,
                       facts.provider, facts.partitions, facts.partitions == 1 ? "" : "s");
  f.shows =
      facts.assigned ? "which nodes the runtime handed to the provider" : "what the evidence files say of the nodes";
  if (facts.traced_ops > 0)
    f.shows += fmt::format("; that the provider compiled them into {} operations of its back end", facts.traced_ops);
  if (facts.profiled) f.shows += "; that the partitions were executed";
  if (facts.executed_ops > 0)
    f.shows += fmt::format("; that {} of the operations took cycles there", facts.executed_ops);
  f.does_not_show = facts.executed_ops > 0
                        ? "where the work of operations without cycles was done, or in which precision any was"
                    : facts.traced_ops > 0
                        ? "that every operation inside the partitions ran on the accelerator, or in which precision"
                        : "what the provider made of its partitions: that every operation inside ran on the "
                          "accelerator, or in which precision";
  f.next = facts.executed_ops > 0 ? "look at the operations without cycles before counting on them"
           : facts.traced_ops > 0 ? "add the provider's cycles (--cycles) to see which operations took time there"
                                  : "add the provider's op trace (--op-trace) and cycles (--cycles)";
  f.evidence = {{"on_device", facts.on_device},
                {"total", facts.total},
                {"partitions", facts.partitions},
                {"traced_ops", facts.traced_ops},
                {"executed_ops", facts.executed_ops}};
  return f;
}

Finding nothing_placed(const std::string& provider, uint64_t total) {
  Finding f;
  f.id = "nothing-placed";
  f.severity = Severity::kFault;
  f.text = fmt::format("{} took none of {} nodes: 0 %. Everything was computed by others.", provider, total);
  f.shows = "whatever this session gives is not the device's; that it matches a reference proves nothing";
  f.does_not_show = "why the provider took nothing";
  f.next = "check the provider's options and libraries, pin free dimensions, and look at what it prints";
  f.evidence = {{"provider", provider}, {"total", total}};
  return f;
}

Finding cpu_fallback(const std::string& provider, const std::vector<std::string>& nodes) {
  Finding f;
  f.id = "cpu-fallback";
  f.nodes = nodes;
  f.text = fmt::format("{} node{} of the source graph fell back to the CPU in a session for {}: {}.", nodes.size(),
                       nodes.size() == 1 ? "" : "s", provider, list(nodes));
  f.shows = "what these nodes compute is not the device's";
  f.does_not_show = "how the device would compute them, or why it left them";
  f.next = "forbid it (session.disable_cpu_ep_fallback=1), or say that it is planned (--planned)";
  f.evidence = {{"provider", provider}, {"nodes", nodes.size()}};
  return f;
}

Finding vendor_cpu(const std::string& provider, uint64_t nodes) {
  Finding f;
  f.id = "vendor-cpu";
  f.text = fmt::format(
      "{} node{} went to {}, whose back end here computes on the CPU: none of them counts as on the "
      "device.",
      nodes, nodes == 1 ? "" : "s", provider);
  f.shows = "the provider took the nodes, with the vendor's own CPU kernels";
  f.does_not_show = "anything about the accelerator";
  f.next = "choose the accelerator's back end (backend_path, backend_type)";
  f.evidence = {{"provider", provider}, {"nodes", nodes}};
  return f;
}

Finding evidence_contradicts(const std::string& text, const std::vector<std::string>& nodes) {
  Finding f;
  f.id = "evidence-contradicts";
  f.severity = Severity::kFault;
  f.nodes = nodes;
  f.text = fmt::format("Two sources contradict each other: {}{}.", text,
                       nodes.empty() ? "" : fmt::format(" ({})", list(nodes)));
  f.shows = "at least one of the two is of another session, another build, or incomplete";
  f.does_not_show = "which of them is right";
  f.next = "take all evidence from one session: paritas placement MODEL --target ... collects it";
  f.evidence = {{"nodes", nodes.size()}};
  return f;
}

Finding placement_required(const std::string& requirement, double share, uint64_t on_device, uint64_t total,
                           const std::vector<std::string>& missing) {
  Finding f;
  f.id = "placement-required";
  f.severity = Severity::kFault;
  f.nodes = missing;
  f.text = fmt::format("{} is not met: {} of {} nodes, {} %{}.", requirement, on_device, total, percent_of(share),
                       missing.empty() ? "" : fmt::format(". Not shown to be on the device: {}", list(missing)));
  f.shows = "fewer nodes are shown to be on the device than was declared";
  f.does_not_show = "that nodes about which no source says anything are elsewhere";
  f.next = "look at the nodes that are missing (--verbose, --json)";
  f.evidence = {{"share", json_number(share)}, {"on_device", on_device}, {"total", total}};
  return f;
}

Finding context_opaque(uint64_t contexts, const std::string& provider) {
  Finding f;
  f.id = "context-opaque";
  f.text = fmt::format("{} node{} of this model {} compiled for {}: what is inside is not listed.", contexts,
                       contexts == 1 ? "" : "s", contexts == 1 ? "is a partition" : "are partitions", provider);
  f.shows = "where the boundary of the compiled part lies";
  f.does_not_show = "which nodes of the source model are inside, or how many";
  f.next = "give the source model, this one as --context, and the op trace of the compilation as --op-trace";
  f.evidence = {{"contexts", contexts}, {"provider", provider}};
  return f;
}

Finding placement_changed(const std::string& before, uint64_t moved, uint64_t partitions_before,
                          uint64_t partitions_after, const std::vector<std::string>& nodes) {
  Finding f;
  f.id = "placement-changed";
  f.nodes = nodes;
  f.text = fmt::format("Against {}: {} node{} moved, partitions {} -> {}{}.", before, moved, moved == 1 ? "" : "s",
                       partitions_before, partitions_after, nodes.empty() ? "" : fmt::format(" ({})", list(nodes)));
  f.shows = "the two results place the model differently";
  f.does_not_show = "that either of them computes right, or what changed it";
  f.next = "compare the outputs of both, and the options and library versions that stand in the results";
  f.evidence = {{"moved", moved}, {"partitions_before", partitions_before}, {"partitions_after", partitions_after}};
  return f;
}

namespace {

Finding pin_finding(const char* id, const PinFacts& facts, std::string text) {
  Finding f;
  f.id = id;
  f.nodes = facts.touched;
  f.text = std::move(text);
  if (!facts.cannot_tell.empty())
    f.text += fmt::format(" Nothing can be told about {}: random numbers are drawn anew in every session.",
                          list(facts.cannot_tell));
  f.evidence = {{"pins", facts.pins},
                {"cannot_tell", facts.cannot_tell},
                {"touched", facts.touched.size()},
                {"moved", facts.moved},
                {"moved_too", facts.moved_too},
                {"device_nodes", facts.device_nodes},
                {"partitions_before", facts.partitions_before},
                {"partitions_after", facts.partitions_after}};
  return f;
}

std::string pin_text(const PinFacts& facts) {
  std::string text = fmt::format("{} moved {} node{} to the CPU ({} -> {} partitions on {}, {} nodes left there)",
                                 list(facts.pins), facts.moved, facts.moved == 1 ? "" : "s", facts.partitions_before,
                                 facts.partitions_after, facts.provider, facts.device_nodes);
  if (facts.moved_too > 0)
    text += fmt::format(" and {} other node{} with {}", facts.moved_too, facts.moved_too == 1 ? "" : "s",
                        facts.moved_too == 1 ? "it" : "them");
  return text;
}

const char* kPinIsBroad = "a pin concerns a type everywhere and cuts the graph anew, so other kernels changed too";

}  // namespace

Finding pin_did_not_repair(const PinFacts& facts, const std::vector<std::string>& still) {
  Finding f = pin_finding(
      "pin-did-not-repair", facts,
      fmt::format("{}, and {} did not repair: {} still deviate{}. {}.", pin_text(facts),
                  facts.pins.size() == 1 ? "that" : "they", list(still), still.size() == 1 ? "s" : "", facts.figures));
  f.shows = "on this input the device's results of the pinned nodes alone do not explain the deviation";
  f.does_not_show = fmt::format("that the device computes them exactly ({}), or {}", kPinIsBroad, kOtherInputs);
  f.next = "look for the cause elsewhere: paritas locate";
  return f;
}

Finding pin_matches_on_cpu(const PinFacts& facts) {
  const bool all = facts.device_nodes == 0;
  Finding f = pin_finding(
      "pin-matches-on-cpu", facts,
      all ? fmt::format("{} match{} again because everything was computed by the CPU: {}, none left on {}. {}.",
                        list(facts.outputs), facts.outputs.size() == 1 ? "es" : "", list(facts.pins), facts.provider,
                        facts.figures)
          : fmt::format("{} match{} again with {} node{} computed by the CPU: {}. {}.", list(facts.outputs),
                        facts.outputs.size() == 1 ? "es" : "", facts.moved + facts.moved_too,
                        facts.moved + facts.moved_too == 1 ? "" : "s", pin_text(facts), facts.figures));
  f.shows = all ? "only that the CPU computes as the reference does"
                : "on this input the deviation goes when these nodes run on the CPU";
  f.does_not_show =
      all ? "anything about the device"
          : fmt::format("that the device is repaired, or which of the nodes was the cause ({})", kPinIsBroad);
  f.next = all ? "pin less" : "pin fewer types, or find the one node: paritas locate";
  return f;
}

Finding pin_without_effect(const PinFacts& facts) {
  Finding f = pin_finding(
      "pin-without-effect", facts,
      facts.touched.empty() ? fmt::format("{} touches no node of this model.", list(facts.pins))
                            : fmt::format("{} touches {} node{}, and none of them left {}.", list(facts.pins),
                                          facts.touched.size(), facts.touched.size() == 1 ? "" : "s", facts.provider));
  f.shows = "the placement is the same with the pin and without it";
  f.does_not_show = "anything about the pinned types";
  f.next = "operator types are those of the optimised graph: look them up in the list of nodes (--json)";
  return f;
}

Finding pin_cannot_tell(const PinFacts& facts) {
  Finding f = pin_finding("pin-cannot-tell", facts, pin_text(facts) + ".");
  f.shows = "where the pinned nodes ran, and nothing about the outputs";
  f.does_not_show = "whether the outputs deviated before, or do with the pin";
  f.next = "make the drawn numbers an input of the model";
  return f;
}

Finding pin_nothing_to_repair(const PinFacts& facts, const std::vector<std::string>& broken) {
  Finding f =
      pin_finding("pin-nothing-to-repair", facts,
                  fmt::format("{}; the outputs agreed with the reference before{}. {}.", pin_text(facts),
                              broken.empty() ? ", and still do" : fmt::format(", and {} no longer do", list(broken)),
                              facts.figures));
  f.shows = "on this input nothing had to be repaired";
  f.does_not_show = kOtherInputs;
  f.next = broken.empty() ? "leave the pin out" : "leave the pin out: it changes the device's other kernels";
  return f;
}

}  // namespace catalogue
}  // namespace paritas
