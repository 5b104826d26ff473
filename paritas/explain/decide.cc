#include "paritas/explain/decide.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paritas {
namespace {

using catalogue::CauseClass;
using Convictions = std::vector<std::pair<CauseClass, Finding>>;

double decibels(double nmse) {
  return nmse == 0 ? std::numeric_limits<double>::infinity() : 0.0 - 10 * std::log10(nmse);
}

// Largest error of an input; nothing where one is not known.
std::optional<double> inputs_nmse(const LayerFigures& f) {
  std::optional<double> worst;
  for (const ValueFigures& input : f.inputs) {
    if (!input.error) return std::nullopt;
    worst = std::max(worst.value_or(0), input.error->nmse);
  }
  return worst;
}

bool inputs_equal(const LayerFigures& f) {
  return !f.inputs.empty() && std::all_of(f.inputs.begin(), f.inputs.end(), [](const ValueFigures& input) {
    return input.error && input.error->differing == 0;
  });
}

catalogue::LayerFacts facts_of(const LayerFigures& f) {
  catalogue::LayerFacts facts{f.name, f.op, {}};
  const auto in = inputs_nmse(f);
  if (in && f.output.error)
    facts.inherits = fmt::format("against the reference its inputs are at {:.3g} dB, its output at {:.3g} dB",
                                 decibels(*in), decibels(f.output.error->nmse));
  return facts;
}

catalogue::RangeUse range_of(const LayerFigures& f, uint64_t samples) {
  const QuantiserFigures& q = *f.output.quantiser;
  const Distribution& d = *f.output.distribution;
  catalogue::RangeUse r;
  r.tensor = f.output.name;
  r.type = name(q.dtype);
  r.scale = q.scale;
  r.asked_scale = q.asked_scale.value_or(0);
  r.low = q.low;
  r.high = q.high;
  r.min = d.min;
  r.max = d.max;
  r.p90 = d.p90;
  r.p99_9 = d.p99_9;
  r.max_abs = d.max_abs;
  r.clipped = q.clipped;
  r.count = d.count;
  r.levels = q.levels;
  r.levels_used = q.levels_used;
  r.own_sqnr_db = decibels(q.own_nmse);
  r.samples = samples;
  r.top_cut_samples = q.top_cut_samples;
  r.largest_tie = q.largest_tie;
  r.residual = f.residual;
  return r;
}

// What the quantiser does to the reference's values. Ends of the range at an activation's own bounds clip nothing: the
// reference's values do not go beyond them.
void convict_range(const LayerFigures& f, uint64_t samples, Convictions& out) {
  const ValueFigures& v = f.output;
  if (!v.quantiser || v.source != "reference" || !v.quantiser->ratio) return;
  const QuantiserFigures& q = *v.quantiser;
  const double own = decibels(q.own_nmse);
  const Distribution& d = *v.distribution;
  const auto facts = facts_of(f);
  const auto range = range_of(f, samples);
  const bool lost = own < kLostDb;
  // Outliers carry the energy of the whole, so that its SQNR says little about the rest: steps do.
  const bool outliers = d.p99_9 > 0 && d.max_abs >= kOutliers * d.p99_9 && (lost || d.p99_9 < kOutlierSteps * q.scale);
  if (lost && q.clip_nmse >= q.own_nmse / 2)
    out.emplace_back(CauseClass::kActivations, catalogue::explain_narrow(facts, range));
  else if (lost && *q.ratio >= kWide)
    out.emplace_back(CauseClass::kActivations, catalogue::explain_wide(facts, range));
  else if (outliers)
    out.emplace_back(CauseClass::kActivations, catalogue::explain_outliers(facts, range));
  else if (own < kCoarseDb)
    out.emplace_back(CauseClass::kActivations, catalogue::explain_coarse(facts, range));
}

void convict_shared(const LayerFigures& f, Convictions& out) {
  if (!f.output.quantiser) return;
  const QuantiserFigures& q = *f.output.quantiser;
  for (const SharedScale& s : f.shared)
    if (s.own_scale > 0 && q.scale >= kSharedLevels * s.own_scale && decibels(s.nmse) < kLostDb)
      out.emplace_back(CauseClass::kActivations,
                       catalogue::explain_shared(facts_of(f), {s.tensor, s.levels_used, q.levels, q.scale, s.own_scale,
                                                               s.min, s.max, decibels(s.nmse), s.source}));
}

void convict_weights(const LayerFigures& f, Convictions& out) {
  for (const WeightFigures& w : f.weights) {
    if (!w.error || !w.quantised) continue;
    if (w.bias) {
      // Off by rounding is no saturation; off by less than half a step of the output changes no result.
      if (w.saturated > 0 && (w.bias_output_steps ? *w.bias_output_steps >= kBiasSteps : w.error->sqnr_db < kLostDb))
        out.emplace_back(CauseClass::kWeights,
                         catalogue::explain_bias(
                             facts_of(f), {w.name, w.saturated, w.elements, w.error->max_abs, w.bias_output_steps}));
      continue;
    }
    // One wide channel carries the energy of the whole: the median channel tells what the others are left with.
    const double median = w.error->median_channel_db.value_or(w.error->sqnr_db);
    if (!(std::min(w.error->sqnr_db, median) < kLostDb)) continue;
    catalogue::WeightsFacts facts{w.name,
                                  w.type,
                                  w.error->sqnr_db,
                                  w.error->worst_channel_db,
                                  {},
                                  w.error->worst_channel,
                                  w.error->lost,
                                  w.elements,
                                  w.error->dead_channels,
                                  0,
                                  w.error->median_channel_db};
    if (w.channels && std::isfinite(w.channels->spread)) {
      facts.spread = w.channels->spread;
      facts.channels = w.channels->count;
    }
    out.emplace_back(CauseClass::kWeights, catalogue::explain_weights(facts_of(f), facts));
  }
}

// One model on both sides: weights and quantisers are equal, only kernels are left.
void convict_kernel(const LayerFigures& f, Convictions& out) {
  if (!f.output.error || f.output.error->differing == 0 || !inputs_equal(f)) return;
  const ErrorFigures& e = *f.output.error;
  const catalogue::KernelFacts facts{e.differing, e.count, e.max_abs, e.nmse, e.max_steps};
  // 1e-3 of a step: the two real values are float32.
  const bool order = e.max_steps ? *e.max_steps <= kOrderSteps + 1e-3 : e.nmse <= kOrderNmse;
  out.emplace_back(
      order ? CauseClass::kOrder : CauseClass::kOperator,
      order ? catalogue::explain_order(facts_of(f), facts) : catalogue::explain_operator(facts_of(f), facts));
}

std::string acquitted(const LayerFigures& f) {
  std::vector<std::string> parts;
  if (f.output.error)
    parts.push_back(fmt::format("output at {:.3g} dB of the reference", decibels(f.output.error->nmse)));
  if (f.output.quantiser && f.output.quantiser->ratio)
    parts.push_back(fmt::format("its quantiser alone leaves {:.3g} dB SQNR", decibels(f.output.quantiser->own_nmse)));
  for (const WeightFigures& w : f.weights)
    if (w.error && !w.bias) parts.push_back(fmt::format("weights at {:.3g} dB", w.error->sqnr_db));
  return parts.empty() ? "no figure could be taken" : fmt::format("{}", fmt::join(parts, ", "));
}

void without_conviction(LayerExplanation& layer) {
  const LayerFigures& f = layer.figures;
  const auto facts = facts_of(f);
  const auto settle = [&](CauseClass cause, Finding finding) {
    layer.cause = cause;
    layer.finding = std::move(finding);
  };
  const auto in = inputs_nmse(f);
  if (!f.output.error)
    return settle(CauseClass::kCannotTell,
                  catalogue::explain_cannot_tell(facts, "its output was not compared; " + acquitted(f)));
  const double out = f.output.error->nmse;
  if (f.output.error->differing == 0) return settle(CauseClass::kNone, catalogue::explain_nothing(facts, acquitted(f)));
  if (in && *in > 0 && *in >= kInherited * out && (f.same_model || out > kBadNmse))
    return settle(CauseClass::kNone, catalogue::explain_inherited(facts));
  if (f.same_model)
    return settle(
        CauseClass::kCannotTell,
        catalogue::explain_cannot_tell(facts, "its inputs differ, too, and the kernel is not told apart from them"));
  if (!f.not_looked_at.empty())
    return settle(CauseClass::kCannotTell,
                  catalogue::explain_cannot_tell(
                      facts, fmt::format("{}; not looked at: {}", acquitted(f), fmt::join(f.not_looked_at, "; "))));
  if (out <= kBadNmse) return settle(CauseClass::kNone, catalogue::explain_nothing(facts, acquitted(f)));
  settle(CauseClass::kCannotTell,
         catalogue::explain_cannot_tell(facts,
                                        acquitted(f) + "; the operator, or how it amplifies what it reads, is left"));
}

}  // namespace

void decide(LayerExplanation& layer, uint64_t samples) {
  const LayerFigures& f = layer.figures;
  Convictions convicted;
  if (f.layout.state == LayoutState::kConvicted)
    convicted.emplace_back(CauseClass::kLayout, catalogue::explain_layout(facts_of(f), f.layout.text));
  if (f.same_model) {
    if (convicted.empty()) convict_kernel(f, convicted);
  } else {
    convict_range(f, samples, convicted);
    convict_shared(f, convicted);
    convict_weights(f, convicted);
  }
  if (convicted.empty()) return without_conviction(layer);
  layer.cause = convicted.front().first;
  layer.finding = std::move(convicted.front().second);
  for (size_t i = 1; i < convicted.size(); ++i) layer.also.push_back(std::move(convicted[i].second));
}

}  // namespace paritas
