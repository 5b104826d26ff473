#include "paritas/ledger/entries.h"

#include <fmt/format.h>

namespace paritas {
namespace {

// Names in one entry; the rest is in the result that it points to.
constexpr size_t kMostNames = 8;

std::string list(const std::vector<std::string>& names, const char* between = ", ") {
  std::string text;
  for (size_t i = 0; i < names.size() && i < kMostNames; ++i) text += (i == 0 ? "" : between) + names[i];
  if (names.size() > kMostNames) text += fmt::format(" and {} more", names.size() - kMostNames);
  return text;
}

// All of them: what a change is may not be cut short, else two changes would look the same.
std::string all(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

void take_outputs(const std::vector<OutputRow>& outputs, LedgerEntry& entry) {
  for (const OutputRow& row : outputs) {
    if (!row.pair.metrics) continue;
    if (row.class_ids())
      entry.figures[row.pair.name + " differing"] = static_cast<double>(row.pair.metrics->differing);
    else
      entry.figures[row.pair.name + " cosine"] = row.pair.metrics->cosine;
  }
}

std::string faults(const std::vector<Finding>& findings) {
  std::vector<std::string> ids;
  for (const Finding& f : findings)
    if (f.severity == Severity::kFault) ids.push_back(f.id + (f.nodes.empty() ? "" : " at " + f.nodes.front()));
  return ids.empty() ? "no fault found" : list(ids, "; ");
}

LedgerEntry cut_entry(LedgerEntry entry, const CrossMatrix& matrix) {
  entry.kind = "cut";
  std::vector<std::string> tensors;
  for (const CutTensorRow& row : matrix.tensors) tensors.push_back(row.name);
  entry.change = "cut at " + all(tensors);
  entry.verdict = name(matrix.verdict);
  entry.outcome = fmt::format("split: {}", name(matrix.split));
  entry.figures.clear();
  for (const MatrixCell& cell : matrix.cells) {
    const std::string where = fmt::format("{}/{}", cell.front_on_device ? "device" : "reference",
                                          cell.rear_on_device ? "device" : "reference");
    if (!cell.failure.empty()) entry.outcome += fmt::format("; {} not measured", where);
    for (const TensorComparison& output : cell.outputs)
      if (output.metrics) entry.figures[fmt::format("{} {} cosine", where, output.name)] = output.metrics->cosine;
  }
  return entry;
}

LedgerEntry cut_entry(LedgerEntry entry, const CutOverSamples& cut) {
  entry.kind = "cut";
  entry.change = "cut at " + all(cut.tensors);
  entry.verdict = name(cut.verdict);
  entry.outcome.clear();
  for (const auto& [split, samples] : cut.splits)
    entry.outcome += fmt::format("{}split: {} on {} of {} samples", entry.outcome.empty() ? "" : "; ", name(split),
                                 samples, cut.samples);
  entry.figures = {{"samples", static_cast<double>(cut.samples)}};
  for (const CellOverSamples& cell : cut.cells) {
    const std::string where = fmt::format("{}/{}", cell.front_on_device ? "device" : "reference",
                                          cell.rear_on_device ? "device" : "reference");
    if (cell.failed > 0) entry.outcome += fmt::format("; {} not measured on {} samples", where, cell.failed);
    for (const OutputOverSamples& output : cell.outputs)
      if (output.figures)
        entry.figures[fmt::format("{} {} worst cosine", where, output.name)] = output.figures->cosine.worst;
  }
  return entry;
}

LedgerEntry search_entry(LedgerEntry entry, const RestoreSearch& search) {
  entry.kind = "search";
  entry.figures = {{"islands", static_cast<double>(search.islands.size())},
                   {"samples", static_cast<double>(search.samples)}};
  // The verdict of the network as it is deployed stays with the entry of locate.
  entry.verdict.clear();
  if (search.needless) {
    entry.outcome = "nothing to restore: the gates hold";
  } else if (search.all) {
    entry.outcome = search.budget_spent ? "no set found within the budget" : "no smaller set than all was found";
  } else {
    entry.change = "on the reference: " + all(search.islands);
    entry.outcome = fmt::format("the gates hold with it{}", search.minimal        ? "; nothing of it can be dropped"
                                                            : search.budget_spent ? "; best within the budget"
                                                                                  : "");
  }
  return entry;
}

// What every diagnosis of one network tells.
template <class Diagnosis>
LedgerEntry entry_of(const char* kind, const Diagnosis& result) {
  LedgerEntry e;
  e.kind = kind;
  e.model = result.model;
  e.model_sha256 = result.reference_info.model_sha256;
  e.reference = result.reference;
  e.device = result.device;
  return e;
}

}  // namespace

std::vector<LedgerEntry> ledger_entries(const LocateResult& result) {
  LedgerEntry base = entry_of("locate", result);
  base.options = result.device_info.options;
  base.gates = result.gate_texts;
  base.verdict = name(result.verdict);
  base.outcome = faults(result.findings);
  if (!result.first_divergence.empty()) base.outcome += "; first divergence " + result.first_divergence;
  take_outputs(result.outputs, base);
  std::vector<LedgerEntry> entries;
  if (!result.only_cuts) entries.push_back(base);
  if (result.cross_matrices)
    for (const CrossMatrix& matrix : result.cross_matrices->cuts) entries.push_back(cut_entry(base, matrix));
  if (result.search) entries.push_back(search_entry(base, *result.search));
  return entries;
}

std::vector<LedgerEntry> ledger_entries(const SamplesResult& result) {
  LedgerEntry e;
  e.kind = "samples";
  e.model = result.model;
  auto member_of = [&](const char* side, const char* key) -> Json {
    if (!result.provenance.is_object() || !result.provenance.contains(side)) return nullptr;
    return result.provenance[side].value(key, Json(nullptr));
  };
  if (const Json model = member_of("reference", "model"); model.is_object()) e.model_sha256 = model.value("sha256", "");
  if (const Json options = member_of("device", "options"); options.is_object())
    for (const auto& [key, value] : options.items())
      if (value.is_string()) e.options[key] = value.get<std::string>();
  e.reference = result.reference;
  e.device = result.device;
  e.gates = result.gate_texts;
  e.inputs_sha256 = result.inputs_sha256;
  e.verdict = name(result.verdict);
  uint64_t deviate = 0;
  for (const SampleOutcome& s : result.samples) deviate += s.failure.empty() && s.verdict == Verdict::kDeviates;
  std::vector<Finding> findings;
  for (const FindingOverSamples& f : result.findings) findings.push_back(f.finding);
  e.outcome = fmt::format("{} of {} samples deviate; {}", deviate, result.diagnosed, faults(findings));
  e.figures = {{"samples", static_cast<double>(result.asked)},
               {"diagnosed", static_cast<double>(result.diagnosed)},
               {"deviating", static_cast<double>(deviate)}};
  for (const OutputOverSamples& o : result.outputs)
    if (o.figures) {
      e.figures[o.name + " median cosine"] = o.figures->cosine.median;
      e.figures[o.name + " worst cosine"] = o.figures->cosine.worst;
    }
  std::vector<LedgerEntry> entries = {e};
  for (const CutOverSamples& cut : result.cuts) entries.push_back(cut_entry(e, cut));
  if (result.search) entries.push_back(search_entry(e, *result.search));
  return entries;
}

std::vector<LedgerEntry> ledger_entries(const InjectResult& result) {
  std::vector<LedgerEntry> entries;
  for (const InjectionExperiment& experiment : result.experiments) {
    LedgerEntry e = entry_of("inject", result);
    e.gates = result.gate_texts;
    std::vector<std::string> injected;
    for (const InjectedTensor& t : experiment.injected) injected.push_back(t.tensor + ": " + t.mode);
    e.change = all(injected) + (result.fed_decisions ? " (decisions of the reference fed)" : "");
    e.verdict = name(experiment.verdict);
    e.outcome = experiment.equal ? "no output changes, to the bit" : "outputs move";
    take_outputs(experiment.outputs, e);
    entries.push_back(std::move(e));
  }
  return entries;
}

std::vector<LedgerEntry> ledger_entries(const PiecesResult& result) {
  LedgerEntry e = entry_of("pieces", result);
  e.outcome = faults(result.findings);
  uint64_t measured = 0;
  for (const PieceRow& row : result.rows) measured += row.not_probed.empty();
  e.figures = {{"functions", static_cast<double>(result.rows.size())}, {"measured", static_cast<double>(measured)}};
  return {e};
}

std::vector<LedgerEntry> ledger_entries(const PlacementResult& result) {
  if (result.target.empty()) return {};
  LedgerEntry e;
  e.kind = "placement";
  e.model = result.model;
  e.model_sha256 = result.model_sha256;
  e.device = result.target;
  e.options = result.info.options;
  e.verdict = name(result.verdict);
  e.outcome = result.reasons.empty() ? "" : result.reasons.front();
  for (const RequirementOutcome& r : result.requirements) e.gates.push_back("require " + r.text);
  e.figures = {{"device share", result.placement.device_share()},
               {"partitions", static_cast<double>(result.placement.totals.device_partitions)}};
  if (result.pin && result.pin->ran) {
    e.kind = "pin";
    e.change = all(result.pin->pins);
    e.outcome = result.pin->recovered  ? "outputs agree with the pin, and the pinned nodes ran on the CPU"
                : result.pin->deviated ? "did not repair"
                                       : "there was nothing to repair";
    for (const PinOutput& o : result.pin->outputs)
      if (!o.integers) {
        e.figures[o.name + " cosine without"] = o.before.cosine;
        e.figures[o.name + " cosine with"] = o.after.cosine;
      }
  }
  return {e};
}

}  // namespace paritas
