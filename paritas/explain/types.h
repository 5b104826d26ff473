// What `paritas explain` finds out about a layer. Formulas: docs/explain.md. Anything optional that is absent was not
// looked at, and the layer's `not_looked_at` says why.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "paritas/base/shape.h"
#include "paritas/judge/catalogue_explain.h"
#include "paritas/judge/finding.h"
#include "paritas/recording/provenance.h"

namespace paritas {

struct ChannelFigures {
  int axis = 0;
  uint64_t count = 0;
  double smallest = 0, median = 0, largest = 0;  // max |w| of a channel, real values
  double spread = 0;                             // largest / median; inf where the median is 0
  uint64_t dead = 0;                             // every code is the zero point; float: every value is 0
};

// The stored weights against the float model's.
struct WeightError {
  double sqnr_db = 0;
  std::optional<double> worst_channel_db;  // of channels that are not all 0 in float
  int64_t worst_channel = 0;
  std::optional<double> median_channel_db;
  uint64_t lost = 0;           // not 0 in float, and the stored value is 0
  uint64_t dead_channels = 0;  // dead here, not all 0 in float
  double max_abs = 0;          // largest difference, real values
};

struct WeightFigures {
  std::string name;
  std::string type;  // "int8 per channel (32, axis 0)"
  Shape shape;
  bool bias = false;
  bool quantised = false;
  uint64_t elements = 0;
  double min = 0, max = 0;  // real values; NaN without finite ones
  uint64_t zero = 0;        // stored values that are 0
  uint64_t saturated = 0;   // codes at a limit of their type
  std::optional<ChannelFigures> channels;
  std::optional<WeightError> error;
  std::optional<double> bias_output_steps;  // error->max_abs in steps of the layer's output; a bias at its limits only
};

struct Distribution {
  uint64_t count = 0;  // finite values, over all samples
  uint64_t nonfinite = 0;
  double min = 0, max = 0, max_abs = 0;
  double p50 = 0, p90 = 0, p99 = 0, p99_9 = 0;  // of |x|, at most 1/64 above the exact one
};

// A quantiser of an activation, and what the data does to it.
struct QuantiserFigures {
  DType dtype = DType::kI8;
  double scale = 0, zero_point = 0;
  double low = 0, high = 0;                                  // real values of its smallest and largest code
  uint64_t levels = 0;                                       // codes that the type has
  uint64_t levels_used = 0;                                  // by the device, over all samples
  uint64_t count = 0, at_low = 0, at_high = 0;               // device codes
  bool low_is_bound = false, high_is_bound = false;          // the range ends where the layer's own activation does
  bool low_may_be_bound = false, high_may_be_bound = false;  // ends at 0 or 6, and nobody told of an activation
  // Of the reference's values:
  std::optional<double> asked_scale;  // that their range needs
  std::optional<double> ratio;        // scale / asked_scale
  uint64_t clipped = 0;               // beyond the range by more than half a step
  double own_nmse = 0;                // of quantising them, and nothing else
  double clip_nmse = 0;               // of it, by the clipped ones
  uint64_t top_cut_samples = 0;       // the sample's largest value is clipped
  uint64_t largest_tie = 0;           // codes at the upper limit in one of those samples
};

// Device against reference.
struct ErrorFigures {
  uint64_t count = 0, differing = 0, device_nonfinite = 0;
  double nmse = 0, max_abs = 0;
  std::optional<double> max_steps;  // of the quantiser
};

// One input of a Concat whose inputs share the output's scale.
struct SharedScale {
  std::string tensor;
  uint64_t levels_used = 0;  // codes of the shared quantiser that its values fall on
  double min = 0, max = 0;
  double own_scale = 0;  // that its own range would ask for
  double nmse = 0;       // of quantising it with the shared scale
  std::string source;    // "reference" or "device"
};

struct ValueFigures {
  std::string name;       // in the quantised model, before its quantiser
  std::string reference;  // paired tensor of the reference; empty: none
  std::string rule;       // of the pairing
  std::string source;     // of the distribution: "reference", "device"; empty: not looked at
  std::optional<Distribution> distribution;
  std::optional<QuantiserFigures> quantiser;
  std::optional<ErrorFigures> error;
};

enum class LayoutState { kNotLookedAt, kRuledOut, kConvicted };
struct LayoutFigures {
  LayoutState state = LayoutState::kNotLookedAt;
  double in_place = 0;  // NMSE of the first sample
  double best = 0;      // smallest NMSE of the permutations; NaN: none was tried
  std::vector<int> permutation;
  bool reread = false;  // the device's bytes read in another shape, instead of its axes moved
  std::string text;     // why, in words
};

struct LayerFigures {
  std::string name, op;
  ValueFigures output;
  std::vector<ValueFigures> inputs;  // activations
  std::vector<WeightFigures> weights;
  std::vector<SharedScale> shared;
  LayoutFigures layout;
  std::string activation;   // "RELU6 of the operator", "Clip of the float model"; empty: none is known
  bool same_model = false;  // both recordings are of one model
  bool residual = false;    // an addition of two activations
  std::vector<std::string> not_looked_at;
  std::vector<std::string> notes;
};

struct LayerExplanation {
  LayerFigures figures;
  catalogue::CauseClass cause = catalogue::CauseClass::kCannotTell;
  Finding finding;            // the sentence
  std::vector<Finding> also;  // further causes, in the order in which they were looked for
};

struct ExplainResult {
  std::string model, model_sha256, float_model, reference, device;  // empty: not given
  uint64_t samples = 0;
  std::vector<LayerExplanation> layers;
};

}  // namespace paritas
