#include "paritas/judge/catalogue_range.h"

#include <fmt/format.h>

#include "paritas/judge/catalogue_text.h"

namespace paritas::catalogue {
namespace {

std::string called(const PreflightFacts& f) {
  return f.node.empty() ? fmt::format("Input \"{}\"", f.tensor) : fmt::format("{} ({})", f.node, f.op);
}

std::string where(const PreflightFacts& f) {
  return f.samples == 1 ? std::string() : fmt::format(" (sample {} of {})", f.sample + 1, f.samples);
}

std::string behind(const PreflightFacts& f) {
  return f.behind.empty() ? std::string()
                          : fmt::format(" {} further node{} behind it: {}.", f.behind.size(),
                                        f.behind.size() == 1 ? "" : "s", list(f.behind));
}

std::string on_samples(const PreflightFacts& f) {
  return f.samples == 1 ? "on this input" : fmt::format("on these {} inputs", f.samples);
}

std::vector<std::string> nodes_of(const PreflightFacts& f) {
  std::vector<std::string> nodes;
  if (!f.node.empty()) nodes.push_back(f.node);
  nodes.insert(nodes.end(), f.behind.begin(), f.behind.end());
  return nodes;
}

Json evidence_of(const PreflightFacts& f) {
  return {{"tensor", f.tensor},
          {"format", f.format},
          {"limit", json_number(f.limit)},
          {"max_abs", json_number(f.max_abs)},
          {"factor", json_number(f.factor)},
          {"elements", f.elements},
          {"overflowed", f.overflowed},
          {"flushed", f.flushed},
          {"lost_energy", json_number(f.lost_energy)},
          {"sample", f.sample}};
}

}  // namespace

Finding preflight_overflow(const PreflightFacts& facts) {
  Finding f;
  f.id = "preflight-overflow";
  f.severity = Severity::kFault;
  f.nodes = nodes_of(facts);
  f.text = fmt::format("{} reaches {:.4g}{}, {:.4g} times the largest {} value ({:g}): {} of {} elements do not fit.{}",
                       called(facts), facts.max_abs, where(facts), facts.factor, facts.format, facts.limit,
                       facts.overflowed, facts.elements, behind(facts));
  if (!facts.softmax.empty())
    f.text += fmt::format(" As infinities they make {} results of {} NaN or infinite.", facts.result_nonfinite,
                          facts.softmax);
  f.shows = fmt::format("a device that keeps this tensor in {} cannot represent these values {}", facts.format,
                        on_samples(facts));
  f.does_not_show =
      "that a device keeps it in this format (it may be fused, or held in a wider one), or that the answer breaks: "
      "values that nothing selects may be lost without harm";
  f.next =
      "run it: paritas locate with the device or a simulator of the format; else scale the operand down before this "
      "node";
  f.evidence = evidence_of(facts);
  return f;
}

Finding preflight_lost_energy(const PreflightFacts& facts) {
  Finding f;
  f.id = "preflight-lost-energy";
  f.severity = Severity::kFault;
  f.nodes = nodes_of(facts);
  f.text = fmt::format("{} loses {:.2g} of its energy to values too small for {}{}: {} of {} elements become zero.{}",
                       called(facts), facts.lost_energy, facts.format, where(facts), facts.flushed, facts.elements,
                       behind(facts));
  f.shows = fmt::format("storing this tensor in {} alone costs that much {}", facts.format, on_samples(facts));
  f.does_not_show = "that a device stores it in this format, or that the answer depends on the small values";
  f.next = "run it: paritas locate with the device; else scale the operand up before this node";
  f.evidence = evidence_of(facts);
  return f;
}

Finding preflight_ruined_scale(const PreflightFacts& facts) {
  Finding f;
  f.id = "preflight-ruined-scale";
  f.severity = Severity::kFault;
  f.nodes = nodes_of(facts);
  f.nodes.push_back(facts.softmax);
  f.text = fmt::format(
      "{} reaches {:.4g} in values to which {} gives no weight; those with weight reach {:.4g}. One {} scale for all "
      "has "
      "steps of {:.3g}, and the result of {} moves by {:.2g} of its energy.",
      called(facts), facts.max_abs, facts.softmax, facts.weighted_max_abs, facts.format, facts.max_abs / 127,
      facts.softmax, facts.lost_energy);
  f.shows =
      fmt::format("storing this tensor in {} with a symmetric scale from its largest value alone costs that much {}",
                  facts.format, on_samples(facts));
  f.does_not_show =
      "that a device quantises this tensor so: calibration may clip the range, and a mask may be fused into the "
      "operator";
  f.next = "mask with a value just below the scores instead, or clip the range of this tensor when calibrating";
  f.evidence = evidence_of(facts);
  f.evidence["softmax"] = facts.softmax;
  f.evidence["weighted_max_abs"] = json_number(facts.weighted_max_abs);
  return f;
}

Finding preflight_hidden(const PreflightFacts& facts) {
  Finding f;
  f.id = "preflight-hidden";
  f.severity = Severity::kFault;
  f.nodes = nodes_of(facts);
  const std::string outcome = facts.result_nonfinite > 0
                                  ? fmt::format("{} results become NaN or infinite", facts.result_nonfinite)
                                  : fmt::format("the result moves by {:.2g} of its energy", facts.lost_energy);
  f.text = fmt::format("Inside {} the {} reaches {:.4g}, {:.4g} times the largest {} value ({:g}). Kept in {}, {}.",
                       called(facts), facts.hidden, facts.max_abs, facts.factor, facts.format, facts.limit,
                       facts.format, outcome);
  if (facts.overflowed == 0)
    f.text = fmt::format(
        "Inside {} the {} falls below what {} holds in full precision ({} of {} become zero). Kept in "
        "{}, {}.",
        called(facts), facts.hidden, facts.format, facts.flushed, facts.elements, facts.format, outcome);
  f.shows = fmt::format("a device that keeps this value in {} and computes all else exactly is off that much {}",
                        facts.format, on_samples(facts));
  f.does_not_show =
      "that a device does so: many accumulate in float32 or compute an equal form without this value; the model does "
      "not tell";
  f.next = "probe this node on the device: paritas locate";
  f.evidence = evidence_of(facts);
  f.evidence["hidden"] = facts.hidden;
  f.evidence["result_nonfinite"] = facts.result_nonfinite;
  return f;
}

Finding preflight_zero_times_infinity(const PreflightFacts& facts) {
  Finding f;
  f.id = "preflight-zero-times-infinity";
  f.severity = Severity::kFault;
  f.nodes = nodes_of(facts);
  f.text = fmt::format("{} multiplies {} zeros by the constant \"{}\", which is infinite in {}: the products are NaN.",
                       called(facts), facts.result_nonfinite, facts.operand, facts.format);
  f.shows = fmt::format("arithmetic in {} makes NaN of finite values here, {}", facts.format, on_samples(facts));
  f.does_not_show = "that a device does so: where constants saturate instead, the product stays zero";
  f.next = fmt::format("write the constant as one that fits, e.g. -1e4 in a mask for {}", facts.format);
  f.evidence = {{"constant", facts.operand}, {"zeros", facts.result_nonfinite}, {"format", facts.format}};
  return f;
}

Finding preflight_infinite_weights(const PreflightFacts& facts) {
  Finding f;
  f.id = "preflight-infinite-weights";
  f.severity = Severity::kFault;
  f.nodes = nodes_of(facts);
  f.text = fmt::format("{} sums products with the constant \"{}\", {} of whose values are infinite in {}.",
                       called(facts), facts.operand, facts.overflowed, facts.format);
  f.shows = fmt::format("arithmetic in {} makes infinities or NaN of every sum that meets one of them, on any input",
                        facts.format);
  f.does_not_show = "that a device does so: where constants saturate instead, the sums are merely wrong";
  f.next = "scale the weights down and the result up";
  f.evidence = {{"constant", facts.operand}, {"overflowed", facts.overflowed}, {"format", facts.format}};
  return f;
}

Finding preflight_divides_by_zero(const PreflightFacts& facts) {
  Finding f;
  f.id = "preflight-divides-by-zero";
  f.severity = Severity::kFault;
  f.nodes = nodes_of(facts);
  if (!facts.operand_node.empty()) f.nodes.insert(f.nodes.begin(), facts.operand_node);
  f.text = fmt::format("{} nonzero values of \"{}\" become zero in {}, and {} {}: the results are infinite or NaN.",
                       facts.result_nonfinite, facts.operand, facts.format, called(facts),
                       facts.op == "Log" ? "takes their logarithm" : "divides by them");
  f.shows = fmt::format("a device that keeps that tensor in {} makes NaN or infinities of finite values here, {}",
                        facts.format, on_samples(facts));
  f.does_not_show = "that a device keeps it in this format, or what it makes of a division by zero";
  f.next = "use a larger epsilon, one that the format holds beside the values it is added to";
  f.evidence = {{"operand", facts.operand}, {"flushed", facts.result_nonfinite}, {"format", facts.format}};
  return f;
}

Finding preflight_masks(const PreflightFacts& facts, const std::vector<std::string>& nodes, double worst_loss) {
  Finding f;
  f.id = "preflight-masks";
  f.nodes = nodes;
  f.text = fmt::format(
      "{} tensor{} hold{} values below the lowest of {}, to which the Softmax behind gives no weight: as -infinity "
      "they "
      "move its result by {:.2g} of its energy at most: {}.",
      nodes.size(), nodes.size() == 1 ? "" : "s", nodes.size() == 1 ? "s" : "", facts.format, worst_loss, list(nodes));
  f.shows = fmt::format("the mask works alike in {} {}", facts.format, on_samples(facts));
  f.does_not_show = "rows that other inputs mask wholly, of which an infinite mask makes NaN";
  f.next = "nothing; where rows may be masked wholly, mask with a value that the format holds";
  f.evidence = {{"nodes", nodes}, {"worst_loss", json_number(worst_loss)}, {"format", facts.format}};
  return f;
}

Finding preflight_constants(const PreflightFacts& facts, const std::vector<std::string>& constants, uint64_t infinite) {
  Finding f;
  f.id = "preflight-constants";
  f.text = fmt::format(
      "{} constant{} hold{} values beyond {}{}: {}.", constants.size(), constants.size() == 1 ? "" : "s",
      constants.size() == 1 ? "s" : "", facts.format,
      infinite == 0 ? std::string() : fmt::format(" ({} of them NaN or infinities in the model itself)", infinite),
      list(constants));
  f.shows = "the stored constant is another one than the model's";
  f.does_not_show = "that anything depends on it: masks and anchors of unused cells are made so";
  f.next = "paritas locate charges a constant to the node that reads it, and tests its consequence";
  f.evidence = {{"constants", constants}, {"infinite", infinite}, {"format", facts.format}};
  return f;
}

Finding preflight_tiny_constants(const PreflightFacts& facts, const std::vector<std::string>& constants,
                                 double worst_lost_energy) {
  Finding f;
  f.id = "preflight-tiny-constants";
  f.text = fmt::format(
      "{} constant{} hold{} values below what {} holds in full precision, at a cost of {:.2g} of the "
      "energy at most: {}.",
      constants.size(), constants.size() == 1 ? "" : "s", constants.size() == 1 ? "s" : "", facts.format,
      worst_lost_energy, list(constants));
  f.shows = "the stored constant is another one than the model's";
  f.does_not_show = "that anything depends on it: an epsilon may be lost without harm where it is never needed";
  f.next = "paritas locate charges a constant to the node that reads it, and tests its consequence";
  f.evidence = {
      {"constants", constants}, {"worst_lost_energy", json_number(worst_lost_energy)}, {"format", facts.format}};
  return f;
}

Finding preflight_tiny(const PreflightFacts& facts, const std::vector<std::string>& nodes, double worst_lost_energy) {
  Finding f;
  f.id = "preflight-tiny";
  f.nodes = nodes;
  f.text = fmt::format(
      "{} tensor{} hold{} values below what {} holds in full precision, at a cost of {:.2g} of the "
      "energy at most: {}.",
      nodes.size(), nodes.size() == 1 ? "" : "s", nodes.size() == 1 ? "s" : "", facts.format, worst_lost_energy,
      list(nodes));
  f.shows = "what is lost is small beside the rest of the tensor";
  f.does_not_show = "that nothing divides by these values or takes their logarithm";
  f.next = "nothing, unless such a division follows";
  f.evidence = {{"nodes", nodes}, {"worst_lost_energy", json_number(worst_lost_energy)}, {"format", facts.format}};
  return f;
}

Finding preflight_hidden_harmless(const PreflightFacts& facts, const std::vector<std::string>& values,
                                  double worst_loss) {
  Finding f;
  f.id = "preflight-hidden-harmless";
  f.text = fmt::format(
      "{} value{} inside operators overflow{} {} by the operator's definition, and the result moves by "
      "{:.2g} of its energy at most: {}.",
      values.size(), values.size() == 1 ? "" : "s", values.size() == 1 ? "s" : "", facts.format, worst_loss,
      list(values));
  f.shows = "an infinity there leads to nearly the right result";
  f.does_not_show = "how a device computes the operator, or what it makes of an infinity";
  f.next = "nothing; probe the nodes on the device where in doubt: paritas locate";
  f.evidence = {{"values", values}, {"worst_loss", json_number(worst_loss)}, {"format", facts.format}};
  return f;
}

Finding preflight_nonfinite(const PreflightFacts& facts, const std::vector<std::string>& nodes) {
  Finding f;
  f.id = "preflight-nonfinite";
  f.nodes = nodes;
  f.text = fmt::format("The reference itself has NaN or infinities in {} tensor{}: {}.", nodes.size(),
                       nodes.size() == 1 ? "" : "s", list(nodes));
  f.shows = "these values are passed over here: no format holds them better";
  f.does_not_show = "whether they are meant (a mask) or a fault of the model or the input";
  f.next = "look at the first of these nodes and its input";
  f.evidence = {{"nodes", nodes}, {"format", facts.format}};
  return f;
}

}  // namespace paritas::catalogue
