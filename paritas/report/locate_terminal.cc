#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "paritas/report/consistency_report.h"
#include "paritas/report/cross_matrix_report.h"
#include "paritas/report/finding_text.h"
#include "paritas/report/groups_report.h"
#include "paritas/report/probe_checks_report.h"
#include "paritas/report/reports.h"
#include "paritas/report/search_report.h"
#include "paritas/report/visible.h"

namespace paritas {
namespace {

constexpr size_t kDefaultRanked = 8;

std::string outputs_table(const LocateResult& result, const Style& style) {
  Table table({"output", "reference max", "device max", "cosine", "max abs", "note"},
              {false, true, true, true, true, false});
  for (const OutputRow& row : result.outputs) {
    const TensorComparison& t = row.pair;
    std::vector<std::string> cells = {t.name};
    if (!t.metrics) {
      cells.insert(cells.end(), {"-", "-", "-", "-", std::string(name(t.status))});
    } else if (row.class_ids()) {
      const PairMetrics& m = *t.metrics;
      cells.insert(cells.end(),
                   {"", "", "", "", fmt::format("{} of {} differ (integers: no cosine)", m.differing, m.count)});
    } else {
      const PairMetrics& m = *t.metrics;
      std::string note;
      if (m.nonfinite.device_only > 0)
        note = fmt::format("{} NaN/Inf on the device only", m.nonfinite.device_only);
      else if (m.differing == 0)
        note = "equal";
      else if (row.behind_decision)
        note = "rows behind a decision: match by task, not by row";
      cells.insert(cells.end(),
                   {number(m.reference_max), number(m.device_max), number(m.cosine, 4), number(m.max_abs, 3), note});
    }
    table.row(std::move(cells));
  }
  return table.render(style);
}

std::string placement_line(const LocateResult& result, const Style& style) {
  const PlacementCounts& p = result.placement;
  if (p.total() == 0) return bold(style, "Where it ran") + "   not known: the runtime does not tell\n";
  std::string evidence;
  for (const auto& e : p.evidence) evidence += (evidence.empty() ? "" : ", ") + e;
  if (!result.device_simulated.empty())
    return bold(style, "Where it ran") + fmt::format("   {} (simulated: {} nodes on {}, each result rounded)\n",
                                                     result.device_simulated, p.total(), p.requested);
  return bold(style, "Where it ran") + fmt::format("   {} of {} nodes on {} ({} partition{}); evidence: {}\n",
                                                   p.on(p.requested), p.total(), p.requested, p.partitions,
                                                   p.partitions == 1 ? "" : "s", evidence);
}

std::string suppression_text(const DecisionTie& tie) {
  const auto follow = std::count_if(tie.boxes.begin(), tie.boxes.end(), [](const auto& box) { return box.follows; });
  std::string text = fmt::format("{} box{} kept on one side only; in the reference at most {:.3g} from it, by {}",
                                 tie.boxes.size(), tie.boxes.size() == 1 ? "" : "es", *tie.margin, tie.margin_of);
  if (follow > 0) text += fmt::format(" ({} follow{} from others)", follow, follow == 1 ? "s" : "");
  return text;
}

// How near it was, and what depends on it.
std::string tie_lines(const DecisionReport& d, const Style& style) {
  const std::string indent(17, ' ');
  std::string out;
  if (d.tie && d.tie->margin) {
    const DecisionTie& tie = *d.tie;
    std::string text =
        tie.boxes.empty() ? fmt::format("at most {:.3g} apart in the reference", *tie.margin) : suppression_text(tie);
    if (tie.storage_step) text += fmt::format("; a storage step there is {:.3g}", *tie.storage_step);
    if (tie.local_error) text += fmt::format(", local error {:.3g}", *tie.local_error);
    if (tie.accumulated_error) text += fmt::format(", accumulated {:.3g}", *tie.accumulated_error);
    if (tie.explained_by == "nothing")
      text += "; the scores' errors do not explain it";
    else if (!tie.explained_by.empty())
      text += tie.explained_by == "storage" ? "; rounding the scores is enough"
                                            : fmt::format("; the {} error is enough", tie.explained_by);
    out += wrap(text, indent, indent, style.width);
  } else if (d.tie && !d.tie->not_taken.empty()) {
    out += indent + "no margin: " + visible(d.tie->not_taken) + "\n";
  }
  if (!d.outputs.empty()) {
    std::string text = "decides over ";
    for (size_t i = 0; i < d.outputs.size(); ++i) text += (i == 0 ? "" : ", ") + d.outputs[i];
    if (!d.gathers.empty())
      text += fmt::format("; {} node{} by it", d.gathers.size(), d.gathers.size() == 1 ? " gathers" : "s gather");
    out += wrap(text, indent, indent, style.width);
  }
  return out;
}

std::string decisions_lines(const LocateResult& result, const Style& style) {
  std::string out;
  size_t shown = 0;
  for (const DecisionReport& d : result.decisions) {
    if (!d.changed() || (shown == 3 && !style.verbose)) continue;
    out += shown++ == 0 ? bold(style, "Decisions") + "      " : std::string(15, ' ');
    out += d.picks == d.moved
               ? fmt::format("{}: {} of {} changed\n", visible(d.node), d.moved, d.count)
               : fmt::format("{}: {} of {} moved, {} picked otherwise\n", visible(d.node), d.moved, d.count, d.picks);
    out += tie_lines(d, style);
  }
  const auto changed = static_cast<size_t>(std::count_if(result.decisions.begin(), result.decisions.end(),
                                                         [](const DecisionReport& d) { return d.changed(); }));
  if (changed > shown) out += fmt::format("{:15}... and {} more\n", "", changed - shown);
  if (changed > 0)
    out += fmt::format("{:15}{}\n", "",
                       result.forced.empty() ? "the device takes no decisions as inputs: figures behind them are free"
                                             : "figures below use the reference's picks");
  return out;
}

std::string range_cell(const NodeRow& row) {
  if (row.range_of_constant)
    return row.range == RangeViolation::kOverflow
               ? fmt::format("no: constant of {:.3g} x the maximum", row.range_factor)
               : "no: a constant is too small";
  if (row.range == RangeViolation::kOverflow) {
    if (row.range_factor > 1)
      return fmt::format("no: {:.3g} is {:.3g} x the maximum", row.local->metrics.reference_max_abs, row.range_factor);
    return "no: an operand or inner value does not fit";
  }
  if (row.range == RangeViolation::kUnderflow)
    return fmt::format("no: largest {:.2g}, {:.2g} of the energy lost", row.local->metrics.reference_max_abs,
                       row.range_factor);
  return {};
}

// The most telling row of a node.
const NodeRow* row_of(const LocateResult& result, const std::string& node) {
  const NodeRow* best = nullptr;
  for (const NodeRow& row : result.nodes) {
    if (row.name != node || !row.local) continue;
    if (best == nullptr || (row.consequential && !best->consequential)) best = &row;
  }
  return best;
}

std::string ranked_table(const LocateResult& result, const Style& style) {
  if (result.ranked.empty()) return {};
  // Beside the size of an error what it does, where that was asked for: a large one may be harmless.
  std::vector<std::string> header = {"#", "node", "op", "local NMSE", "x storage", "accumulated", "representable"};
  std::vector<bool> right = {true, false, false, true, true, true, false};
  if (result.injected_largest) {
    header.insert(header.begin() + 4, "injected");
    right.insert(right.begin() + 4, true);
  }
  Table table(std::move(header), std::move(right));
  size_t count = 0;
  for (const std::string& node : result.ranked) {
    const NodeRow* row = row_of(result, node);
    if (row == nullptr) continue;
    if (count == kDefaultRanked && !style.verbose) break;
    ++count;
    const PairMetrics& m = row->local->metrics;
    const PairMetrics* acc = row->best_accumulated();
    const std::string local = m.nonfinite.device_only > 0 ? "nan/inf" : scientific(m.nmse);
    std::vector<std::string> cells = {std::to_string(count),
                                      node,
                                      row->op,
                                      local,
                                      row->local->x_baseline ? number(*row->local->x_baseline, 3) + " x" : "-",
                                      acc == nullptr ? "-" : number(acc->cosine, 4) + " cos",
                                      range_cell(*row)};
    if (result.injected_largest)
      cells.insert(cells.begin() + 4, row->sensitivity ? scientific(*row->sensitivity) : "-");
    table.row(std::move(cells));
  }
  std::string out = bold(style, "Worst local errors") + " (each island fed with reference inputs, on the device)\n";
  out += table.render(style, "  ");
  if (result.ranked.size() > count) out += fmt::format("     ... {} more\n", result.ranked.size() - count);
  return out;
}

std::string coverage_line(const LocateResult& result) {
  size_t floats = 0, probed = 0, marked = 0, under = 0, under_free = 0;
  std::set<std::string> reasons;
  for (const NodeRow& row : result.nodes) {
    if (!is_float(row.dtype)) continue;
    ++floats;
    probed += row.local.has_value();
    if (const PairMetrics* m = row.best_accumulated()) {
      ++marked;
      under += !(m->cosine >= 0.99);
    }
    if (row.accumulated) under_free += !(row.accumulated->cosine >= 0.99);
    if (!row.not_probed.empty()) reasons.insert(row.not_probed);
  }
  std::string text = fmt::format("{} of {} float tensors under cosine 0.99", under, marked);
  if (!result.forced.empty()) text += fmt::format(" with the reference's decisions fed in ({} without)", under_free);
  text += fmt::format("; {} of {} probed one by one", probed, floats);
  if (probed < floats && !reasons.empty())
    text += fmt::format(" (not probed: {}{})", *reasons.begin(), reasons.size() > 1 ? ", ..." : "");
  return text;
}

std::string diagnosis(const LocateResult& result, const Style& style) {
  std::string out = decisions_lines(result, style);
  out += wrap(coverage_line(result), bold(style, "Tensors") + "        ", std::string(15, ' '), style.width) + "\n";
  out += graphs_block(result, style);
  out += ranked_table(result, style) + "\n";
  if (!result.first_divergence.empty())
    out += bold(style, "First divergence") + "   " + visible(result.first_divergence) +
           "; what deviates behind it inherits\n\n";
  return out;
}

std::string times(const LocateResult& result) {
  if (result.only_cuts) return fmt::format("\n{:.1f} s in all\n", result.seconds_total);
  return fmt::format("\n{:.1f} s reference, {:.1f} s device, {:.1f} s probes, {:.1f} s injection; {:.1f} s in all\n",
                     result.seconds_reference, result.seconds_device, result.seconds_probes, result.seconds_injection,
                     result.seconds_total);
}

}  // namespace

std::string terminal(const LocateResult& result, const Style& style) {
  std::string out = banner(style, result.verdict);
  const std::string pad(name(result.verdict).size() + 3, ' ');
  for (size_t i = 0; i < result.reasons.size() && i < 3; ++i)
    out += (i == 0 ? "   " : pad) + visible(result.reasons[i]) + "\n";
  out += "\n" + outputs_table(result, style) + "\n";
  if (result.consistency) out += consistency_block(*result.consistency, style) + "\n";
  out += placement_line(result, style);
  if (result.cross_matrices)
    out += "\n" + cross_matrix_blocks(*result.cross_matrices, !result.device_simulated.empty(), style);
  if (!result.only_cuts) out += diagnosis(result, style);
  if (result.probe_checks) out += probe_checks_blocks(*result.probe_checks, style);
  for (const GroupReport& report : result.groups) out += group_block(report, style);
  if (result.search) out += search_block(*result.search, style) + "\n";
  for (const Finding& finding : result.findings) out += finding_block(finding, style);
  for (const auto& pinned : result.pinned) out += dim(style, "pinned: " + pinned) + "\n";
  for (const std::string& note : result.notes) out += dim(style, "note: " + note) + "\n";
  out += times(result);
  return out;
}

}  // namespace paritas
