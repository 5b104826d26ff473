// Report of `paritas ledger`.
#pragma once

#include <string>

#include "paritas/ledger/ledger_view.h"
#include "paritas/report/style.h"

namespace paritas {

std::string terminal(const LedgerView& view, const Style& style);

}  // namespace paritas
