// Wordings of `paritas explain`: what in a layer's own figures makes it err. All are notes: what becomes of the answer
// is not measured there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paritas/judge/finding.h"

namespace paritas::catalogue {

enum class CauseClass { kActivations, kWeights, kOperator, kLayout, kOrder, kNone, kCannotTell };
std::string_view name(CauseClass cause);

struct LayerFacts {
  std::string layer, op;
  std::string inherits;  // "its inputs are at 20.1 dB, its output at 18.0 dB"; empty: not known
};

struct RangeUse {
  std::string tensor;
  std::string type;                                          // "uint8"
  double scale = 0, asked_scale = 0;                         // in use, asked for by the data
  double low = 0, high = 0;                                  // of the quantiser
  double min = 0, max = 0, p90 = 0, p99_9 = 0, max_abs = 0;  // of the reference's values; percentiles of |x|
  uint64_t clipped = 0, count = 0;
  uint64_t levels = 0, levels_used = 0;
  double own_sqnr_db = 0;  // of quantising the reference's values, and nothing else
  uint64_t samples = 0, top_cut_samples = 0, largest_tie = 0;
  bool residual = false;
};
Finding explain_narrow(const LayerFacts& layer, const RangeUse& range);
Finding explain_wide(const LayerFacts& layer, const RangeUse& range);
Finding explain_outliers(const LayerFacts& layer, const RangeUse& range);
Finding explain_coarse(const LayerFacts& layer, const RangeUse& range);  // neither: the data needs more codes

struct SharedFacts {
  std::string tensor;
  uint64_t levels_used = 0, levels = 0;
  double scale = 0, own_scale = 0, min = 0, max = 0, sqnr_db = 0;
  std::string source;
};
Finding explain_shared(const LayerFacts& layer, const SharedFacts& shared);

struct WeightsFacts {
  std::string tensor, type;
  double sqnr_db = 0;
  std::optional<double> worst_channel_db, spread;
  int64_t worst_channel = 0;
  uint64_t lost = 0, elements = 0, dead = 0, channels = 0;
  std::optional<double> median_channel_db;
};
Finding explain_weights(const LayerFacts& layer, const WeightsFacts& weights);

struct BiasFacts {
  std::string tensor;
  uint64_t saturated = 0, elements = 0;
  double max_abs = 0;
  std::optional<double> output_steps;
};
Finding explain_bias(const LayerFacts& layer, const BiasFacts& bias);

Finding explain_layout(const LayerFacts& layer, const std::string& evidence);
// Both recordings are of one model and the layer's inputs are equal to the bit.
struct KernelFacts {
  uint64_t differing = 0, count = 0;
  double max_abs = 0, nmse = 0;
  std::optional<double> max_steps;
};
Finding explain_operator(const LayerFacts& layer, const KernelFacts& kernel);
Finding explain_order(const LayerFacts& layer, const KernelFacts& kernel);
Finding explain_inherited(const LayerFacts& layer);
Finding explain_nothing(const LayerFacts& layer, const std::string& figures);
Finding explain_cannot_tell(const LayerFacts& layer, const std::string& why);

}  // namespace paritas::catalogue
