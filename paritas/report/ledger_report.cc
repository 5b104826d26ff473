#include "paritas/report/ledger_report.h"
#include "paritas/report/visible.h"

#include <cmath>

#include <fmt/format.h>

namespace paritas {
namespace {

constexpr size_t kShownFigures = 4;

std::string figures_text(const LedgerEntry& e, const Style& style) {
  std::string text;
  size_t shown = 0;
  for (const auto& [name, value] : e.figures) {
    if (shown++ == kShownFigures && !style.verbose) return text + ", ...";
    const bool whole = value == std::floor(value) && std::abs(value) < 1e15;  // a count, mostly
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", name, whole ? fmt::format("{:.0f}", value) : number(value, 4));
  }
  return text;
}

std::string run_lines(const LedgerEntry& e, bool repeat, const Style& style) {
  std::string text = fmt::format("    {}  {}", e.date, e.kind);
  if (!e.device.empty()) text += "  " + e.device;
  if (!e.verdict.empty()) text += "  " + e.verdict;
  if (repeat) text += "  (repeat)";
  text = visible(text) + "\n";
  const std::string indent(8, ' ');
  if (!e.outcome.empty()) text += wrap(e.outcome, indent, indent, style.width);
  if (const std::string figures = figures_text(e, style); !figures.empty())
    text += wrap(figures, indent, indent, style.width);
  if (style.verbose) {
    text += dim(style, fmt::format("{}version {}, inputs {}, result {} {}", indent, e.tool_version,
                                   e.inputs_sha256.substr(0, 12), e.result.empty() ? "not written" : e.result,
                                   e.result_sha256.substr(0, 12))) +
            "\n";
    for (const std::string& gate : e.gates) text += dim(style, indent + "gate " + gate) + "\n";
  }
  return text;
}

std::string change_block(const LedgerChange& change, const Style& style) {
  std::string head = change.change.empty() ? "as given" : change.change;
  if (!change.standing.empty()) head += ": " + change.standing;
  std::string text = wrap(bold(style, head), "  ", "    ", style.width);
  for (const LedgerExperiment& experiment : change.experiments) {
    for (size_t i = 0; i < experiment.runs.size(); ++i) text += run_lines(experiment.runs[i], i > 0, style);
    if (!experiment.contradiction.empty())
      text += wrap("contradiction: " + experiment.contradiction, "      ! ", "        ", style.width);
  }
  return text;
}

}  // namespace

std::string terminal(const LedgerView& view, const Style& style) {
  std::string out;
  bool undelivered = false;
  for (const LedgerModel& model : view.models) {
    std::string names;
    for (const std::string& name : model.names) names += (names.empty() ? "" : ", ") + name;
    out += bold(style, names) + fmt::format("   sha256 {}, {} experiment{}\n", visible(model.sha256.substr(0, 12)),
                                            model.entries, model.entries == 1 ? "" : "s");
    for (const LedgerChange& change : model.changes) {
      out += change_block(change, style);
      undelivered = undelivered || change.standing.starts_with("tried");
    }
    out += "\n";
  }
  if (view.entries == 0) out += "no experiments\n";
  if (view.others > 0)
    out += fmt::format("{} experiment{} of other models\n", view.others, view.others == 1 ? "" : "s");
  if (undelivered)
    out += wrap(
        "Tried, not delivered: no package in these ledgers holds the change. What came of it was so with these "
        "inputs, options and versions; a ledger does not show what is possible.",
        "", "", style.width);
  for (const std::string& line : view.damaged) out += "skipped: " + visible(line) + "\n";
  return out;
}

}  // namespace paritas
