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

}  // namespace catalogue
}  // namespace paritas
