// What the placement audit finds out, as plain data. docs/placement.md says what each part shows and what it does not.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "paritas/judge/finding.h"
#include "paritas/judge/verdict.h"
#include "paritas/metrics/pair_metrics.h"
#include "paritas/recording/provenance.h"

namespace paritas {

enum class EvidenceSource { kAssignment, kContext, kProfile, kOpTrace, kCycles };  // in order of trust
inline constexpr int kEvidenceSources = 5;
std::string_view name(EvidenceSource source);  // "session assignment", "context model", "profile", ...

enum class Place {
  kDevice,       // the requested provider, whose back end is no CPU
  kVendorCpu,    // the requested provider, which computes on the CPU itself (QNN's CPU back end)
  kPlannedCpu,   // the CPU provider, because somebody said so: target cpu, a pin, --planned
  kFallbackCpu,  // the CPU provider inside a session for which another one was requested
  kElsewhere,    // not on the requested provider; where is not told, or on a third provider
  kConstant,     // does not depend on the inputs and is in no partition: computed once, when the session is made
  kUnknown,      // no source says anything about it
};
inline constexpr int kPlaces = 7;
std::string_view name(Place place);  // "device", "vendor cpu", "planned cpu", "cpu fallback", ...
std::optional<Place> place_from_name(std::string_view text);

// A node of the source graph.
struct NodePlacement {
  std::string name;
  std::string op;
  Place place = Place::kUnknown;
  std::string provider;   // empty: not told
  std::string partition;  // name of a PartitionRow; empty: none
  std::vector<EvidenceSource> evidence;
  // No source names the node, but everything that it reads from and hands to is in this partition.
  bool inferred = false;
  std::vector<std::string> seen_as;      // names in the optimised graph, where they differ from its own
  std::vector<std::string> device_ops;   // device operator types that it became part of
  std::optional<uint64_t> cycles;        // of the device operations that it is part of
  bool cycles_shared = false;            // other nodes are part of them too
  std::optional<uint64_t> microseconds;  // on the CPU, of all calls together
};

struct PartitionRow {
  std::string name;  // "QNNExecutionProvider 3", or the provider's name for everything on the CPU provider
  std::string provider;
  std::string compiled_as;               // name that the provider gave it, where a source tells; else empty
  uint64_t source_nodes = 0;             // inferred ones included
  uint64_t optimised_nodes = 0;          // 0 without session assignment
  std::optional<uint64_t> microseconds;  // profile, all calls together
  // Profile: activations that one call reads and writes, graph inputs and outputs included.
  std::optional<uint64_t> input_bytes, output_bytes;
};

// A tensor that one partition makes and others read. Bytes of the source graph's tensor, as declared.
struct Crossing {
  std::string tensor;
  std::string from;
  std::vector<std::string> to;
  std::optional<uint64_t> bytes;
};

struct EvidenceUse {
  EvidenceSource source = EvidenceSource::kAssignment;
  std::string file;     // empty: the live session
  uint64_t names = 0;   // node names that could be of the model (those that the runtime made up are left out)
  uint64_t mapped = 0;  // that lead to a node of it
  std::string says;     // "828 nodes on QNNExecutionProvider in 12 partitions"
};

struct Contradiction {
  EvidenceSource first = EvidenceSource::kAssignment, second = EvidenceSource::kAssignment;
  std::vector<std::string> nodes;
  std::string text;  // one sentence
};

struct PlacementTotals {
  uint64_t source_nodes = 0;
  std::array<uint64_t, kPlaces> by_place{};  // source nodes
  uint64_t inferred = 0;                     // source nodes whose place is inferred
  std::optional<uint64_t> optimised_nodes;   // of the graph that really ran; absent when no source tells
  uint64_t optimised_on_device = 0;          // on the requested provider
  uint64_t device_partitions = 0;
  std::optional<double> device_share_by_time;  // of the time that nodes took, as the runtime's profile counts it
  uint64_t profile_runs = 0;
  std::optional<uint64_t> device_cycles;  // of operations that are named
  std::optional<uint64_t> other_cycles;   // of rows without a name, and graph inputs and outputs
  uint64_t crossings = 0;                 // pairs of a tensor and a partition that reads it from another
  uint64_t crossing_bytes = 0;            // of those whose size is known
  uint64_t crossings_of_unknown_size = 0;
  uint64_t of(Place place) const { return by_place[static_cast<size_t>(place)]; }
};

struct PlacementAudit {
  std::string requested;         // provider
  bool cpu_backend = false;      // it computes on the CPU itself
  bool device_requested = true;  // false: the CPU provider was asked for
  std::vector<EvidenceUse> evidence;
  std::vector<NodePlacement> nodes;  // source graph, topological order
  std::vector<PartitionRow> partitions;
  std::vector<std::pair<std::string, uint64_t>> optimised;  // provider -> nodes of the optimised graph
  std::vector<Crossing> crossings;
  std::vector<Contradiction> contradictions;
  std::vector<std::string> unmapped;   // names of the optimised graph that lead to no node of the source
  std::vector<std::string> ambiguous;  // names that several nodes of the source have: nothing is known by them
  uint64_t made_up = 0;                // of them, those that the runtime made up
  uint64_t traced_ops = 0;             // device operations of the op trace
  uint64_t executed_ops = 0;           // device operations that took cycles
  PlacementTotals totals;
  std::vector<std::string> notes;

  // Of the optimised graph where it is known, else of source nodes that depend on the inputs; 0 when nothing is known.
  // A vendor's CPU back end is no device.
  double device_share() const;
  uint64_t counted() const;  // what the share is of
  uint64_t on_device() const;
};

struct RequirementOutcome {
  std::string text;  // "100%", "/enc/*=100%"
  bool met = false;
  double share = 0;  // measured
  uint64_t on_device = 0, counted = 0;
  bool optimised = false;            // counted in nodes of the optimised graph, else of the source graph
  std::vector<std::string> missing;  // source nodes that are not shown to be on the device
};

struct MovedNode {
  std::string name, op;
  std::string from, to;  // provider, or the place where no provider is told
};

struct PlacementChange {
  std::string file;
  std::string model_sha256;  // of the older result
  std::vector<MovedNode> moved;
  std::vector<std::string> only_before, only_after;  // nodes that one side alone has
  uint64_t partitions_before = 0, partitions_after = 0;
  uint64_t crossings_before = 0, crossings_after = 0;
  double share_before = 0, share_after = 0;
};

struct PinOutput {
  std::string name;
  bool integers = false;      // compared by equality only
  PairMetrics before, after;  // against the reference; not compared where `cannot_tell`
  bool agrees_before = false, agrees_after = false;
  std::string rule;          // what decided
  bool cannot_tell = false;  // depends on random operators: neither agrees nor deviates, as `rule` says
  bool has_gate = false;
};

struct PinExperiment {
  std::vector<std::string> pins;               // "Softmax=CPU"
  std::vector<std::string> touched_source;     // nodes of the source graph of these types
  std::vector<std::string> touched_optimised;  // names in the optimised graph before the pin; empty before a run
  bool ran = false;                            // else only the list above is filled
  std::vector<std::string> on_cpu_after;       // of touched_optimised
  std::vector<std::string> moved_too;          // others (optimised graph) that left the device with the pin
  PlacementAudit before;                       // without the pin; `placement` of the result is with it
  std::vector<PinOutput> outputs;
  bool deviated = false;   // before the pin an output did not agree with the reference
  bool recovered = false;  // deviated, and with the pin all agree that can be told
};

struct PlacementResult {
  Verdict verdict = Verdict::kInvalid;
  std::vector<std::string> reasons;
  std::string model;
  std::string model_sha256;
  std::string target;  // as given; empty: from evidence files only
  RunInfo info;        // of the device session; empty without one
  std::vector<std::string> pinned_dimensions;
  PlacementAudit placement;
  std::optional<PinExperiment> pin;
  std::optional<PlacementChange> change;
  std::vector<RequirementOutcome> requirements;
  std::vector<Finding> findings;
  std::vector<std::string> notes;
  double seconds_total = 0;
};

}  // namespace paritas
