// What a comparison yields. Plain structs; units are those of pair_metrics.h.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "paritas/compare/input_gate.h"
#include "paritas/judge/verdict.h"
#include "paritas/metrics/pair_metrics.h"
#include "paritas/recording/provenance.h"

namespace paritas {

enum class PairStatus {
  kCompared,
  kShapeDiffers,      // not compared
  kMissingReference,  // only the device has it
  kMissingDevice,     // only the reference has it
};
std::string_view name(PairStatus status);
std::optional<PairStatus> pair_status_from_name(std::string_view text);

struct SideInfo {
  DType dtype = DType::kF32;
  Shape shape;
};

// One tensor of one sample.
struct TensorComparison {
  std::string name;         // the reference's
  std::string device_name;  // the device's, when it is another
  std::string pairing;      // rule that paired them: "exact", "alias", "case", ...
  Role role = Role::kOutput;
  std::string declared_role;  // "scores", ...; empty without
  std::string sample;         // sample id
  PairStatus status = PairStatus::kCompared;
  std::optional<SideInfo> reference;
  std::optional<SideInfo> device;
  std::optional<PairMetrics> metrics;
  bool only_on_device = false;              // the reference's recording does not list it, in no sample
  std::optional<InputAgreement> agreement;  // of an input of which one side is quantised
  std::string equal_up_to;                  // ids that differ only in the order of equal scores: the scores' name
  bool gated = false;                       // a gate applies
  Verdict verdict = Verdict::kNotJudged;    // of this tensor alone
  std::string rule;                         // the gate or rule that accepted or refused it
  std::vector<std::string> notes;           // reasons to mistrust the figures

  bool compared() const { return status == PairStatus::kCompared; }
  bool missing() const { return status == PairStatus::kMissingReference || status == PairStatus::kMissingDevice; }
};

struct Coverage {
  uint64_t outputs = 0, outputs_compared = 0, outputs_gated = 0;
  uint64_t intermediates = 0, intermediates_compared = 0;  // of the reference
};

// One metric of one tensor over all samples in which it exists.
struct MetricSummary {
  std::string metric;
  uint64_t samples = 0;  // with a finite value
  double mean = 0;       // added in sample order
  double median = 0;     // lower of the middle two
  double p99 = 0;        // smallest value with at least 99 % of all at or on the better side of it
  double worst = 0;
  std::string worst_sample;
};

struct TensorSummary {
  std::string name;
  std::vector<MetricSummary> metrics;
};

// A pair that content suggests. Never used for a verdict.
struct PairProposal {
  std::string reference;
  std::string device;
  double nmse = 0;            // on the first sample
  double runner_up_nmse = 0;  // of the next best device tensor of this shape; infinite without one
  std::string runner_up;
};

struct CompareResult {
  Verdict verdict = Verdict::kInvalid;
  std::vector<std::string> reasons;  // deciding ones first
  uint64_t deciding = 0;             // reasons of the verdict's own kind; the others are about what is better
  std::string reference, device;     // subjects
  RunInfo reference_info, device_info;
  uint64_t first_sample = 0;                           // of the recordings, when only a part was compared
  uint64_t samples = 0;                                // compared
  uint64_t reference_samples = 0, device_samples = 0;  // that each side has
  bool part = false;                                   // --samples: another part decides about the sample counts
  bool inputs_unverified = false;                      // the user said that unrecorded inputs may count as equal
  bool allow_extra_outputs = false;
  std::vector<TensorComparison> tensors;  // outputs first, then sample by sample, in the reference's order
  std::vector<TensorSummary> summaries;   // with more than one sample; in the order of the tensors
  std::vector<std::string> unmatched_reference, unmatched_device;
  std::vector<PairProposal> proposals;
  Coverage coverage;
  std::string gates_sha256;
  std::vector<std::string>
      settings;  // how it was compared, as texts: pairing rules, aliases, roles, ranked, input rules
  std::vector<std::string> gate_texts;
  std::vector<std::string> task_gates;  // gates on task checks, which a comparison of tensors cannot judge
  bool decided_afterwards = false;      // gates were declared when the figures were known
  std::vector<std::string> notes;       // "contents not re-hashed" and the like
};

}  // namespace paritas
