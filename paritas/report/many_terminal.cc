// Three or more recordings, and a comparison with an earlier result, on the terminal.
#include <cmath>

#include <fmt/format.h>

#include "paritas/report/reports.h"
#include "paritas/report/visible.h"

namespace paritas {
namespace {

std::string pair_title(const ManyResult& result, size_t a, size_t b) {
  return result.subjects[a] + " / " + result.subjects[b];
}

std::string pair_cell(const TensorComparison& t) {
  if (!t.compared()) return std::string(name(t.status));
  const PairMetrics& m = *t.metrics;
  if (m.differing == 0) return "equal";
  if (m.codes)
    return fmt::format("{} differ, step {} max, {} mean", with_thousands(m.differing), m.codes->max_step,
                       number(m.codes->mean_step, 3));
  if (is_float(t.reference->dtype))
    return fmt::format("cosine {}, max {}",
                       std::isfinite(m.cosine) ? fmt::format("{:.6f}", m.cosine) : number(m.cosine), number(m.max_abs));
  return fmt::format("{} differ", with_thousands(m.differing));
}

// Of each pair with the first recording: these are what gates judge.
std::string reasons_text(const ManyResult& result, const Style& style) {
  const std::string pad(name(result.verdict).size() + 3, ' ');
  std::string out;
  for (size_t b = 1; b < result.subjects.size(); ++b) {
    const CompareResult& pair = result.pairs[b - 1];
    const size_t shown = style.verbose ? pair.deciding : std::min<size_t>(pair.deciding, 2);
    for (size_t i = 0; i < shown; ++i)
      out += fmt::format("{}{}: {}{}\n", out.empty() ? "   " : pad, visible(pair.device),
                         pair.verdict == result.verdict ? "" : fmt::format("{}: ", name(pair.verdict)),
                         visible(pair.reasons[i]));
    if (pair.deciding > shown)
      out += fmt::format("{}{}: ... and {} more (--verbose shows all)\n", pad, visible(pair.device),
                         pair.deciding - shown);
  }
  return out;
}

}  // namespace

std::string terminal(const ManyResult& result, const Style& style) {
  std::string out = banner(style, result.verdict) + reasons_text(result, style) + "\n";
  const CompareResult& first = result.pairs.front();
  const size_t n = result.subjects.size();
  std::vector<std::string> header = {"output"};
  for (size_t a = 0; a < n; ++a)
    for (size_t b = a + 1; b < n; ++b) header.push_back(pair_title(result, a, b));
  Table table(header, std::vector<bool>(header.size(), false));
  for (const TensorComparison& t : first.tensors) {
    if (t.role != Role::kOutput && !style.verbose) continue;
    std::vector<std::string> cells = {first.samples > 1 ? fmt::format("{} ({})", t.name, t.sample) : t.name};
    for (const CompareResult& pair : result.pairs) {
      const TensorComparison* found = nullptr;
      for (const TensorComparison& other : pair.tensors)
        if (other.name == t.name && other.sample == t.sample) found = &other;
      cells.push_back(found == nullptr ? "-" : pair_cell(*found));
    }
    table.row(std::move(cells));
  }
  if (!table.empty()) out += table.render(style) + "\n";
  for (const std::string& finding : result.findings) out += wrap(finding, "", "  ", style.width);
  size_t k = 0;
  for (size_t a = 0; a < n; ++a)
    for (size_t b = a + 1; b < n; ++b, ++k) {
      if (result.differences[k].empty()) continue;
      std::string list;
      for (const std::string& d : result.differences[k]) list += (list.empty() ? "" : "; ") + d;
      out += wrap(fmt::format("{} also differ in {}", pair_title(result, a, b), list), "", "  ", style.width);
    }
  return out;
}

std::string terminal(const BaselineComparison& result, const Style& style) {
  std::string out = "\n" + bold(style, "Since") + " " + visible(result.baseline) + "\n";
  size_t worse = 0;
  for (const Regression& r : result.changes) worse += r.worse;
  out += fmt::format("  {} figures became worse, {} better\n", worse, result.changes.size() - worse);
  Table table({"tensor", "sample", "metric", "before", "now", ""}, {false, false, false, true, true, false});
  size_t shown = 0;
  for (const Regression& r : result.changes) {
    if (!style.verbose && ++shown > 12) break;
    table.row({r.tensor, r.sample, r.metric, number(r.before, 6), number(r.after, 6), r.worse ? "worse" : "better"});
  }
  if (!table.empty()) out += table.render(style, "  ");
  if (table.rows() < result.changes.size())
    out += fmt::format("  ... and {} more (--verbose shows all)\n", result.changes.size() - table.rows());
  for (const auto& [what, names] : {std::pair("no longer compared", &result.gone), std::pair("new", &result.added)})
    for (const std::string& name : *names) out += fmt::format("  {}: {}\n", what, visible(name));
  for (const std::string& difference : result.provenance) out += dim(style, "  device run: " + difference) + "\n";
  for (const std::string& note : result.notes) out += dim(style, "  note: " + note) + "\n";
  return out;
}

Json to_json(const ManyResult& result) {
  Json json = {
      {"schema", "paritas.compare-many/1"}, {"verdict", name(result.verdict)}, {"recordings", result.subjects}};
  json["accelerated"] = Json::array();
  for (const bool accelerated : result.accelerated) json["accelerated"].push_back(accelerated);
  json["findings"] = result.findings;
  json["pairs"] = Json::array();
  for (size_t i = 0; i < result.pairs.size(); ++i) {
    json["pairs"].push_back({{"result", to_json(result.pairs[i])}, {"differences", result.differences[i]}});
  }
  return json;
}

Json to_json(const BaselineComparison& result) {
  Json json = {{"baseline", result.baseline},
               {"gone", result.gone},
               {"added", result.added},
               {"provenance", result.provenance},
               {"notes", result.notes}};
  json["changes"] = Json::array();
  for (const Regression& r : result.changes)
    json["changes"].push_back({{"tensor", r.tensor},
                               {"sample", r.sample},
                               {"metric", r.metric},
                               {"before", json_number(r.before)},
                               {"after", json_number(r.after)},
                               {"worse", r.worse}});
  return json;
}

}  // namespace paritas
