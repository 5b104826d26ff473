// Packages and the ledger: what a split came to as a line, and what was tried before.
#pragma once

#include "paritas/delivery/split.h"
#include "paritas/ledger/ledger.h"

namespace paritas {

// Kind "package": delivered, or why not.
std::vector<LedgerEntry> ledger_entries(const SplitResult& result, const SplitRequest& request);

// Changes that the ledger holds for this model (by SHA-256) and that no package delivered, the last run of each. A
// ledger that is not there yet holds nothing.
Result<std::vector<TriedBefore>> tried_before(const Path& ledger, const Path& model);

}  // namespace paritas
