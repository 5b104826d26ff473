#include "paritas/report/range_report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "paritas/compare/result_json.h"
#include "paritas/report/finding_text.h"

namespace paritas {
namespace {

constexpr size_t kShownRows = 12;

Json optional_number(const std::optional<double>& value) { return value ? json_number(*value) : Json(nullptr); }

Json row_json(const RangeRow& row) {
  return {{"node", row.node},
          {"op", row.op},
          {"tensor", row.tensor},
          {"dtype", name(row.dtype)},
          {"shape", row.shape},
          {"elements", row.elements},
          {"nonfinite", row.nonfinite},
          {"max_abs", json_number(row.max_abs)},
          {"max_sample", row.max_sample},
          {"factor", json_number(row.factor)},
          {"headroom_bits", optional_number(row.headroom_bits)},
          {"overflowed", row.overflowed},
          {"subnormal", row.subnormal},
          {"flushed", row.flushed},
          {"lost_energy", json_number(row.lost_energy)},
          {"lost_sample", row.lost_sample},
          {"violates", row.violates}};
}

Json hidden_json(const HiddenRow& row) {
  const HiddenFigures& h = row.figures;
  return {{"node", row.node},
          {"op", row.op},
          {"tensor", row.tensor},
          {"what", h.what},
          {"values", h.values},
          {"max_abs", json_number(h.max_abs)},
          {"factor", json_number(row.factor)},
          {"overflowed", h.overflowed},
          {"subnormal", h.subnormal},
          {"flushed", h.flushed},
          {"result_loss", json_number(h.result_loss)},
          {"result_nonfinite", h.result_nonfinite},
          {"violates", row.violates}};
}

Json constant_json(const ConstantRow& row) {
  return {{"constant", row.constant},
          {"nodes", row.nodes},
          {"elements", row.elements},
          {"nonfinite", row.nonfinite},
          {"max_abs", json_number(row.max_abs)},
          {"overflowed", row.overflowed},
          {"subnormal", row.subnormal},
          {"flushed", row.flushed},
          {"lost_energy", json_number(row.lost_energy)}};
}

// What is shown of tensors and hidden values alike.
struct Line {
  std::string what, max_abs, headroom, overflowed, lost;
  double factor = 0, loss = 0;
};

std::string bits(double factor) { return factor > 0 ? fmt::format("{:.1f}", -std::log2(factor)) : "-"; }

std::vector<Line> lines_of(const PreflightResult& result) {
  std::vector<Line> lines;
  for (const RangeRow& row : result.tensors)
    lines.push_back({row.node.empty() ? fmt::format("input {}", row.tensor) : row.node, number(row.max_abs),
                     row.headroom_bits ? bits(row.factor) : "-", with_thousands(row.overflowed),
                     scientific(row.lost_energy), row.factor, row.lost_energy});
  for (const HiddenRow& row : result.hidden)
    lines.push_back({fmt::format("{}: {} inside", row.node, row.figures.what), number(row.figures.max_abs),
                     bits(row.factor), with_thousands(row.figures.overflowed), scientific(row.figures.result_loss),
                     row.factor, row.figures.result_loss});
  // The least headroom first; int8 has none, there the largest loss.
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) {
    return a.factor != b.factor ? a.factor > b.factor : a.loss > b.loss;
  });
  return lines;
}

bool has_masks(const PreflightResult& result) {
  return std::any_of(result.findings.begin(), result.findings.end(),
                     [](const Finding& f) { return f.id == "preflight-masks"; });
}

}  // namespace

Json to_json(const PreflightResult& result) {
  Json json = {{"schema", "paritas.range/1"},
               {"model", result.model},
               {"reference", result.reference},
               {"format", name(result.format)},
               {"limit", optional_number(result.limit)},
               {"min_normal", optional_number(result.min_normal)},
               {"samples", result.samples},
               {"pinned", result.pinned},
               {"tensors", Json::array()},
               {"hidden", Json::array()},
               {"constants", Json::array()},
               {"softmax", Json::array()},
               {"findings", Json::array()},
               {"notes", result.notes},
               {"seconds", result.seconds},
               {"provenance", {{"reference", to_json(result.reference_info)}}}};
  for (const RangeRow& row : result.tensors) json["tensors"].push_back(row_json(row));
  for (const HiddenRow& row : result.hidden) json["hidden"].push_back(hidden_json(row));
  for (const ConstantRow& row : result.constants) json["constants"].push_back(constant_json(row));
  for (const SoftmaxRow& row : result.softmax)
    json["softmax"].push_back({{"node", row.node},
                               {"op", row.op},
                               {"operand", row.operand},
                               {"tensor", row.tensor},
                               {"weighted_max_abs", json_number(row.loss.weighted_max_abs)},
                               {"result_loss", json_number(row.loss.result_loss)},
                               {"result_nonfinite", row.loss.result_nonfinite}});
  for (const Finding& f : result.findings) json["findings"].push_back(to_json(f));
  return json;
}

std::string terminal(const PreflightResult& result, const Style& style) {
  std::string out = bold(style, fmt::format("Range of {} in {}", result.model, name(result.format)));
  out += fmt::format(" ({}, {} sample{}; no device ran)\n", result.reference, result.samples,
                     result.samples == 1 ? "" : "s");
  if (result.limit)
    out += fmt::format("largest value {:g}, smallest normal value {:.3g}\n", *result.limit, *result.min_normal);
  out += "\n";
  const auto lines = lines_of(result);
  Table table({"node", "largest", "headroom, bits", "do not fit", "energy lost"}, {false, true, true, true, true});
  const size_t shown = style.verbose ? lines.size() : std::min(lines.size(), kShownRows);
  for (size_t i = 0; i < shown; ++i)
    table.row({lines[i].what, lines[i].max_abs, lines[i].headroom, lines[i].overflowed, lines[i].lost});
  out += table.render(style);
  if (shown < lines.size())
    out += dim(style, fmt::format("... {} more, with more headroom (--verbose)\n", lines.size() - shown));
  out += "\n";
  if (std::none_of(result.findings.begin(), result.findings.end(),
                   [](const Finding& f) { return f.severity == Severity::kFault; }))
    out += wrap(
        fmt::format("No finding: on these inputs nothing{} overflows {} and no tensor loses more than 0.1 % of its "
                    "energy. Other inputs may; how a device rounds and sums is not shown.",
                    has_masks(result) ? " but harmless masks" : "", name(result.format)),
        "", "", style.width);
  for (const Finding& finding : result.findings) out += finding_block(finding, style);
  for (const std::string& note : result.notes) out += dim(style, "note: " + note) + "\n";
  return out;
}

}  // namespace paritas
