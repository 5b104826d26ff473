// From the comparisons of all tensors to the verdict of the whole. A pure function of what the result already holds, so
// that merged parts and verdicts made afterwards come out as one run would have them.
#pragma once

#include "paritas/compare/types.h"
#include "paritas/judge/verdict.h"

namespace paritas {

// Fills verdict, reasons, coverage, unmatched names, summaries and the order of the tensors. Notes are left alone.
// Returns what the verdict was made of, for whoever judges more than the comparison.
VerdictBuilder conclude(CompareResult& result);

}  // namespace paritas
