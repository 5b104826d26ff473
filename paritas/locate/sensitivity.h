// Sensitivity: what one island's device error, injected alone into the reference run, does to the final outputs. Errors
// (local result minus reference) are added at taps of one session, so that a run costs no more than the model itself.
// Culprits are searched by group testing over all nodes, in graph order: the errors of a whole prefix of the graph are
// added at once. That finds causes that nothing else points to (a rounding that a later cancellation makes fatal). What
// is left of the time budget goes into conspicuous nodes, one by one.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "paritas/locate/candidates.h"
#include "paritas/locate/deviation.h"
#include "paritas/onnx/edit.h"
#include "paritas/runtime/runner.h"

namespace paritas {

struct InjectionRequest {
  const onnx_model::Model* model = nullptr;       // folded; decisions fed
  const onnx_model::GraphIndex* index = nullptr;  // of the folded model
  NamedTensors inputs;                            // all graph inputs of `model`
  Candidates candidates;
  const std::unordered_map<std::string, Tensor>* reference = nullptr;
  const std::unordered_map<std::string, Tensor>* local = nullptr;  // the device's local results
  std::vector<Deviation::Target> targets;                          // where effects are measured
  // Local results are rounded to this type first: a device may hand out graph outputs in more precision than it passes
  // from one node to the next.
  std::optional<DType> storage;
  std::vector<std::string> largest;  // injected alone last, as far as the budget goes: figures, mostly acquittals
  bool find_culprits = true;         // false: nothing deviates, only `largest` is wanted
  double seconds = 2.0;              // budget
  std::optional<int> max_runs;       // budget instead of `seconds`: the same on every machine
  uint64_t memory_budget =
      uint64_t{256} << 20;  // bytes of errors injected at once; beyond it only conspicuous nodes are tested
  Path scratch;             // folder for the errors
};

// An effect is material when it explains at least this share of a target's observed deviation (NMSE, at most 1).
inline constexpr double kMaterialShare = 0.1;
// A range suspect that feeds a culprit (data movement in between does not count) joins it when its own effect is at
// least this (NMSE), or when its result is beyond the format itself: the squares of a mean square may cost little alone
// when the mean behind them is what breaks, and a device may store a value that its next kernel cannot use.
inline constexpr double kJoiningNmse = 1e-5;

struct Sensitivities {
  struct Effect {
    double nmse = 0;     // largest over the targets; inf when they became NaN or infinite
    double share = 0;    // of the observed deviation
    bool joins = false;  // see kJoiningNmse
    bool material() const { return share >= kMaterialShare || joins; }
  };
  std::unordered_map<std::string, Effect> alone;  // tensors that were injected alone
  double rest_share = 0;                          // all that were not found material alone, together
  double all_share = 0;                           // all local errors together
  bool limited = false;   // only conspicuous nodes were tested: the errors of all did not fit the memory budget
  bool complete = false;  // false: not measured, or the budget ran out
  int runs = 0;
  double seconds = 0;
};

Result<Sensitivities> measure_sensitivity(Runner& reference, InjectionRequest request);

}  // namespace paritas
