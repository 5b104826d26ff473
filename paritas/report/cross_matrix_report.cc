#include "paritas/report/cross_matrix_report.h"

#include <cmath>

#include <fmt/format.h>

#include "paritas/judge/metric_table.h"
#include "paritas/report/visible.h"

namespace paritas {
namespace {

using catalogue::CellOutcome;

const char* side(bool on_device) { return on_device ? "device" : "reference"; }

// The output that the table shows: one with a gate, else the first of floats.
const TensorComparison* shown_output(const MatrixCell& cell) {
  const TensorComparison* shown = nullptr;
  for (const TensorComparison& t : cell.outputs) {
    if (!t.metrics || !t.reference || !is_float(t.reference->dtype)) continue;
    if (t.gated) return &t;
    if (shown == nullptr) shown = &t;
  }
  return shown;
}

std::string outcome_text(const MatrixCell& cell, const CrossMatrix* matrix) {
  if (!cell.failure.empty()) return "not measured";
  if (cell.outcome == CellOutcome::kDrawn) return "cannot tell: random operators";
  if (!cell.front_on_device && !cell.rear_on_device && matrix != nullptr) {
    if (matrix->split == SplitStatus::kExact) return "equals the whole, bit for bit";
    if (matrix->split == SplitStatus::kOptimiser) return "equals the whole with optimisation off";
    return "is not the whole: the split is wrong";
  }
  std::string text(name(cell.outcome));
  for (const CellTask& task : cell.tasks) text += fmt::format("; {}: {}", task.name, task.text);
  return text;
}

std::string cosine_text(const PairMetrics& m) {
  return m.differing == 0 ? "1" : std::isfinite(m.cosine) ? fmt::format("{:.6f}", m.cosine) : number(m.cosine);
}

void add_row(Table& table, const std::string& front, const std::string& rear, const MatrixCell& cell,
             const std::string& outcome) {
  const TensorComparison* t = shown_output(cell);
  table.row({front, rear, t == nullptr ? "-" : number(t->metrics->device_max),
             t == nullptr ? "-" : cosine_text(*t->metrics), outcome});
}

std::string cut_line(const CrossMatrix& matrix, const Style& style) {
  uint64_t bytes = 0;
  for (const CutTensorRow& row : matrix.tensors) bytes += row.bytes;
  return bold(style, "Cut") + fmt::format(" \"{}\"   {} tensor{}, {} bytes; {} node{} in front, {} behind\n",
                                          visible(matrix.name), matrix.tensors.size(),
                                          matrix.tensors.size() == 1 ? "" : "s", with_thousands(bytes),
                                          with_thousands(matrix.front_nodes), matrix.front_nodes == 1 ? "" : "s",
                                          with_thousands(matrix.rear_nodes));
}

std::string front_error_line(const CrossMatrix& matrix) {
  const CutTensorRow* worst = nullptr;
  size_t measured = 0;
  for (const CutTensorRow& row : matrix.tensors) {
    if (!row.metrics || !is_float(row.dtype)) continue;
    ++measured;
    if (worst == nullptr || !(row.metrics->cosine >= worst->metrics->cosine)) worst = &row;
  }
  if (worst == nullptr) return {};
  return fmt::format("  device's front half: lowest cosine {} of {} tensor{} of the cut, at {}\n",
                     cosine_text(*worst->metrics), measured, measured == 1 ? "" : "s", visible(worst->name));
}

std::string share(const PlacementCounts& counts) {
  return counts.total() == 0 ? std::string("not known")
                             : fmt::format("{} of {} nodes", counts.on(counts.requested), counts.total());
}

std::string block(const CrossMatrix& matrix, const CrossMatrices& all, bool simulated, const Style& style) {
  std::string out = cut_line(matrix, style);
  if (style.verbose)
    for (const CutTensorRow& row : matrix.tensors)
      out += fmt::format("  at {} {}\n", visible(row.name), to_string(row.shape));
  std::string output;
  for (const MatrixCell& cell : matrix.cells)
    if (const TensorComparison* t = shown_output(cell); t != nullptr && output.empty()) output = t->name;
  Table table({"front", "rear", output.empty() ? "max" : output + " max", "cosine", "outcome"},
              {false, false, true, true, false});
  for (const MatrixCell& cell : matrix.cells)
    add_row(table, side(cell.front_on_device), side(cell.rear_on_device), cell, outcome_text(cell, &matrix));
  if (matrix.cells.size() > 1) add_row(table, "device, uncut", "", all.whole, outcome_text(all.whole, nullptr));
  out += table.render(style, "  ");
  out += front_error_line(matrix);
  if (!simulated && matrix.front_placement.total() + matrix.rear_placement.total() > 0)
    out += fmt::format(
        "  on {}: front {}, rear {}\n",
        matrix.rear_placement.requested.empty() ? matrix.front_placement.requested : matrix.rear_placement.requested,
        share(matrix.front_placement), share(matrix.rear_placement));
  for (const MatrixCell& cell : matrix.cells) {
    if (!cell.failure.empty())
      out += wrap(fmt::format("{}/{} was not measured: {}", side(cell.front_on_device), side(cell.rear_on_device),
                              cell.failure),
                  "  ", "    ", style.width);
    if (!style.verbose) continue;
    const std::string name = fmt::format("  {}/{} shows ", side(cell.front_on_device), side(cell.rear_on_device));
    out += wrap(cell.shows, name, "    ", style.width);
    out += wrap("does not show " + cell.does_not_show, "    ", "    ", style.width);
  }
  for (const std::string& note : matrix.notes) out += dim(style, "  note: " + note) + "\n";
  return out + "\n";
}

Json cell_json(const MatrixCell& cell) {
  Json json = {{"front", side(cell.front_on_device)}, {"rear", side(cell.rear_on_device)}};
  json["outcome"] = name(cell.outcome);
  json["verdict"] = name(cell.verdict);
  json["deciding"] = cell.deciding.empty() ? Json(nullptr) : Json(cell.deciding);
  json["failure"] = cell.failure.empty() ? Json(nullptr) : Json(cell.failure);
  json["outputs"] = Json::array();
  for (const TensorComparison& t : cell.outputs) {
    Json output = to_json(t);
    if (t.metrics && !t.metrics->names) {
      output["reference"]["max"] = json_number(t.metrics->reference_max);
      output["device"]["max"] = json_number(t.metrics->device_max);
    }
    json["outputs"].push_back(std::move(output));
  }
  json["tasks"] = Json::array();
  for (const CellTask& task : cell.tasks)
    json["tasks"].push_back({{"name", task.name}, {"verdict", name(task.verdict)}, {"text", task.text}});
  json["shows"] = cell.shows;
  json["does_not_show"] = cell.does_not_show;
  return json;
}

Json tensor_json(const CutTensorRow& row) {
  return {{"name", row.name},   {"dtype", name(row.dtype)},
          {"shape", row.shape}, {"bytes", row.bytes},
          {"read", row.read},   {"metrics", row.metrics ? to_json(*row.metrics) : Json(nullptr)}};
}

Json matrix_json(const CrossMatrix& matrix) {
  Json json = {{"name", matrix.name}, {"verdict", name(matrix.verdict)}, {"reasons", matrix.reasons}};
  json["tensors"] = Json::array();
  for (const CutTensorRow& row : matrix.tensors) json["tensors"].push_back(tensor_json(row));
  json["front"] = {{"inputs", matrix.front_inputs},
                   {"outputs", matrix.front_outputs},
                   {"nodes", matrix.front_nodes},
                   {"placement", to_json(matrix.front_placement)}};
  json["rear"] = {{"inputs", matrix.rear_inputs},
                  {"outputs", matrix.rear_outputs},
                  {"nodes", matrix.rear_nodes},
                  {"placement", to_json(matrix.rear_placement)}};
  json["constants"] = matrix.constants;
  json["split"] = name(matrix.split);
  json["noise"] = Json::array();
  for (const auto& [output, metrics] : matrix.noise)
    json["noise"].push_back({{"output", output}, {"metrics", to_json(metrics)}});
  json["first_difference"] = matrix.first_difference.empty() ? Json(nullptr) : Json(matrix.first_difference);
  json["cells"] = Json::array();
  for (const MatrixCell& cell : matrix.cells) json["cells"].push_back(cell_json(cell));
  json["notes"] = matrix.notes;
  return json;
}

}  // namespace

std::string cross_matrix_blocks(const CrossMatrices& matrices, bool simulated, const Style& style) {
  std::string out;
  for (const CrossMatrix& matrix : matrices.cuts) out += block(matrix, matrices, simulated, style);
  for (const std::string& note : matrices.notes) out += dim(style, "note: " + note) + "\n";
  return out;
}

Json cross_matrix_json(const CrossMatrices& matrices) {
  Json json = Json::array();
  for (const CrossMatrix& matrix : matrices.cuts) json.push_back(matrix_json(matrix));
  return json;
}

Json uncut_json(const CrossMatrices& matrices) {
  Json json = cell_json(matrices.whole);
  json["placement"] = to_json(matrices.whole_placement);
  json["sessions"] = matrices.sessions;
  json["seconds"] = json_number(matrices.seconds);
  json["notes"] = matrices.notes;
  return json;
}

}  // namespace paritas
