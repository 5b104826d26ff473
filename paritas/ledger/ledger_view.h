// Ledgers as people ask for them: by model and change, repeats together, contradictions pointed out. Nothing is left
// out and nothing is decided.
#pragma once

#include <string>
#include <vector>

#include "paritas/ledger/ledger.h"

namespace paritas {

// The same experiment (kind, model, targets, options, gates, inputs, change), once or more often, in order of time.
struct LedgerExperiment {
  std::vector<LedgerEntry> runs;
  std::string contradiction;  // how the outcomes of its runs differ; empty: they do not
  uint64_t last = 0;          // place of the last run among all entries, by time, then as the file has them
};

struct LedgerChange {
  std::string change;    // empty: the model as given
  std::string standing;  // "tried, not delivered", "delivered in NAME"; empty: nothing that could be delivered
  std::vector<LedgerExperiment> experiments;  // by the time of the last run
};

struct LedgerModel {
  std::string sha256;
  std::vector<std::string> names;     // paths under which it was given
  std::vector<LedgerChange> changes;  // by the time of the last run
  uint64_t entries = 0;
};

struct LedgerView {
  std::vector<std::string> files;
  std::vector<LedgerModel> models;   // by the time of the last run
  std::vector<std::string> damaged;  // "FILE: line 3: ..."
  uint64_t entries = 0;              // that are shown
  uint64_t others = 0;               // of models that were not asked for
};

// `model`: a SHA-256 or the beginning of one, or a path as it was given; empty: all.
Result<LedgerView> view_ledgers(const std::vector<Path>& files, const std::string& model);
LedgerView view_of(const std::vector<LedgerEntry>& entries, const std::string& model);

Json to_json(const LedgerView& view);  // schema paritas.ledger-view/1

}  // namespace paritas
