#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "paritas/report/reports.h"
#include "paritas/report/visible.h"

namespace paritas {
namespace {

constexpr size_t kDefaultRows = 20;

// Refused ones first, then by NMSE.
std::vector<const TensorComparison*> interesting_first(const CompareResult& result) {
  std::vector<const TensorComparison*> order;
  for (const auto& t : result.tensors) order.push_back(&t);
  auto key = [](const TensorComparison* t) {
    const int kind = t->verdict <= Verdict::kDeviates ? 0 : t->role == Role::kOutput ? 1 : 2;
    const double size = !t->metrics ? INFINITY : std::isnan(t->metrics->nmse) ? INFINITY : t->metrics->nmse;
    return std::pair(kind, -size);
  };
  std::stable_sort(order.begin(), order.end(), [&](auto* a, auto* b) { return key(a) < key(b); });
  return order;
}

// A quantised input against the float one that it was made from: the figures of its codes would only mislead.
bool equal_by_declaration(const TensorComparison& t) {
  return t.role == Role::kInput && t.verdict == Verdict::kPass && t.metrics && t.metrics->differing > 0;
}

std::string note_of(const TensorComparison& t) {
  if (t.status != PairStatus::kCompared) return std::string(name(t.status));
  const PairMetrics& m = *t.metrics;
  if (m.nonfinite.device_only > 0)
    return fmt::format("{} NaN/Inf on the device only", with_thousands(m.nonfinite.device_only));
  if (m.zero_norm) return "one side is all zero";
  std::string note = equal_by_declaration(t) ? t.rule
                     : m.differing == 0      ? "equal"
                     : m.steps ? fmt::format("step {} max, {} mean", number(m.steps->max, 3), number(m.steps->mean, 3))
                               : "";
  const auto add = [&note](const std::string& text) { note += (note.empty() ? "" : "; ") + text; };
  if (!t.notes.empty()) add(t.notes.front());
  if (t.verdict == Verdict::kNotJudged && t.rule.rfind("not judged", 0) == 0) add(t.rule);
  if (t.pairing != "exact" && !t.pairing.empty()) add("paired by " + t.pairing);
  return note;
}

// Always six places: 1.000000 is less than 1 in a column of others.
std::string cosine_text(double cosine) {
  return std::isfinite(cosine) ? fmt::format("{:.6f}", cosine) : number(cosine);
}

std::string figure(const std::string& metric, double value) {
  return metric == "cosine" ? cosine_text(value) : number(value, 6);
}

// Quantiles of the absolute error, where they were asked for.
std::string quantiles_table(const CompareResult& result, const Style& style) {
  const bool samples = result.samples > 1;
  Table table({"tensor", samples ? "sample" : "", "|d| p50", "p90", "p99", "p99.9", "max"},
              {false, false, true, true, true, true, true});
  for (const TensorComparison* t : interesting_first(result)) {
    if (!t->metrics || !t->metrics->abs_quantiles || (!style.verbose && table.rows() == kDefaultRows)) continue;
    const auto& q = *t->metrics->abs_quantiles;
    table.row({t->name, samples ? t->sample : "", number(q[0]), number(q[1]), number(q[2]), number(q[3]),
               number(t->metrics->max_abs)});
  }
  return table.empty() ? "" : "\n" + table.render(style);
}

// Over all samples, the worst tensor first.
std::string summary_table(const CompareResult& result, const Style& style) {
  Table table({"tensor", "metric", "mean", "median", "p99", "worst", "in sample"},
              {false, false, true, true, true, true, false});
  size_t shown = 0;
  for (const TensorSummary& summary : result.summaries) {
    if (!style.verbose && ++shown > kDefaultRows / 2) break;
    for (const MetricSummary& s : summary.metrics)
      if (s.metric == "cosine" || s.metric == "max_abs" || s.metric == "mean_step" || (style.verbose))
        table.row({summary.name, s.metric, figure(s.metric, s.mean), figure(s.metric, s.median),
                   figure(s.metric, s.p99), figure(s.metric, s.worst), s.worst_sample});
  }
  return table.empty() ? "" : table.render(style);
}

std::string proposals_text(const CompareResult& result) {
  std::string out;
  for (const PairProposal& p : result.proposals)
    out += fmt::format("Proposal   \"{}\" looks like the device's \"{}\" (NMSE {}{}): not used; say so with an alias\n",
                       visible(p.reference), visible(p.device), number(p.nmse, 2),
                       p.runner_up.empty()
                           ? ", no other of this shape"
                           : fmt::format(", next best {} with {}", p.runner_up, number(p.runner_up_nmse, 2)));
  return out;
}

}  // namespace

std::string comparison_table(const CompareResult& result, const Style& style) {
  std::string out;
  if (!result.summaries.empty()) out += summary_table(result, style) + "\n";
  const bool samples = result.samples > 1;
  Table table(samples ? std::vector<std::string>{"tensor", "sample", "type", "cosine", "SQNR dB", "max abs",
                                                 "differing", "note"}
                      : std::vector<std::string>{"tensor", "type", "cosine", "SQNR dB", "max abs", "differing", "note"},
              samples ? std::vector<bool>{false, false, false, true, true, true, true, false}
                      : std::vector<bool>{false, false, true, true, true, true, false});
  size_t shown = 0, hidden = 0;
  for (const TensorComparison* t : interesting_first(result)) {
    // What is only on one side and has no say is counted below the table, and named.
    const bool only_listed = t->missing() && t->role == Role::kIntermediate && !t->gated;
    if (!style.verbose && (shown == kDefaultRows || only_listed)) {
      hidden += !only_listed;
      continue;
    }
    ++shown;
    const SideInfo* side = t->reference ? &*t->reference : t->device ? &*t->device : nullptr;
    std::vector<std::string> cells = {t->device_name.empty() ? t->name : t->name + " = " + t->device_name};
    if (samples) cells.push_back(t->sample);
    cells.push_back(side == nullptr ? "-" : fmt::format("{} {}", name(side->dtype), to_string(side->shape)));
    if (t->metrics && !equal_by_declaration(*t)) {
      const PairMetrics& m = *t->metrics;
      const bool floats = is_float(t->reference->dtype);
      cells.push_back(floats ? cosine_text(m.cosine) : "-");
      cells.push_back(floats ? number(m.sqnr_db, 3) : "-");
      cells.push_back(m.names ? "-" : number(m.max_abs));
      cells.push_back(fmt::format("{} of {}", with_thousands(m.differing), with_thousands(m.count)));
    } else {
      cells.insert(cells.end(), {"-", "-", "-", "-"});
    }
    cells.push_back(note_of(*t));
    table.row(std::move(cells));
  }
  if (!table.empty()) out += table.render(style);
  out += quantiles_table(result, style);
  if (hidden > 0) out += fmt::format("... and {} more (--verbose shows all)\n", hidden);
  const Coverage& c = result.coverage;
  out +=
      fmt::format("\nCoverage   {} of {} outputs compared, {} gated", c.outputs_compared, c.outputs, c.outputs_gated);
  if (c.intermediates > 0) out += fmt::format("; {} of {} intermediates", c.intermediates_compared, c.intermediates);
  out += fmt::format("; {} sample{}", result.samples, result.samples == 1 ? "" : "s");
  if (result.part && result.samples > 0)
    out += fmt::format(" (a part: {} to {} of {}; paritas merge joins parts)", result.first_sample,
                       result.first_sample + result.samples - 1, result.reference_samples);
  out += "\n";
  for (const auto& [side, names] :
       {std::pair("reference", &result.unmatched_reference), std::pair("device", &result.unmatched_device)}) {
    if (names->empty()) continue;
    std::string list;
    for (size_t i = 0; i < names->size() && i < 5; ++i) list += (i ? ", " : "") + (*names)[i];
    if (names->size() > 5) list += fmt::format(" and {} more", names->size() - 5);
    out += fmt::format("Only in {}   {}\n", side, visible(list));
  }
  return out + proposals_text(result);
}

std::string terminal(const CompareResult& result, const Style& style) {
  std::string out = banner(style, result.verdict);
  const size_t reasons = std::min<size_t>(result.reasons.size(), result.deciding);
  const std::string pad(name(result.verdict).size() + 3, ' ');
  const size_t shown = style.verbose ? reasons : std::min<size_t>(reasons, 3);
  for (size_t i = 0; i < shown; ++i) out += (i == 0 ? "   " : pad) + visible(result.reasons[i]) + "\n";
  if (reasons > shown) out += fmt::format("{}... and {} more (--verbose shows all)\n", pad, reasons - shown);
  out += "\n" + comparison_table(result, style);
  for (const auto& note : result.notes) out += dim(style, "note: " + note) + "\n";
  return out;
}

}  // namespace paritas
