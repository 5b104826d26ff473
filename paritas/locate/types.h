// Everything that `locate` finds out, as plain data. Units and shapes as in metrics/pair_metrics.h.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "paritas/compare/compare.h"
#include "paritas/judge/finding.h"
#include "paritas/locate/consistency_types.h"
#include "paritas/locate/cross_matrix_types.h"
#include "paritas/locate/group_checks.h"
#include "paritas/locate/probe_checks_types.h"
#include "paritas/metrics/pair_metrics.h"
#include "paritas/recording/provenance.h"

namespace paritas {

// Local error of one tensor: the island that makes it, fed with reference inputs, ran on the device.
struct LocalError {
  PairMetrics metrics;                   // reference vs local result; metrics.storage is the storage baseline
  std::optional<double> input_baseline;  // max |f(round(x)) - f(x)| on the reference
  std::optional<double> x_baseline;      // metrics.max_abs / storage baseline; absent when the baseline is 0 or the
                                         // type cannot hold the value
  bool representable = true;             // the storage type can hold every value of the tensor
  std::string island;                    // name of the island (node or fused group)
};

enum class RangeViolation { kNone, kOverflow, kUnderflow };
std::string_view name(RangeViolation violation);

// One tensor that a node makes. Nodes with several outputs have several rows.
struct NodeRow {
  std::string name;  // node, as in the model
  std::string op;
  std::string tensor;
  DType dtype = DType::kF32;
  Shape shape;
  std::string ran_on;                             // provider in the unmarked device run; empty: not known
  std::string probe_ran_on;                       // provider in the probe; empty: not probed or not known
  std::string not_probed;                         // reason, when there is no local error
  std::optional<PairMetrics> accumulated;         // free
  std::optional<PairMetrics> accumulated_forced;  // with the reference's decisions fed in
  // Which graph each came from: "all marks", "marks 3/12"; "forced", "forced, marks 3/12"; empty without the figure.
  // Local figures come from the all-local graph, outputs from the unmarked one.
  std::string accumulated_graph, forced_graph;
  std::optional<LocalError> local;
  std::optional<double> inherited_nmse;  // |accumulated - local|^2 / |reference|^2, forced where there is one
  std::optional<double> sensitivity;     // see Sensitivity
  std::string constant;                  // a constant that the node reads and the storage type cannot hold; empty: none
  std::optional<StorageBaseline> constant_storage;
  RangeViolation range = RangeViolation::kNone;
  bool range_of_constant = false;  // the violation is the constant's, not the result's
  double range_factor = 0;         // overflow: largest |x| / largest finite value; underflow: lost energy
  bool consequential =
      false;              // its deviation reaches an output that deviates (by way of deviating tensors, or injected)
  bool decision = false;  // integer or bool made from floats: compared by equality only

  // The accumulated figures to judge by: forced where they exist.
  const PairMetrics* best_accumulated() const {
    return accumulated_forced ? &*accumulated_forced : accumulated ? &*accumulated : nullptr;
  }
};

// A box that NonMaxSuppression keeps on one side and drops on the other.
struct SuppressedBox {
  uint64_t batch = 0, of_class = 0, box = 0;
  bool kept = false;     // by the reference
  double score = 0;      // the reference's
  bool follows = false;  // from what became of the other boxes: the same rule and the reference's numbers say so
  std::optional<double> margin;        // smallest change of one score or overlap of the reference that turns it
  std::string margin_of;               // "overlap" (intersection over union against its threshold), "score" (against
                                       // that of `competitor`), "score threshold"
  std::optional<uint64_t> competitor;  // the box that decides
};

// How near a decision was, in the unit of the scores that it is made from (of the reference).
struct DecisionTie {
  std::optional<double> margin;  // largest difference between a pick of the reference and the device's in its place; of
                                 // a comparison between both sides. Absent: nothing changed, or not taken
  double at = 0;                 // size of the scores there
  uint64_t compared = 0;         // changed picks that `margin` is the largest of
  std::optional<double> runner_up;  // smallest difference between what is picked and what is not, changed or not
  std::optional<double> storage_step, local_error, accumulated_error;  // of the scores: a step of the storage type at
                                                                       // `at`, largest local and accumulated error
  std::string explained_by;          // storage, local, accumulated, nothing; empty: not known
  std::string not_taken;             // why there is no margin
  std::string margin_of;             // NonMaxSuppression: what of, see SuppressedBox; else empty
  std::vector<SuppressedBox> boxes;  // NonMaxSuppression: those that changed
};

struct DecisionReport {
  std::string node;
  std::string op;
  std::string tensor;
  uint64_t count = 0;  // elements
  uint64_t moved = 0;  // elements that differ by position
  uint64_t picks = 0;  // elements of the reference that the device did not pick at all (per row of the last axis)
  std::optional<DecisionTie> tie;
  std::vector<std::string> gathers;  // nodes that gather by it
  std::vector<std::string> outputs;  // graph outputs that depend on it
  bool changed() const { return moved != 0; }
};

struct OutputRow {
  TensorComparison pair;         // unmarked device run against the reference
  bool behind_decision = false;  // rows may have moved
  bool class_ids() const { return pair.metrics && pair.metrics->names; }
};

// An output of the device in one of the graphs that were run.
struct MarkedOutput {
  std::string graph;     // "unmarked", "8 marks", "all marks", "marks 1/12"
  double max = 0;        // largest value
  bool changed = false;  // any byte differs from the unmarked run
  double nmse = 0;       // against the unmarked run
};

struct ProbeEffect {
  std::string output;
  double unmarked = 0;  // largest value of the output in the unmarked device run
  double marked = 0;    // in the run with every intermediate marked
  bool changed = false;
  std::vector<MarkedOutput> graphs;  // unmarked first; few marks when asked for
};

struct NodePlacementRow {
  std::string node;  // in the model
  std::string provider;
};

// One set of islands that was computed by the reference, the rest by the device.
struct RestoreTest {
  std::vector<std::string> islands;
  std::string outcome;                 // "holds", "does not hold", "not tried"
  std::string text;                    // the deciding gate, or why it could not be tried
  std::string sample;                  // on which it did not hold, or could not be tried; empty: none
  uint64_t samples_run = 0;            // the set's sessions ran on so many of them
  std::vector<std::string> elsewhere;  // nodes of the device's parts that ran elsewhere, with the provider
  int device_sessions = 0;             // opened for it
  double seconds = 0;
};

// Which islands must the reference compute for the gates to hold on every sample?
struct RestoreSearch {
  std::vector<std::string> islands;    // the set that was found, graph order
  std::vector<std::string> nodes;      // of these islands
  bool needless = false;               // the gates hold with everything on the device
  bool all = false;                    // no smaller set was found: everything stays on the reference
  bool minimal = false;                // dropping any one island breaks a gate; each was tried
  bool budget_spent = false;           // best so far
  std::vector<std::string> undecided;  // islands whose removal could not be tried
  uint64_t samples = 0;                // every set that holds was run on all of them
  std::vector<std::pair<std::string, uint64_t>> decided_by;  // samples on which sets did not hold, with how many
  std::vector<RestoreTest> tests;                            // in the order of trying
  int device_sessions = 0;
  double seconds = 0;
};

struct LocateResult {
  Verdict verdict = Verdict::kInvalid;
  std::vector<std::string> reasons;
  std::string model;
  std::string reference, device;        // targets as given
  RunInfo reference_info, device_info;  // provenance of both
  std::vector<std::string> gate_texts;
  std::string gates_sha256;
  std::vector<std::string> pinned;  // free dimensions that were pinned
  std::vector<OutputRow> outputs;
  std::vector<NodeRow> nodes;       // graph order
  std::vector<std::string> ranked;  // node names, worst first
  std::string first_divergence;     // node name, empty: none
  std::string first_divergence_tensor;
  std::vector<DecisionReport> decisions;
  std::vector<std::string> forced;  // decision tensors that were fed
  PlacementCounts placement;        // unmarked device run
  std::string device_simulated;     // the number format, when the device is the simulator
  PlacementCounts probe_placement;  // local probes
  std::vector<ProbeEffect> probe_effect;
  std::optional<Consistency> consistency;       // when asked for
  std::optional<ProbeChecks> probe_checks;      // when asked for
  std::vector<GroupReport> groups;              // when asked for
  std::optional<RestoreSearch> search;          // when asked for
  std::string not_searched;                     // why there is none though it was asked for
  std::optional<CrossMatrices> cross_matrices;  // when cuts were asked for
  bool only_cuts = false;                       // the rest of the diagnosis was not asked for
  std::vector<Finding> findings;
  std::vector<std::string> notes;
  bool injected_largest = false;  // the largest local errors were injected, whether an output deviates or not
  double seconds_reference = 0, seconds_device = 0, seconds_probes = 0, seconds_injection = 0, seconds_total = 0;
  uint64_t sessions = 0;  // device sessions that were opened
};

}  // namespace paritas
