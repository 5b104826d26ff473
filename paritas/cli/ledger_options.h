// Where a command that makes experiments writes them down.
#pragma once

#include <string>
#include <vector>

#include "paritas/cli/common.h"
#include "paritas/ledger/entries.h"

namespace paritas::cli {

struct LedgerOptions {
  std::string file;  // empty: beside the JSON result, when there is one
  bool off = false;
};
void add_ledger_options(CLI::App& command, LedgerOptions& options);

// Refuses what contradicts itself, before anything runs.
Status check_ledger(const LedgerOptions& options, const CommonOptions& common);
// `inputs` are those of every entry that names none itself. Called when the result has been written.
Status write_ledger(const LedgerOptions& options, const CommonOptions& common, std::vector<LedgerEntry> entries,
                    const NamedTensors& inputs);

}  // namespace paritas::cli
