// A finding as the terminal shows it.
#pragma once

#include <string>

#include "paritas/judge/finding.h"
#include "paritas/report/style.h"

namespace paritas {

// Faults with all of their parts, notes with their text alone unless style.verbose or `whole`.
std::string finding_block(const Finding& finding, const Style& style, bool whole = false);

}  // namespace paritas
