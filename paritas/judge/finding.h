// Findings: data, not prose. Every wording stands in catalogue.cc, with one test each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "paritas/base/json.h"

namespace paritas {

enum class Severity { kFault, kNote };
std::string_view name(Severity severity);

struct Finding {
  std::string id;  // "range-overflow"
  Severity severity = Severity::kNote;
  std::vector<std::string> nodes;  // as named in the model
  std::string text;                // one or two sentences with their numbers
  std::string shows;
  std::string does_not_show;
  std::string next;  // a command, or what to look at
  Json evidence;     // the numbers behind the text
};

Json to_json(const Finding& finding);

// The catalogue: one function per wording. Each takes facts and fills every part of the finding.
namespace catalogue {

struct RangeFacts {
  std::string node;
  std::string op;
  std::string tensor;
  std::string format;              // "float16"
  double reference_max_abs = 0;    // largest finite magnitude of the reference
  double limit = 0;                // overflow: largest finite value of the format; underflow: its smallest normal value
  double lost_energy = 0;          // underflow: share of the energy that is lost
  std::vector<std::string> group;  // further nodes with a consequential range violation
  std::string constant;            // name of the constant that does not fit; empty: the result itself
  uint64_t device_nonfinite = 0;   // elements that the device's local result alone has as NaN or infinity
};
// `consequence`: how it was established that the violation matters, see Consequence.
enum class Consequence {
  kInjected,  // injecting this node's local error alone into the reference reproduces the deviation
  kPath,      // a path of deviating tensors leads from it to an output that deviates
};
Finding range_overflow(const RangeFacts& facts, Consequence consequence);
Finding range_underflow(const RangeFacts& facts, Consequence consequence);
Finding constant_not_representable(const RangeFacts& facts, Consequence consequence);  // facts.constant, its max_abs
Finding nonfinite_made(const RangeFacts& facts, Consequence consequence);  // values fit, the result is NaN or infinite
Finding range_harmless(const std::vector<RangeFacts>& nodes);              // note: violations that change no output

struct CauseFacts {
  std::string node;
  std::string op;
  double local_nmse = 0;
  double x_baseline = 0;  // NaN: none
  double share = 0;       // of the observed deviation, injected alone
};
Finding local_cause(const CauseFacts& facts);
Finding amplified(const CauseFacts& facts, const std::string& amplifier, double amplification);
// Of these three no cause was convicted. `demanded`: a gate failed, or the device alone made NaN, infinities or a dead
// output; only then is the deviation a fault. Else nobody said how close the outputs have to be, and it is a note.
Finding spread(double all_share, const std::vector<std::string>& largest, bool demanded);
Finding not_reproduced(double all_share, const std::string& first_divergence, bool demanded);
Finding search_incomplete(double tested_share, const std::string& first_divergence, bool demanded);
Finding decision_only(const std::vector<std::string>& decisions);

Finding partial_placement(const std::string& provider, uint64_t on_device, uint64_t total, uint64_t partitions,
                          const std::vector<std::string>& elsewhere);
Finding placement_unknown(const std::string& provider);
Finding probe_effect(const std::string& output, double unmarked, double marked);

// Where nodes ran (paritas placement).
struct PlacementFacts {
  std::string provider;
  uint64_t on_device = 0, total = 0, partitions = 0;
  std::string counted;        // what `total` counts: "nodes of the optimised graph", "nodes of the source graph"
  bool assigned = false;      // the runtime says which nodes it handed to the provider
  uint64_t traced_ops = 0;    // device operations that the provider compiled; 0: no op trace
  uint64_t executed_ops = 0;  // device operations with cycles above 0; 0: no cycles
  bool profiled = false;      // the runtime's profile shows the partitions running
};
Finding placement_shown(const PlacementFacts& facts);  // note: what the evidence carries, and what not
Finding nothing_placed(const std::string& provider, uint64_t total);
Finding cpu_fallback(const std::string& provider, const std::vector<std::string>& nodes);
Finding vendor_cpu(const std::string& provider, uint64_t nodes);
Finding evidence_contradicts(const std::string& text, const std::vector<std::string>& nodes);
Finding placement_required(const std::string& requirement, double share, uint64_t on_device, uint64_t total,
                           const std::vector<std::string>& missing);
Finding context_opaque(uint64_t contexts, const std::string& provider);
Finding placement_changed(const std::string& before, uint64_t moved, uint64_t partitions_before,
                          uint64_t partitions_after, const std::vector<std::string>& nodes);

struct PinFacts {
  std::vector<std::string> pins;     // "Softmax=CPU"
  std::vector<std::string> touched;  // nodes that the pin concerns
  uint64_t moved = 0;                // of them, on the CPU with the pin
  uint64_t moved_too = 0;            // other nodes that left the device
  std::string provider;
  uint64_t device_nodes = 0;  // left on the device
  uint64_t partitions_before = 0, partitions_after = 0;
  std::vector<std::string> outputs;      // that deviated before
  std::vector<std::string> cannot_tell;  // outputs that depend on random operators
  std::string figures;  // "scores: largest value 0.3389 without the pin, 0.3193 with it, reference 0.962"
};
Finding pin_did_not_repair(const PinFacts& facts, const std::vector<std::string>& still);
Finding pin_matches_on_cpu(const PinFacts& facts);
Finding pin_without_effect(const PinFacts& facts);
Finding pin_nothing_to_repair(const PinFacts& facts, const std::vector<std::string>& broken);
Finding pin_cannot_tell(const PinFacts& facts);  // every output depends on random operators

}  // namespace catalogue

}  // namespace paritas
