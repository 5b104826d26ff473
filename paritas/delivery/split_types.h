// What splitting a model yields. Plain data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paritas/delivery/verify_types.h"
#include "paritas/locate/cross_matrix_types.h"

namespace paritas {

// What a cut costs to hand over, and whether it can be had.
struct CutCost {
  std::string name;
  std::vector<std::string> tensors;  // of the model
  uint64_t elements = 0;             // that cross, graph inputs left out
  uint64_t bytes = 0;                // in the tensors' own types
  uint64_t front_nodes = 0, rear_nodes = 0;
  std::string split;                    // "exact", "optimiser", ...
  std::string front_placement;          // "260 of 260 nodes on QNNExecutionProvider"
  bool front_on_device = false;         // all of it
  Verdict verdict = Verdict::kInvalid;  // front half on the device, rear half on the CPU, on the first sample
  std::string deciding;                 // "scores: cosine 0.99 ..."
  bool allowed = false, chosen = false;
};

struct SplitResult {
  Verdict verdict = Verdict::kInvalid;  // of the package's verification; invalid when it was refused before
  std::vector<std::string> reasons;
  uint64_t deciding = 0;
  std::string model, model_sha256;
  std::string package;                       // folder; empty: nothing was delivered
  std::string refused;                       // why; empty: delivered
  Manifest manifest;                         // as far as it was made
  std::vector<CutCost> candidates;           // of automatic cuts
  std::optional<VerifyResult> verification;  // of the package
  std::vector<std::string> notes;
  double seconds = 0;
};

}  // namespace paritas
