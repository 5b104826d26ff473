// Three or more recordings, and a comparison with an earlier result, on the terminal.
#include <cmath>

#include <fmt/format.h>

#include "paritas/report/reports.h"

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
  if (is_float(t.reference->dtype)) return fmt::format("cosine {}, max {}", number(m.cosine, 6), number(m.max_abs));
  return fmt::format("{} differ", with_thousands(m.differing));
}

}  // namespace

std::string terminal(const ManyResult& result, const Style& style) {
  std::string out = banner(style, result.verdict);
  const CompareResult& first = result.pairs.front();
  const CompareResult* deciding = &first;  // of the pairs with the first recording, those that gates judge
  for (size_t b = 1; b < result.subjects.size(); ++b)
    if (result.pairs[b - 1].verdict < deciding->verdict) deciding = &result.pairs[b - 1];
  for (size_t i = 0; i < deciding->deciding && i < 2; ++i)
    out += (i == 0 ? "   " : std::string(name(result.verdict).size() + 3, ' ')) + deciding->device + ": " +
           deciding->reasons[i] + "\n";
  out += "\n";
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
      out +=
          dim(style, wrap(fmt::format("{} also differ in {}", pair_title(result, a, b), list), "", "  ", style.width));
    }
  return out;
}

std::string terminal(const BaselineComparison& result, const Style& style) {
  std::string out = "\n" + bold(style, "Since") + " " + result.baseline + "\n";
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
  for (const auto& [what, names] : {std::pair("no longer compared", &result.gone), std::pair("new", &result.added)})
    for (const std::string& name : *names) out += fmt::format("  {}: {}\n", what, name);
  for (const std::string& difference : result.provenance) out += dim(style, "  device run: " + difference) + "\n";
  for (const std::string& note : result.notes) out += dim(style, "  note: " + note) + "\n";
  return out;
}

Json to_json(const ManyResult& result) {
  Json json = {{"schema", "paritas.compare/1"}, {"verdict", name(result.verdict)}, {"recordings", result.subjects}};
  json["accelerated"] = Json::array();
  for (const bool accelerated : result.accelerated) json["accelerated"].push_back(accelerated);
  json["findings"] = result.findings;
  json["pairs"] = Json::array();
  for (size_t i = 0; i < result.pairs.size(); ++i) {
    Json pair = to_json(result.pairs[i]);
    pair["differences"] = result.differences[i];
    json["pairs"].push_back(std::move(pair));
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
