#include "paritas/delivery/ledger_lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paritas/base/sha256.h"
#include "paritas/ledger/ledger_view.h"

namespace paritas {

std::vector<LedgerEntry> ledger_entries(const SplitResult& result, const SplitRequest& request) {
  LedgerEntry entry;
  entry.kind = "package";
  entry.model = result.model;
  entry.model_sha256 = result.model_sha256;
  entry.reference = request.reference.spec.text;
  std::vector<std::string> targets, cuts;
  for (const SplitPartTarget& part : request.parts) targets.push_back(part.name + "=" + part.target.spec.text);
  entry.device = fmt::format("{}", fmt::join(targets, " "));
  for (const PackageCut& cut : result.manifest.cuts) {
    std::vector<std::string> tensors;
    for (const BoundaryTensor& tensor : cut.tensors) tensors.push_back(tensor.source);
    cuts.push_back(fmt::format("{}", fmt::join(tensors, ", ")));
  }
  // The words of locate's cuts, so that what was tried there counts as delivered here.
  entry.change = cuts.empty() ? "split" : fmt::format("cut at {}", fmt::join(cuts, " and at "));
  for (const Gate& gate : request.contract.chain_gates.gates) entry.gates.push_back(gate.text());
  entry.verdict = name(result.verdict);
  entry.outcome = "refused: " + result.refused;
  if (result.refused.empty()) {
    entry.outcome = "delivered";
    for (const PackageCheck& check : result.verification ? result.verification->checks : std::vector<PackageCheck>{})
      if (check.id == "chain") entry.outcome = "delivered: " + check.text;
  }
  if (!result.package.empty()) entry.delivered = Path(result.package).filename().string();
  return {entry};
}

Result<std::vector<TriedBefore>> tried_before(const Path& ledger, const Path& model) {
  std::vector<TriedBefore> tried;
  std::error_code code;
  if (!std::filesystem::exists(ledger, code)) return tried;
  PARITAS_ASSIGN(const std::string sha256, sha256_of_file(model));
  PARITAS_ASSIGN(const LedgerView view, view_ledgers({ledger}, sha256));
  for (const LedgerModel& each : view.models)
    for (const LedgerChange& change : each.changes) {
      if (change.change.empty() || change.standing.rfind("tried", 0) != 0) continue;
      for (const LedgerExperiment& experiment : change.experiments) {
        const LedgerEntry& last = experiment.runs.back();
        tried.push_back({last.date, last.kind, change.change, last.verdict, last.outcome});
      }
    }
  return tried;
}

}  // namespace paritas
