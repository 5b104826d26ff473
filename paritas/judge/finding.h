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

}  // namespace catalogue

}  // namespace paritas
