// One function of one variable as a side computes it: errors by input interval, where it saturates, which form of GELU
// it is. Pure functions of the values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "paritas/base/dtype.h"

namespace paritas {

// What the function tends to on a side.
enum class Tail {
  kNone,      // grows, or has no limit that is reached
  kConstant,  // a limit other than zero
  kZero,
  kIdentity,  // y = x
};

struct CurveKind {
  Tail left = Tail::kNone, right = Tail::kNone;
  double left_limit = 0, right_limit = 0;  // of kConstant
  bool gelu = false;                       // exact and tanh form are told apart
};
// By operator type ("com.microsoft::Gelu" too); nullopt: not a function that is looked into.
std::optional<CurveKind> curve_kind(const std::string& op);

// Values of one function, element by element.
struct CurveValues {
  std::vector<double> x;
  std::vector<double> reference;  // f(x)
  std::vector<double> device;
  // The reference's f of x rounded to the device's storage type, rounded to it: what the format alone costs. Empty when
  // no storage type is known.
  std::vector<double> stored;
};

// Inputs in [from, to).
struct CurveInterval {
  double from = 0, to = 0;
  uint64_t count = 0;
  double share = 0;       // of all finite inputs
  uint64_t compared = 0;  // reference and device finite: what the figures are of
  double max_abs = 0, mean_abs = 0;
  double max_rel = 0;  // of |device - reference| / |reference|, where that is not zero
  std::optional<double> stored_max_abs, stored_max_rel;  // the same for `stored`
  uint64_t lost = 0;                                     // device exactly zero, reference (or stored, where known) not
  uint64_t nonfinite = 0;  // device NaN or infinite, reference (or stored) finite; not in the figures above
};
// Fixed edges, so that tables of different nodes can be compared; intervals without inputs are left out.
std::vector<CurveInterval> curve_intervals(const CurveValues& values);

// From where on, going outwards, the output does not change any more (kIdentity: equals the input).
struct Saturation {
  std::optional<double> from;  // innermost such input; absent: none of the inputs reaches it
  double level = 0;            // the output there
  uint64_t beyond = 0;         // inputs from there outwards
};

struct CurveSide {
  Tail tail = Tail::kNone;
  double limit = 0;
  Saturation reference, device;
  std::optional<Saturation> stored;
  double share_beyond = 0;  // of all finite inputs, on the device
  // Inputs where the device has saturated and `stored` (without a storage type: the reference) has not.
  uint64_t early = 0;
  double early_max_abs = 0;  // largest |reference - level| among them: what is lost
};
// Left and right. A plateau away from the limit counts when at least three different inputs, 0.25 apart, share it.
std::array<CurveSide, 2> curve_sides(const CurveKind& kind, const CurveValues& values, std::optional<DType> storage);

// Exact GELU, x Phi(x), or the form with tanh? `position` is the median of (y - exact) / (tanh form - exact) over
// inputs where the forms differ by more than rounding: 0 exact, 1 tanh.
struct GeluForm {
  std::string form;         // "exact", "tanh", "neither", "cannot tell"
  double position = 0;      // NaN: cannot tell
  uint64_t deciding = 0;    // inputs where the forms differ enough
  double max_distance = 0;  // largest |y - nearest form| over all inputs
};
// `type`: in which y was computed. `sums`: 1 + erf was rounded on the way, as it is where a GELU stands in parts.
GeluForm gelu_form(const std::vector<double>& x, const std::vector<double>& y, DType type, bool sums);

}  // namespace paritas
