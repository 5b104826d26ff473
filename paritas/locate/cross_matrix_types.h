// The cross matrix: a model cut in two, each half on the reference and on the device. Plain data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paritas/compare/types.h"
#include "paritas/judge/catalogue_cut.h"
#include "paritas/runtime/worker.h"

namespace paritas {

// A task's answer on a cell's outputs (filled by whoever knows tasks).
struct CellTask {
  std::string name;
  Verdict verdict = Verdict::kNotJudged;
  std::string text;  // deciding figure in words
};

// One combination, compared with the reference's uncut run.
struct MatrixCell {
  bool front_on_device = false, rear_on_device = false;
  catalogue::CellOutcome outcome = catalogue::CellOutcome::kFailed;
  std::string failure;  // why it could not be measured; empty: measured
  std::vector<TensorComparison> outputs;
  std::vector<CellTask> tasks;
  Verdict verdict = Verdict::kNotJudged;  // of gates and tasks
  std::string deciding;                   // "scores: cosine 0.8696 < 0.99"; empty: nothing decides
  std::string shows, does_not_show;
};

// A tensor of the cut, made by the front half on the device.
struct CutTensorRow {
  std::string name;
  DType dtype = DType::kF32;
  Shape shape;
  uint64_t bytes = 0;
  bool read = true;                    // the rear half reads it
  std::optional<PairMetrics> metrics;  // against the reference; absent: a graph input, or not measured
};

enum class SplitStatus {
  kExact,          // the reference's halves equal its whole, bit for bit
  kOptimiser,      // only with optimisation off
  kWrong,          // never: no other cell is reported
  kNotRepeatable,  // the whole does not equal itself
  kNotMeasured,    // a reference session failed
  kRandom,         // every output depends on random operators: whole and halves cannot be compared
};
std::string_view name(SplitStatus status);

struct CrossMatrix {
  std::string name;
  std::vector<CutTensorRow> tensors;                     // graph order
  std::vector<std::string> front_inputs, rear_inputs;    // graph inputs
  std::vector<std::string> front_outputs, rear_outputs;  // graph outputs
  std::vector<std::string> constants;                    // shapes of the other half, taken as constants
  uint64_t front_nodes = 0, rear_nodes = 0;              // that depend on input values
  PlacementCounts front_placement, rear_placement;       // on the device
  SplitStatus split = SplitStatus::kNotMeasured;
  std::vector<std::pair<std::string, PairMetrics>> noise;  // kOptimiser: whole against halves, on the reference
  std::string first_difference;                            // kWrong: the first tensor that differs
  std::vector<MatrixCell> cells;  // reference/reference, device/reference, reference/device, device/device (front/rear)
  Verdict verdict = Verdict::kInvalid;  // of the device/device cell; invalid when the split is
  std::vector<std::string> reasons;
  std::vector<std::string> notes;
};

// All cuts of one call.
struct CrossMatrices {
  std::vector<CrossMatrix> cuts;
  MatrixCell whole;  // the uncut model on the device
  PlacementCounts whole_placement;
  RuntimeIdentity reference_identity, device_identity;  // empty: no session was opened
  std::vector<std::string> notes;
  std::string cut_file;  // the cuts as the text of a cut file (cuts.h)
  std::vector<Finding> findings;
  uint64_t sessions = 0;  // on the device
  double seconds = 0;
};

}  // namespace paritas
