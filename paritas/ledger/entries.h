// From results to lines of the ledger. One result may hold several experiments. Whoever writes adds when, from which
// inputs, and where the result is.
#pragma once

#include <vector>

#include "paritas/ledger/ledger.h"
#include "paritas/locate/inject.h"
#include "paritas/locate/pieces_types.h"
#include "paritas/locate/samples_types.h"
#include "paritas/locate/types.h"
#include "paritas/placement/audit_types.h"

namespace paritas {

std::vector<LedgerEntry> ledger_entries(const LocateResult& result);  // locate, a cut each, search
std::vector<LedgerEntry> ledger_entries(const SamplesResult& result);
std::vector<LedgerEntry> ledger_entries(const InjectResult& result);  // an entry an experiment
std::vector<LedgerEntry> ledger_entries(const PiecesResult& result);
// None without a target: evidence files are no experiment.
std::vector<LedgerEntry> ledger_entries(const PlacementResult& result);

}  // namespace paritas
