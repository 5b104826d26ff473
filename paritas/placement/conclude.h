// Findings, notes and verdict of a placement: a pure function of what the result holds.
#pragma once

#include "paritas/placement/audit_types.h"

namespace paritas {

// `gated`: outputs were judged by gates, which then decide too.
void conclude(bool gated, PlacementResult& result);

}  // namespace paritas
