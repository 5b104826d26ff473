#include "paritas/judge/catalogue_explain.h"

#include <fmt/format.h>

namespace paritas::catalogue {
namespace {

Finding begin(const LayerFacts& layer, const char* id) {
  Finding f;
  f.id = id;
  f.nodes = {layer.layer};
  f.evidence = {{"op", layer.op}};
  return f;
}

std::string who(const LayerFacts& layer) { return fmt::format("{} ({})", layer.layer, layer.op); }

std::string inherits(const LayerFacts& layer) { return layer.inherits.empty() ? "" : "; " + layer.inherits; }

void add_range(const RangeUse& r, Finding& f) {
  f.evidence.update(Json{{"tensor", r.tensor},
                         {"scale", json_number(r.scale)},
                         {"asked_scale", json_number(r.asked_scale)},
                         {"low", json_number(r.low)},
                         {"high", json_number(r.high)},
                         {"min", json_number(r.min)},
                         {"max", json_number(r.max)},
                         {"clipped", r.clipped},
                         {"count", r.count},
                         {"own_sqnr_db", json_number(r.own_sqnr_db)}});
}

std::string own(const RangeUse& r) {
  return fmt::format("quantising {} alone leaves it at {:.3g} dB SQNR", r.tensor, r.own_sqnr_db);
}

constexpr const char* kOwnShows =
    "the reference's own values, put through this quantiser and nothing else, lose so much";
constexpr const char* kAnswer = "what becomes of the network's answer, or how values outside these samples lie";

}  // namespace

std::string_view name(CauseClass cause) {
  switch (cause) {
    case CauseClass::kActivations:
      return "quantisation of activations";
    case CauseClass::kWeights:
      return "quantisation of weights";
    case CauseClass::kOperator:
      return "operator";
    case CauseClass::kLayout:
      return "layout";
    case CauseClass::kOrder:
      return "order of arithmetic";
    case CauseClass::kNone:
      return "none";
    case CauseClass::kCannotTell:
      return "cannot tell";
  }
  return "";
}

Finding explain_narrow(const LayerFacts& layer, const RangeUse& r) {
  Finding f = begin(layer, "explain-range-narrow");
  f.text = fmt::format(
      "{}: the range of {} is too narrow: it holds {:.3g} to {:.3g}, the data goes from {:.3g} to {:.3g}; "
      "{} of {} values ({:.2g} %) saturate, and {}",
      who(layer), r.tensor, r.low, r.high, r.min, r.max, r.clipped, r.count,
      100.0 * static_cast<double>(r.clipped) / static_cast<double>(r.count), own(r));
  if (r.top_cut_samples > 0 && r.largest_tie > 1)
    f.text +=
        fmt::format("; in {} of {} samples the largest value is among them, and up to {} elements tie at the limit",
                    r.top_cut_samples, r.samples, r.largest_tie);
  f.text += inherits(layer) + ".";
  f.shows = kOwnShows;
  f.does_not_show = kAnswer;
  f.next = "calibrate with the true minimum and maximum (not a moving average) over inputs like these";
  add_range(r, f);
  f.evidence["top_cut_samples"] = r.top_cut_samples;
  f.evidence["largest_tie"] = r.largest_tie;
  return f;
}

Finding explain_wide(const LayerFacts& layer, const RangeUse& r) {
  Finding f = begin(layer, "explain-range-wide");
  f.text = fmt::format(
      "{}: the range of {} is too wide: {:.3g} to {:.3g} for data from {:.3g} to {:.3g}, a step {:.3g} times "
      "the one that they need; {} of {} levels are used, and {}{}.",
      who(layer), r.tensor, r.low, r.high, r.min, r.max, r.scale / r.asked_scale, r.levels_used, r.levels, own(r),
      inherits(layer));
  f.shows = kOwnShows;
  f.does_not_show = std::string(kAnswer) + ": the calibration may have met larger ones";
  f.next = "calibrate on inputs like these, or leave out rare extremes";
  add_range(r, f);
  return f;
}

Finding explain_outliers(const LayerFacts& layer, const RangeUse& r) {
  Finding f = begin(layer, "explain-outliers");
  f.text = fmt::format(
      "{}: few values set the scale of {}{}: its largest is {:.3g}, 99.9 % lie below {:.3g} ({:.3g} times less, {:.3g} "
      "steps) "
      "and 90 % below {:.3g}; {} of {} levels are used, and {}{}.",
      who(layer), r.tensor, r.residual ? ", a residual sum" : "", r.max_abs, r.p99_9, r.max_abs / r.p99_9,
      r.p99_9 / r.scale, r.p90, r.levels_used, r.levels, own(r), inherits(layer));
  f.shows = kOwnShows;
  f.does_not_show = std::string(kAnswer) + "; whether the few large values matter: clipping them may cost more";
  f.next = "give this tensor 16 bits, or equalise the channels in front of it; measure before clipping";
  add_range(r, f);
  f.evidence["p90"] = json_number(r.p90);
  f.evidence["p99_9"] = json_number(r.p99_9);
  return f;
}

Finding explain_coarse(const LayerFacts& layer, const RangeUse& r) {
  Finding f = begin(layer, "explain-too-few-levels");
  f.text = fmt::format("{}: {} has too few levels for {}: its range fits the data ({:.3g} to {:.3g}), and {}{}.",
                       who(layer), r.type, r.tensor, r.min, r.max, own(r), inherits(layer));
  f.shows = kOwnShows;
  f.does_not_show = kAnswer;
  f.next = "give this tensor more bits";
  add_range(r, f);
  return f;
}

Finding explain_shared(const LayerFacts& layer, const SharedFacts& s) {
  Finding f = begin(layer, "explain-shared-scale");
  f.text = fmt::format(
      "{}: its inputs share one scale ({:.3g}): {} uses {} of {} levels; its own range, {:.3g} to {:.3g}, asks "
      "for a step {:.3g} times finer, and the shared one leaves it at {:.3g} dB SQNR{}.",
      who(layer), s.scale, s.tensor, s.levels_used, s.levels, s.min, s.max, s.scale / s.own_scale, s.sqnr_db,
      inherits(layer));
  f.shows = fmt::format(
      "the {}'s values of that input, put through the quantiser that it shares and nothing else, lose so much",
      s.source);
  f.does_not_show = kAnswer;
  f.next = "quantise the inputs apart, and concatenate behind, or bring them to one range first";
  f.evidence.update(Json{{"tensor", s.tensor},
                         {"levels_used", s.levels_used},
                         {"levels", s.levels},
                         {"scale", json_number(s.scale)},
                         {"own_scale", json_number(s.own_scale)},
                         {"sqnr_db", json_number(s.sqnr_db)}});
  return f;
}

Finding explain_weights(const LayerFacts& layer, const WeightsFacts& w) {
  Finding f = begin(layer, "explain-weights");
  f.text = fmt::format("{}: its weights {} ({}) are at {:.3g} dB of the float ones", who(layer), w.tensor, w.type,
                       w.sqnr_db);
  if (w.median_channel_db) f.text += fmt::format(", the median channel at {:.3g} dB", *w.median_channel_db);
  if (w.worst_channel_db) f.text += fmt::format(", channel {} at {:.3g} dB", w.worst_channel, *w.worst_channel_db);
  if (w.spread)
    f.text += fmt::format("; the widest of {} channels spans {:.3g} times the median one", w.channels, *w.spread);
  f.text +=
      fmt::format("; {:.2g} % became zero", 100.0 * static_cast<double>(w.lost) / static_cast<double>(w.elements));
  if (w.dead > 0) f.text += fmt::format(", {} channels entirely", w.dead);
  f.text += inherits(layer) + ".";
  f.shows = "the stored weights differ from the float model's by so much, whatever runs them";
  f.does_not_show = "what becomes of the network's answer; or that inputs of these channels are as large as of others";
  f.next = w.type.find("per tensor") != std::string::npos ? "quantise these weights per channel"
                                                          : "give these weights more bits, or equalise their channels";
  f.evidence.update(Json{{"tensor", w.tensor},
                         {"sqnr_db", json_number(w.sqnr_db)},
                         {"lost", w.lost},
                         {"elements", w.elements},
                         {"dead_channels", w.dead}});
  if (w.spread) f.evidence["spread"] = json_number(*w.spread);
  return f;
}

Finding explain_bias(const LayerFacts& layer, const BiasFacts& b) {
  Finding f = begin(layer, "explain-bias-saturated");
  f.text =
      fmt::format("{}: {} of {} values of its bias {} stand at the limit of their type, off by up to {:.3g}{}{}.",
                  who(layer), b.saturated, b.elements, b.tensor, b.max_abs,
                  b.output_steps ? fmt::format(", {:.3g} steps of the output", *b.output_steps) : "", inherits(layer));
  f.shows = "the stored bias is not the float model's: its scale (input times weights) is too small for it";
  f.does_not_show = "what becomes of the network's answer";
  f.next = "give the channels with the smallest weights a larger scale";
  f.evidence.update(Json{{"tensor", b.tensor}, {"saturated", b.saturated}, {"max_abs", json_number(b.max_abs)}});
  return f;
}

Finding explain_layout(const LayerFacts& layer, const std::string& evidence) {
  Finding f = begin(layer, "explain-layout");
  f.text = fmt::format("{}: the values are there, in another order: {}.", who(layer), evidence);
  f.shows = "moving axes, and nothing else, makes the two tensors match, on the first sample";
  f.does_not_show = "which side bears the wrong shape, or that the layers behind read it wrongly";
  f.next = "correct the layout where the tensor is written or read, and compare again";
  f.evidence["layout"] = evidence;
  return f;
}

namespace {

Finding kernel(const LayerFacts& layer, const KernelFacts& k, const char* id, const std::string& what) {
  Finding f = begin(layer, id);
  const std::string steps = k.max_steps ? fmt::format(" ({:.3g} steps)", *k.max_steps) : "";
  f.text = fmt::format("{}: {}: one model, equal inputs, and {} of {} values differ by up to {:.3g}{}.", who(layer),
                       what, k.differing, k.count, k.max_abs, steps);
  f.shows = "weights, quantisers and inputs are the same on both sides: the kernels compute different results";
  f.does_not_show = "which of the two is right";
  f.next = "see which kernels ran: run.json of both recordings, and paritas placement";
  f.evidence.update(Json{{"differing", k.differing},
                         {"count", k.count},
                         {"max_abs", json_number(k.max_abs)},
                         {"nmse", json_number(k.nmse)}});
  return f;
}

}  // namespace

Finding explain_operator(const LayerFacts& layer, const KernelFacts& k) {
  return kernel(layer, k, "explain-operator", "the operator is computed differently");
}

Finding explain_order(const LayerFacts& layer, const KernelFacts& k) {
  return kernel(layer, k, "explain-order", "no more than the order of arithmetic, or a rounding rule, makes");
}

Finding explain_inherited(const LayerFacts& layer) {
  Finding f = begin(layer, "explain-inherited");
  f.text = fmt::format("{}: nothing of its own stands out: {}.", who(layer), layer.inherits);
  f.shows = "at least half of the error's energy relative to the signal is there in front of this layer";
  f.does_not_show = "that this layer adds nothing: the two may cancel; the local error is what paritas locate measures";
  f.next = "explain the layers in front of it";
  f.evidence["inherits"] = layer.inherits;
  return f;
}

Finding explain_nothing(const LayerFacts& layer, const std::string& figures) {
  Finding f = begin(layer, "explain-none");
  f.text = fmt::format("{}: nothing stands out: {}.", who(layer), figures);
  f.shows = "every figure that was looked at is within its threshold (docs/explain.md)";
  f.does_not_show = "that the layer is exact, or that errors so small do no harm";
  f.next = "look at other layers: paritas explain --worst 10";
  f.evidence["figures"] = figures;
  return f;
}

Finding explain_cannot_tell(const LayerFacts& layer, const std::string& why) {
  Finding f = begin(layer, "explain-cannot-tell");
  f.text = fmt::format("{}: cannot tell: {}{}.", who(layer), why, inherits(layer));
  f.shows = "what was looked at convicts nothing, and does not acquit the layer either";
  f.does_not_show = "a cause";
  f.next = "give what was not looked at; the layer's own error: paritas locate on the quantised model, both targets";
  f.evidence["why"] = why;
  return f;
}

}  // namespace paritas::catalogue
