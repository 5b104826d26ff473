// Wordings of the cross matrix: what each cell shows, and the findings from the four of them. Part of the catalogue
// (finding.h): nothing is worded elsewhere.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "paritas/judge/finding.h"

namespace paritas::catalogue {

// What is known of a cell's outputs: by gates and tasks, or, without any, by the rule for ungated outputs.
// kDrawn: outputs depend on random operators, and nothing else deviates.
enum class CellOutcome { kHolds, kDeviates, kUnknown, kFailed, kDrawn };
std::string_view name(CellOutcome outcome);

struct CellWords {
  std::string shows;
  std::string does_not_show;
};
// `front_on_device`, `rear_on_device`: which cell it is. Of the reference/reference cell the outcome is that of the
// split: kHolds when it equals the whole.
CellWords cell_words(bool front_on_device, bool rear_on_device, CellOutcome outcome);

struct CutFacts {
  std::string cut;                                     // its name
  std::vector<std::string> tensors;                    // where it cuts
  std::string front_figure, rear_figure, both_figure;  // of the deciding output: "scores: cosine 0.8696 < 0.99"
  bool demanded = false;  // a gate or a task failed; else nobody said how close the outputs have to be
};
Finding cut_front(const CutFacts& facts);      // the front half alone on the device is enough to fail
Finding cut_rear(const CutFacts& facts);       // the rear half alone is
Finding cut_each(const CutFacts& facts);       // each half alone is
Finding cut_together(const CutFacts& facts);   // only both together
Finding cut_acquits(const CutFacts& facts);    // nothing deviates when the model is cut here
Finding cut_undecided(const CutFacts& facts);  // a cell is missing or cannot be judged

struct SplitFacts {
  std::string cut;
  std::string output;  // the output that moves most
  double max_abs = 0;  // by this much
  double nmse = 0;
  std::string tensor;     // first tensor that differs
  std::string node;       // its node; empty: a graph input
  bool in_front = false;  // it lies in the front half
};
Finding cut_optimiser(const SplitFacts& facts);       // halves differ from the whole with the optimiser on only
Finding cut_wrong(const SplitFacts& facts);           // halves differ from the whole
Finding cut_not_repeatable(const SplitFacts& facts);  // the whole differs from itself
// The uncut model on the device and the two halves on the device differ in whether the outputs hold.
Finding cut_changes_device(const CutFacts& facts, const std::string& whole_figure);

}  // namespace paritas::catalogue
