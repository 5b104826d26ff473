#include "paritas/report/samples_report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "paritas/report/finding_text.h"
#include "paritas/report/search_report.h"
#include "paritas/report/visible.h"

namespace paritas {
namespace {

constexpr size_t kShownSamples = 10;
constexpr size_t kShownNodes = 8;

Json json_of(const std::optional<FigureOverSamples>& f) {
  if (!f) return nullptr;
  return {{"samples", f->samples},
          {"median", json_number(f->median)},
          {"median_of", f->median_of},
          {"worst", json_number(f->worst)},
          {"worst_sample", f->worst_sample}};
}

Json json_of(const std::optional<FiguresOverSamples>& f) {
  if (!f) return nullptr;
  return {{"nmse", json_of(std::optional(f->nmse))},
          {"cosine", json_of(std::optional(f->cosine))},
          {"max_abs", json_of(std::optional(f->max_abs))},
          {"nonfinite_samples", f->nonfinite_samples},
          {"nonfinite_sample", f->nonfinite_sample.empty() ? Json(nullptr) : Json(f->nonfinite_sample)}};
}

Json json_of(const OutputOverSamples& o) {
  return {
      {"name", o.name},
      {"verdict", name(o.verdict)},
      {"rule", o.rule},
      {"worst_sample", o.worst_sample},
      {"samples", {{"invalid", o.invalid}, {"deviates", o.deviates}, {"not_judged", o.not_judged}, {"pass", o.passed}}},
      {"metrics", json_of(o.figures)}};
}

Json json_of(const NodeOverSamples& n) {
  return {{"name", n.name},
          {"op", n.op},
          {"tensor", n.tensor},
          {"samples", n.samples},
          {"accumulated", json_of(n.accumulated)},
          {"accumulated_forced", json_of(n.accumulated_forced)},
          {"local", json_of(n.local)},
          {"x_baseline", json_of(n.x_baseline)},
          {"sensitivity", json_of(n.sensitivity)},
          {"overflow_samples", n.overflow},
          {"underflow_samples", n.underflow},
          {"consequential_samples", n.consequential}};
}

Json json_of(const SampleOutcome& s) {
  if (!s.failure.empty()) return {{"id", s.id}, {"verdict", name(Verdict::kInvalid)}, {"failure", s.failure}};
  auto or_null = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  return {{"id", s.id},
          {"verdict", name(s.verdict)},
          {"reason", s.reason},
          {"first_divergence", or_null(s.first_divergence)},
          {"first_divergence_tensor", or_null(s.first_divergence_tensor)},
          {"nmse", json_number(s.nmse)},
          {"decisions_changed", s.decisions_changed},
          {"nodes_on_device", s.on_device},
          {"nodes_placed", s.placed}};
}

Json json_of(const DecisionOverSamples& d) {
  return {{"node", d.node},
          {"op", d.op},
          {"tensor", d.tensor},
          {"count", d.count},
          {"changed_samples", d.changed},
          {"worst_moved", d.worst},
          {"worst_sample", d.worst_sample.empty() ? Json(nullptr) : Json(d.worst_sample)}};
}

Json json_of(const FindingOverSamples& f) {
  Json json = to_json(f.finding);
  json["holds"] = f.holds;
  json["samples"] = f.samples;
  json["told_from"] = f.told_from;
  json["in_worst"] = f.in_worst;
  json["in_median"] = f.in_median;
  return json;
}

const char* side(bool on_device) { return on_device ? "device" : "reference"; }

Json json_of(const CellOverSamples& c) {
  Json json = {{"front", side(c.front_on_device)},
               {"rear", side(c.rear_on_device)},
               {"samples",
                {{"holds", c.holds},
                 {"deviates", c.deviates},
                 {"not_judged", c.not_judged},
                 {"not_measured", c.failed},
                 {"cannot_tell", c.drawn}}},
               {"worst_sample", c.worst_sample},
               {"text", c.text},
               {"outputs", Json::array()}};
  for (const OutputOverSamples& output : c.outputs) json["outputs"].push_back(json_of(output));
  return json;
}

Json json_of(const CutOverSamples& c) {
  Json json = {{"name", c.name},          {"tensors", c.tensors},       {"samples", c.samples},
               {"split", Json::object()}, {"verdict", name(c.verdict)}, {"cells", Json::array()}};
  for (const auto& [split, samples] : c.splits) json["split"][std::string(name(split))] = samples;
  for (const CellOverSamples& cell : c.cells) json["cells"].push_back(json_of(cell));
  return json;
}

std::string outcome_text(const CellOverSamples& c) {
  std::string text;
  const auto add = [&](uint64_t samples, const char* word) {
    if (samples > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", word, samples);
  };
  add(c.holds, "holds");
  add(c.deviates, "deviates");
  add(c.not_judged, "not judged");
  add(c.failed, "not measured");
  add(c.drawn, "cannot tell");
  return text;
}

std::string cut_block(const CutOverSamples& cut, const Style& style) {
  std::string out =
      bold(style, "Cut") +
      fmt::format(" \"{}\"   {} tensor{}; halves against the whole, on the reference: ", visible(cut.name),
                  cut.tensors.size(), cut.tensors.size() == 1 ? "" : "s");
  for (size_t i = 0; i < cut.splits.size(); ++i)
    out += fmt::format("{}{} on {} of {}", i == 0 ? "" : ", ", name(cut.splits[i].first), cut.splits[i].second,
                       cut.samples);
  out += "\n";
  Table table({"front", "rear", "output", "median cosine", "worst cosine", "in sample", "outcome on samples"},
              {false, false, false, true, true, false, false});
  for (const CellOverSamples& cell : cut.cells) {
    std::string outcome = outcome_text(cell);
    for (const OutputOverSamples& o : cell.outputs) {
      if (!o.figures) continue;
      table.row({side(cell.front_on_device), side(cell.rear_on_device), o.name, number(o.figures->cosine.median, 4),
                 number(o.figures->cosine.worst, 4), o.figures->cosine.worst_sample, outcome});
      outcome.clear();  // once a cell
    }
    if (!outcome.empty())
      table.row({side(cell.front_on_device), side(cell.rear_on_device), "-", "-", "-", cell.worst_sample, outcome});
  }
  out += table.render(style, "  ");
  for (const CellOverSamples& cell : cut.cells)
    if (cell.failed > 0)
      out += wrap(fmt::format("{}/{} was not measured on {} of {} samples ({}): {}", side(cell.front_on_device),
                              side(cell.rear_on_device), cell.failed, cut.samples, cell.worst_sample, cell.text),
                  "  ", "    ", style.width);
  return out + "\n";
}

std::string outputs_table(const SamplesResult& result, const Style& style) {
  Table table({"output", "deviates", "median cosine", "worst cosine", "in sample", "worst max abs"},
              {false, true, true, true, false, true});
  for (const OutputOverSamples& o : result.outputs) {
    std::string deviates = fmt::format("{} of {}", o.deviates, result.diagnosed);
    if (o.invalid > 0) deviates += fmt::format(", {} invalid", o.invalid);
    if (o.figures)
      table.row({o.name, deviates, number(o.figures->cosine.median, 4), number(o.figures->cosine.worst, 4),
                 o.figures->cosine.worst_sample,
                 o.figures->nonfinite_samples > 0 ? "nan/inf" : number(o.figures->max_abs.worst, 3)});
    else
      table.row({o.name, deviates, "-", "-", o.worst_sample, "-"});
  }
  return table.render(style);
}

std::string samples_table(const SamplesResult& result, const Style& style) {
  Table table({"sample", "verdict", "output NMSE", "decisions", "first divergence"}, {false, false, true, true, false});
  size_t shown = 0;
  for (const SampleOutcome& s : result.samples) {
    if (shown == kShownSamples && !style.verbose) break;
    ++shown;
    if (!s.failure.empty())
      table.row({s.id, "failed", "-", "-", s.failure});
    else
      table.row({s.id, std::string(name(s.verdict)), scientific(s.nmse), std::to_string(s.decisions_changed),
                 s.first_divergence.empty() ? "-" : s.first_divergence});
  }
  std::string out = table.render(style);
  if (shown < result.samples.size()) out += fmt::format("... and {} more\n", result.samples.size() - shown);
  return out;
}

std::string ranked_table(const SamplesResult& result, const Style& style) {
  Table table({"#", "node", "op", "matters on", "local NMSE", "worst", "in sample", "x storage"},
              {true, false, false, true, true, true, false, true});
  size_t shown = 0;
  for (const std::string& node : result.ranked) {
    if (shown == kShownNodes && !style.verbose) break;
    const auto row = std::find_if(result.nodes.begin(), result.nodes.end(),
                                  [&](const NodeOverSamples& n) { return n.name == node && n.local; });
    if (row == result.nodes.end()) continue;
    // NMSE is of finite pairs: what the device alone makes infinite says more.
    const uint64_t nonfinite = row->local->nonfinite_samples;
    const bool in_median = 2 * nonfinite > row->local->nmse.samples;
    table.row({std::to_string(++shown), node, row->op, fmt::format("{} of {}", row->consequential, row->samples),
               in_median ? "nan/inf" : scientific(row->local->nmse.median),
               nonfinite > 0 ? "nan/inf" : scientific(row->local->nmse.worst),
               nonfinite > 0 ? row->local->nonfinite_sample : row->local->nmse.worst_sample,
               row->x_baseline ? number(row->x_baseline->worst, 3) + " x" : "-"});
  }
  if (table.empty()) return {};
  std::string out =
      bold(style, "Worst local errors") + " (median and worst over the samples)\n" + table.render(style, "  ");
  if (result.ranked.size() > shown) out += fmt::format("     ... {} more\n", result.ranked.size() - shown);
  return out;
}

std::string placement_line(const SamplesResult& result, const Style& style) {
  const SampleOutcome *least = nullptr, *most = nullptr;
  auto share = [](const SampleOutcome& s) { return static_cast<double>(s.on_device) / static_cast<double>(s.placed); };
  for (const SampleOutcome& s : result.samples) {
    if (!s.failure.empty() || s.placed == 0) continue;
    if (least == nullptr || share(s) < share(*least)) least = &s;
    if (most == nullptr || share(s) > share(*most)) most = &s;
  }
  if (least == nullptr) return bold(style, "Where it ran") + "   not known: the runtime does not tell\n";
  std::string text = fmt::format("   {} of {} nodes on the requested provider", least->on_device, least->placed);
  if (share(*least) != share(*most))
    text += fmt::format(" in {}, {} of {} in {}", least->id, most->on_device, most->placed, most->id);
  else
    text += result.diagnosed == 1 ? "" : " in every sample";
  return bold(style, "Where it ran") + text + "\n";
}

}  // namespace

Json to_json(const SamplesResult& result) {
  Json json = {{"schema", "paritas.locate-samples/1"},
               {"verdict", name(result.verdict)},
               {"reasons", result.reasons},
               {"model", result.model},
               {"reference", result.reference},
               {"device", result.device},
               {"gates", result.gate_texts},
               {"gates_sha256", result.gates_sha256},
               {"inputs_sha256", result.inputs_sha256},
               {"pinned", result.pinned},
               {"asked", result.asked},
               {"diagnosed", result.diagnosed},
               {"worst_sample", result.worst_sample},
               {"median_sample", result.median_sample}};
  auto fill = [&json](const char* key, const auto& items) {
    Json array = Json::array();
    for (const auto& item : items) array.push_back(json_of(item));
    json[key] = std::move(array);
  };
  fill("samples", result.samples);
  fill("outputs", result.outputs);
  fill("nodes", result.nodes);
  json["ranked"] = result.ranked;
  fill("decisions", result.decisions);
  fill("cuts", result.cuts);
  fill("findings", result.findings);
  if (result.search) json["search"] = to_json(*result.search);
  json["notes"] = result.notes;
  json["provenance"] = result.provenance;
  json["run"] = {{"samples_run", result.run_now},
                 {"samples_taken_over", result.taken_over},
                 {"device_sessions", result.device_sessions},
                 {"reference_sessions", result.reference_sessions},
                 {"seconds", result.seconds_total}};
  return json;
}

std::string terminal(const SamplesResult& result, const Style& style) {
  std::string out = banner(style, result.verdict);
  const std::string pad(name(result.verdict).size() + 3, ' ');
  for (size_t i = 0; i < result.reasons.size() && i < 3; ++i)
    out += (i == 0 ? "   " : pad) + visible(result.reasons[i]) + "\n";
  out += "\n" + outputs_table(result, style) + "\n";
  out += samples_table(result, style);
  out += fmt::format("worst: {}, median: {} (by output NMSE)\n\n", visible(result.worst_sample),
                     visible(result.median_sample));
  out += placement_line(result, style);
  for (const DecisionOverSamples& d : result.decisions)
    if (d.changed > 0)
      out += fmt::format("{}: changed on {} of {} samples, at most {} of {} ({})\n", visible(d.node), d.changed,
                         result.diagnosed, d.worst, d.count, d.worst_sample);
  out += ranked_table(result, style) + "\n";
  for (const CutOverSamples& cut : result.cuts) out += cut_block(cut, style);
  if (result.search) out += search_block(*result.search, style) + "\n";
  size_t notes = 0;
  for (const FindingOverSamples& f : result.findings) {
    // A note on a few samples is in the JSON; the terminal has those of the worst.
    if (f.finding.severity == Severity::kNote && !f.in_worst && !style.verbose) {
      ++notes;
      continue;
    }
    out += finding_block(f.finding, style);
  }
  if (notes > 0)
    out += dim(style, fmt::format("{} note{} that {} not hold on the worst sample: --verbose", notes,
                                  notes == 1 ? "" : "s", notes == 1 ? "does" : "do")) +
           "\n";
  for (const auto& pinned : result.pinned) out += dim(style, "pinned: " + pinned) + "\n";
  for (const std::string& note : result.notes) out += dim(style, "note: " + note) + "\n";
  out += fmt::format("\n{} of {} samples diagnosed ({} run now, {} taken over), {} device sessions; {:.1f} s in all\n",
                     result.diagnosed, result.asked, result.run_now, result.taken_over, result.device_sessions,
                     result.seconds_total);
  return out;
}

}  // namespace paritas
