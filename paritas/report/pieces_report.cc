#include "paritas/report/pieces_report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "paritas/compare/result_json.h"
#include "paritas/report/finding_text.h"

namespace paritas {
namespace {

constexpr size_t kShownTables = 3;

Json optional_number(const std::optional<double>& value) { return value ? json_number(*value) : Json(nullptr); }

const char* tail_name(Tail tail) {
  switch (tail) {
    case Tail::kNone:
      return "none";
    case Tail::kConstant:
      return "constant";
    case Tail::kZero:
      return "zero";
    case Tail::kIdentity:
      return "identity";
  }
  return "none";
}

Json saturation_json(const Saturation& s) {
  return {{"from", optional_number(s.from)}, {"level", json_number(s.level)}, {"beyond", s.beyond}};
}

Json side_json(const CurveSide& side) {
  return {{"tail", tail_name(side.tail)},
          {"limit", json_number(side.limit)},
          {"reference", saturation_json(side.reference)},
          {"device", saturation_json(side.device)},
          {"stored", side.stored ? saturation_json(*side.stored) : Json(nullptr)},
          {"share_beyond", json_number(side.share_beyond)},
          {"early", side.early},
          {"early_max_abs", json_number(side.early_max_abs)}};
}

Json interval_json(const CurveInterval& i) {
  return {{"from", json_number(i.from)},
          {"to", json_number(i.to)},
          {"count", i.count},
          {"share", json_number(i.share)},
          {"compared", i.compared},
          {"max_abs", json_number(i.max_abs)},
          {"mean_abs", json_number(i.mean_abs)},
          {"max_rel", json_number(i.max_rel)},
          {"stored_max_abs", optional_number(i.stored_max_abs)},
          {"stored_max_rel", optional_number(i.stored_max_rel)},
          {"lost", i.lost},
          {"nonfinite", i.nonfinite}};
}

Json form_json(const GeluForm& form) {
  return {{"form", form.form},
          {"position", json_number(form.position)},
          {"deciding", form.deciding},
          {"max_distance", json_number(form.max_distance)}};
}

Json row_json(const PieceRow& row) {
  Json json = {{"node", row.node},
               {"op", row.op},
               {"parts", row.parts},
               {"input", row.input},
               {"output", row.output},
               {"synthetic", row.synthetic},
               {"not_probed", row.not_probed.empty() ? Json(nullptr) : Json(row.not_probed)},
               {"ran_on", row.ran_on},
               {"stride", row.stride},
               {"count", row.count},
               {"x_min", row.count > 0 ? json_number(row.x_min) : Json(nullptr)},
               {"x_max", row.count > 0 ? json_number(row.x_max) : Json(nullptr)},
               {"intervals", Json::array()},
               {"left", nullptr},
               {"right", nullptr},
               {"gelu", nullptr}};
  if (!row.not_probed.empty()) return json;
  for (const CurveInterval& interval : row.intervals) json["intervals"].push_back(interval_json(interval));
  json["left"] = side_json(row.sides[0]);
  json["right"] = side_json(row.sides[1]);
  if (row.reference_form && row.device_form)
    json["gelu"] = {{"declared", row.declared_form},
                    {"reference", form_json(*row.reference_form)},
                    {"device", form_json(*row.device_form)}};
  return json;
}

std::string ends(const CurveSide& side) {
  if (side.tail == Tail::kNone) return "-";
  const auto at = [](const Saturation& s) { return s.from ? fmt::format("{:.3g}", *s.from) : std::string("none"); };
  return at(side.device) + " / " + at(side.stored ? *side.stored : side.reference);
}

// Where the function tends to its input nothing is lost beyond the end.
double beyond(const CurveSide& side) { return side.tail == Tail::kIdentity ? 0 : side.share_beyond; }

double worst(const PieceRow& row) {
  double largest = 0;
  for (const CurveInterval& i : row.intervals)
    largest =
        std::max(largest, i.nonfinite > 0 ? INFINITY : i.max_abs / std::max(1e-300, i.stored_max_abs.value_or(1)));
  return largest;
}

std::string edge(double value) { return std::isfinite(value) ? fmt::format("{:g}", value) : value < 0 ? "..." : "..."; }

std::string interval_table(const PieceRow& row, const Style& style) {
  Table table({"input", "share", "max abs", "format's", "max rel", "format's", "to zero", "NaN/Inf"},
              {false, true, true, true, true, true, true, true});
  for (const CurveInterval& i : row.intervals)
    table.row({fmt::format("{} to {}", edge(i.from), edge(i.to)), percent(i.share),
               i.compared > 0 ? scientific(i.max_abs) : "-", i.stored_max_abs ? scientific(*i.stored_max_abs) : "-",
               i.compared > 0 ? scientific(i.max_rel) : "-", i.stored_max_rel ? scientific(*i.stored_max_rel) : "-",
               with_thousands(i.lost), with_thousands(i.nonfinite)});
  return table.render(style, "  ");
}

std::string title(const PieceRow& row) {
  std::string text = row.node + " (" + row.op;
  if (!row.parts.empty()) text += fmt::format(", {} nodes", row.parts.size());
  text += ")";
  if (row.device_form && row.reference_form)
    text += fmt::format(": declared {}; reference {}, device {}", row.declared_form, row.reference_form->form,
                        row.device_form->form);
  return text;
}

std::string rows_block(const PiecesResult& result, bool synthetic, const Style& style) {
  std::vector<const PieceRow*> rows;
  size_t not_probed = 0;
  Table table({"node", "op", "inputs", "from", "to", "left end, device / format", "right end", "beyond"},
              {false, false, true, true, true, false, false, true});
  std::string why;
  for (const PieceRow& row : result.rows) {
    if (row.synthetic != synthetic) continue;
    if (!row.not_probed.empty()) {
      if (++not_probed == 1) why = row.node + ": " + row.not_probed;
      continue;
    }
    rows.push_back(&row);
    table.row({row.node, row.op, with_thousands(row.count), fmt::format("{:.3g}", row.x_min),
               fmt::format("{:.3g}", row.x_max), ends(row.sides[0]), ends(row.sides[1]),
               percent(beyond(row.sides[0]) + beyond(row.sides[1]))});
  }
  std::string out = table.empty() ? std::string() : table.render(style);
  if (not_probed > 0) out += dim(style, fmt::format("not probed: {} ({})\n", not_probed, why));
  // Tables of those whose error is largest beside the format's.
  std::vector<const PieceRow*> largest = rows;
  std::stable_sort(largest.begin(), largest.end(),
                   [](const PieceRow* a, const PieceRow* b) { return worst(*a) > worst(*b); });
  const size_t shown = style.verbose ? largest.size() : std::min(largest.size(), kShownTables);
  for (size_t i = 0; i < shown; ++i)
    out += "\n" + bold(style, title(*largest[i])) + "\n" + interval_table(*largest[i], style);
  if (shown < largest.size())
    out += dim(style, fmt::format("... tables of {} more, with smaller errors (--verbose)\n", largest.size() - shown));
  return out;
}

}  // namespace

Json to_json(const PiecesResult& result) {
  Json json = {{"schema", "paritas.pieces/1"},
               {"model", result.model},
               {"reference", result.reference},
               {"device", result.device},
               {"storage", result.storage ? Json(name(*result.storage)) : Json(nullptr)},
               {"pieces", Json::array()},
               {"findings", Json::array()},
               {"notes", result.notes},
               {"seconds", result.seconds},
               {"provenance", {{"reference", to_json(result.reference_info)}}}};
  for (const PieceRow& row : result.rows) json["pieces"].push_back(row_json(row));
  for (const Finding& f : result.findings) json["findings"].push_back(to_json(f));
  return json;
}

std::string terminal(const PiecesResult& result, const Style& style) {
  std::string out = bold(style, fmt::format("Functions of {} on {}", result.model, result.device)) +
                    fmt::format(" (each fed with what {} feeds it)\n\n", result.reference);
  out += rows_block(result, false, style);
  if (std::any_of(result.rows.begin(), result.rows.end(), [](const PieceRow& row) { return row.synthetic; }))
    out += "\n" + bold(style, "Sweep: synthetic inputs, not the model's own distribution") + "\n\n" +
           rows_block(result, true, style);
  out += "\n";
  for (size_t i = 0; i < result.findings.size() && (i < 5 || style.verbose); ++i)
    out += finding_block(result.findings[i], style, true);
  if (result.findings.size() > 5 && !style.verbose)
    out += dim(style, fmt::format("... {} more notes (--verbose)\n", result.findings.size() - 5));
  const bool probed =
      std::any_of(result.rows.begin(), result.rows.end(), [](const PieceRow& row) { return row.not_probed.empty(); });
  if (result.findings.empty() && probed)
    out += wrap("No function saturates before its number format has to, on these inputs.", "", "", style.width);
  for (const std::string& note : result.notes) out += dim(style, "note: " + note) + "\n";
  return out;
}

}  // namespace paritas
