#include "paritas/report/explain_report.h"

#include <cmath>
#include <map>

#include <fmt/format.h>

#include "paritas/report/visible.h"

namespace paritas {
namespace {

constexpr size_t kIndent = 4;

std::string decibels(double nmse) { return nmse == 0 ? "inf" : number(0.0 - 10 * std::log10(nmse), 3); }

void line(const Style& style, const char* label, const std::string& text, std::string& out) {
  if (text.empty()) return;
  out += wrap(text, fmt::format("{:{}}{:<12}", "", kIndent, label), std::string(kIndent + 12, ' '), style.width);
}

std::string weight_text(const WeightFigures& w) {
  std::string text = fmt::format("{}: {}, {} to {}", w.name, w.type, number(w.min, 3), number(w.max, 3));
  if (w.channels && !w.bias)
    text += fmt::format("; {} channels span {} to {}, the widest {} times the median", w.channels->count,
                        number(w.channels->smallest, 3), number(w.channels->largest, 3), number(w.channels->spread, 3));
  if (w.quantised && !w.bias)
    text += fmt::format("; {} are zero", percent(static_cast<double>(w.zero) / static_cast<double>(w.elements)));
  if (w.channels && w.channels->dead > 0 && !w.bias) text += fmt::format(", {} channels dead", w.channels->dead);
  if (w.bias && w.quantised) text += fmt::format("; {} at the type's limits", w.saturated);
  if (w.error) {
    text += fmt::format("; SQNR {} dB", number(w.error->sqnr_db, 3));
    if (w.error->worst_channel_db)
      text += fmt::format(" (channel {}: {}, median {})", w.error->worst_channel, number(*w.error->worst_channel_db, 3),
                          number(w.error->median_channel_db.value_or(NAN), 3));
  }
  return text;
}

std::string values_text(const ValueFigures& v) {
  if (!v.distribution) return {};
  const Distribution& d = *v.distribution;
  return fmt::format("{} ({}): {} to {}; of |x| p50 {}, p90 {}, p99 {}, p99.9 {}, largest {}", v.name, v.source,
                     number(d.min, 3), number(d.max, 3), number(d.p50, 3), number(d.p90, 3), number(d.p99, 3),
                     number(d.p99_9, 3), number(d.max_abs, 3));
}

std::string quantiser_text(const QuantiserFigures& q) {
  std::string text =
      fmt::format("{} {} to {}, step {}", name(q.dtype), number(q.low, 3), number(q.high, 3), number(q.scale, 3));
  if (q.ratio)
    text += fmt::format(" (the data asks for {}: {} times); {} clipped, alone {} dB", number(*q.asked_scale, 3),
                        number(*q.ratio, 3), with_thousands(q.clipped), decibels(q.own_nmse));
  if (q.count > 0)
    text += fmt::format("; {} of {} levels used, {} at the lower limit, {} at the upper", q.levels_used, q.levels,
                        percent(static_cast<double>(q.at_low) / static_cast<double>(q.count)),
                        percent(static_cast<double>(q.at_high) / static_cast<double>(q.count)));
  return text;
}

std::string error_text(const ValueFigures& v) {
  if (!v.error) return {};
  std::string text =
      fmt::format("{} dB against {}, {} of {} differ, at most {}", decibels(v.error->nmse), v.reference,
                  with_thousands(v.error->differing), with_thousands(v.error->count), number(v.error->max_abs, 3));
  if (v.error->max_steps) text += fmt::format(" ({} steps)", number(*v.error->max_steps, 3));
  if (!v.rule.empty() && v.rule != "exact") text += "; paired: " + v.rule;
  return text;
}

void layer_block(const LayerExplanation& layer, const Style& style, std::string& out) {
  const LayerFigures& f = layer.figures;
  out += wrap(layer.finding.text, bold(style, name(layer.cause)) + "   ", "    ", style.width);
  for (const Finding& also : layer.also) line(style, "also", also.text, out);
  for (const WeightFigures& w : f.weights) line(style, w.bias ? "bias" : "weights", weight_text(w), out);
  line(style, "values", values_text(f.output), out);
  if (f.output.quantiser) line(style, "quantiser", quantiser_text(*f.output.quantiser), out);
  for (const SharedScale& s : f.shared)
    line(style, "shares",
         fmt::format("{} uses {} of the levels ({} to {}, {} dB)", s.tensor, s.levels_used, number(s.min, 3),
                     number(s.max, 3), decibels(s.nmse)),
         out);
  line(style, "output", error_text(f.output), out);
  for (const ValueFigures& input : f.inputs)
    if (input.error) line(style, "input", fmt::format("{}: {} dB", input.name, decibels(input.error->nmse)), out);
  line(style, "layout", f.layout.text, out);
  for (const std::string& note : f.notes) line(style, "note", note, out);
  for (const std::string& text : f.not_looked_at) line(style, "unknown", "not looked at: " + text, out);
  if (style.verbose) {
    line(style, "shows", layer.finding.shows, out);
    line(style, "not shown", layer.finding.does_not_show, out);
  }
  line(style, "next", layer.finding.next, out);
  out += "\n";
}

Json optional_number(const std::optional<double>& value) { return value ? json_number(*value) : Json(nullptr); }

Json weight_json(const WeightFigures& w) {
  Json json = {{"name", w.name},
               {"type", w.type},
               {"shape", w.shape},
               {"bias", w.bias},
               {"quantised", w.quantised},
               {"elements", w.elements},
               {"min", json_number(w.min)},
               {"max", json_number(w.max)},
               {"zero", w.zero},
               {"saturated", w.saturated},
               {"channels", nullptr},
               {"error", nullptr},
               {"bias_output_steps", optional_number(w.bias_output_steps)}};
  if (w.channels)
    json["channels"] = {{"axis", w.channels->axis},
                        {"count", w.channels->count},
                        {"smallest", json_number(w.channels->smallest)},
                        {"median", json_number(w.channels->median)},
                        {"largest", json_number(w.channels->largest)},
                        {"spread", json_number(w.channels->spread)},
                        {"dead", w.channels->dead}};
  if (w.error)
    json["error"] = {{"sqnr_db", json_number(w.error->sqnr_db)},
                     {"worst_channel_db", optional_number(w.error->worst_channel_db)},
                     {"worst_channel", w.error->worst_channel},
                     {"median_channel_db", optional_number(w.error->median_channel_db)},
                     {"lost", w.error->lost},
                     {"dead_channels", w.error->dead_channels},
                     {"max_abs", json_number(w.error->max_abs)}};
  return json;
}

Json quantiser_json(const QuantiserFigures& q) {
  return {{"dtype", name(q.dtype)},
          {"scale", json_number(q.scale)},
          {"zero_point", json_number(q.zero_point)},
          {"low", json_number(q.low)},
          {"high", json_number(q.high)},
          {"levels", q.levels},
          {"levels_used", q.levels_used},
          {"codes", q.count},
          {"at_low", q.at_low},
          {"at_high", q.at_high},
          {"low_is_bound", q.low_is_bound},
          {"high_is_bound", q.high_is_bound},
          {"low_may_be_bound", q.low_may_be_bound},
          {"high_may_be_bound", q.high_may_be_bound},
          {"asked_scale", optional_number(q.asked_scale)},
          {"ratio", optional_number(q.ratio)},
          {"clipped", q.asked_scale ? Json(q.clipped) : Json(nullptr)},
          {"own_nmse", q.asked_scale ? json_number(q.own_nmse) : Json(nullptr)},
          {"clip_nmse", q.asked_scale ? json_number(q.clip_nmse) : Json(nullptr)},
          {"top_cut_samples", q.top_cut_samples},
          {"largest_tie", q.largest_tie}};
}

Json value_json(const ValueFigures& v) {
  Json json = {{"name", v.name},          {"reference", v.reference}, {"rule", v.rule},  {"source", v.source},
               {"distribution", nullptr}, {"quantiser", nullptr},     {"error", nullptr}};
  if (v.distribution)
    json["distribution"] = {{"count", v.distribution->count},
                            {"nonfinite", v.distribution->nonfinite},
                            {"min", json_number(v.distribution->min)},
                            {"max", json_number(v.distribution->max)},
                            {"max_abs", json_number(v.distribution->max_abs)},
                            {"p50", json_number(v.distribution->p50)},
                            {"p90", json_number(v.distribution->p90)},
                            {"p99", json_number(v.distribution->p99)},
                            {"p99_9", json_number(v.distribution->p99_9)}};
  if (v.quantiser) json["quantiser"] = quantiser_json(*v.quantiser);
  if (v.error)
    json["error"] = {{"count", v.error->count},
                     {"differing", v.error->differing},
                     {"device_nonfinite", v.error->device_nonfinite},
                     {"nmse", json_number(v.error->nmse)},
                     {"max_abs", json_number(v.error->max_abs)},
                     {"max_steps", optional_number(v.error->max_steps)}};
  return json;
}

std::string_view state_name(LayoutState state) {
  switch (state) {
    case LayoutState::kNotLookedAt:
      return "not looked at";
    case LayoutState::kRuledOut:
      return "ruled out";
    case LayoutState::kConvicted:
      return "convicted";
  }
  return "";
}

Json layer_json(const LayerExplanation& layer) {
  const LayerFigures& f = layer.figures;
  Json json = {{"name", f.name},
               {"op", f.op},
               {"cause", name(layer.cause)},
               {"finding", to_json(layer.finding)},
               {"also", Json::array()},
               {"output", value_json(f.output)},
               {"inputs", Json::array()},
               {"weights", Json::array()},
               {"shared", Json::array()},
               {"layout",
                {{"state", state_name(f.layout.state)},
                 {"in_place", json_number(f.layout.in_place)},
                 {"best", json_number(f.layout.best)},
                 {"permutation", f.layout.permutation},
                 {"reread", f.layout.reread},
                 {"text", f.layout.text}}},
               {"activation", f.activation},
               {"same_model", f.same_model},
               {"residual", f.residual},
               {"not_looked_at", f.not_looked_at},
               {"notes", f.notes}};
  for (const Finding& also : layer.also) json["also"].push_back(to_json(also));
  for (const ValueFigures& input : f.inputs) json["inputs"].push_back(value_json(input));
  for (const WeightFigures& w : f.weights) json["weights"].push_back(weight_json(w));
  for (const SharedScale& s : f.shared)
    json["shared"].push_back({{"tensor", s.tensor},
                              {"levels_used", s.levels_used},
                              {"min", json_number(s.min)},
                              {"max", json_number(s.max)},
                              {"own_scale", json_number(s.own_scale)},
                              {"nmse", json_number(s.nmse)},
                              {"source", s.source}});
  return json;
}

}  // namespace

std::string terminal(const ExplainResult& r, const Style& style) {
  std::string out = fmt::format("model      {}\n", visible(r.model));
  const auto side = [&](const char* label, const std::string& path) {
    out += fmt::format("{:<11}{}\n", label, path.empty() ? "not given: not looked at" : visible(path));
  };
  side("float", r.float_model);
  side("reference", r.reference);
  side("device", r.device);
  out += "\n";
  for (const LayerExplanation& layer : r.layers) layer_block(layer, style, out);
  if (r.layers.size() > 1) {
    std::map<catalogue::CauseClass, size_t> counts;
    for (const LayerExplanation& layer : r.layers) ++counts[layer.cause];
    std::string text;
    for (const auto& [cause, count] : counts)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name(cause));
    out += fmt::format("{} layers: {}\n", r.layers.size(), text);
  }
  return out;
}

Json to_json(const ExplainResult& r) {
  Json json = {{"schema", "paritas.explain/1"},
               {"model", {{"path", r.model}, {"sha256", r.model_sha256}}},
               {"float", r.float_model},
               {"reference", r.reference},
               {"device", r.device},
               {"samples", r.samples},
               {"layers", Json::array()}};
  for (const LayerExplanation& layer : r.layers) json["layers"].push_back(layer_json(layer));
  return json;
}

}  // namespace paritas
