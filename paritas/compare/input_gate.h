// Are both runs fed with the same? Inputs are compared before any output: equal bytes, or equal after the declared
// quantisation of one side.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "paritas/base/error.h"
#include "paritas/base/json.h"
#include "paritas/recording/provenance.h"
#include "paritas/tensor/tensor.h"

namespace paritas {

// How a float input becomes a code: q = clamp(round(x / scale) + zero_point), or round(x / scale + zero_point) with the
// zero point inside the rounding. The division is done in float32 unless said otherwise, as numpy and TFLite do it.
struct QuantisationRule {
  double scale = 1;
  int64_t zero_point = 0;
  enum class Rounding { kTiesToEven, kTiesAway } rounding = Rounding::kTiesToEven;
  bool zero_point_inside = false;
  bool double_precision = false;

  std::string text() const;  // "ties to even, zero point outside, float32"
};

// "scale=0.0078,zero_point=128[,rounding=even|away][,zero_point_at=outside|inside][,arithmetic=float32|float64]"
Result<QuantisationRule> parse_quantisation_rule(const std::string& text, const std::string& subject);
// The same keys as an object.
Result<QuantisationRule> quantisation_rule_from_json(const Json& json, const std::string& subject);

// One float element as a code of `type` (int8, uint8, int16, uint16).
int64_t quantise(float value, DType type, const QuantisationRule& rule);

struct InputAgreement {
  bool equal = false;
  std::string text;  // "equal bytes", "equal after quantisation (...)", "12 of 150 elements differ, ..."
};

// One side float, the other quantised: the float side is quantised by the rule. `rule` empty: the quantisation that the
// recording knows for the integer side (`known`), with ties to even. Without either, or with types that are not float
// against 8 or 16 bits: nullopt, and the values count as they are.
Result<std::optional<InputAgreement>> compare_quantised_input(const Tensor& reference, const Tensor& device,
                                                              const std::optional<QuantisationRule>& rule,
                                                              const std::optional<Quantisation>& known);

}  // namespace paritas
