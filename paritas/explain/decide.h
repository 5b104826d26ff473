// From figures to one cause. Order: global to local, activations before weights, quantisation before kernels.
#pragma once

#include "paritas/explain/types.h"

namespace paritas {

// Where the thresholds come from: docs/explain.md.
inline constexpr double kLostDb = 30;        // SQNR: 1/1000 of the energy; 10 dB under 8 bits of a Gaussian at 4 sigma
inline constexpr double kCoarseDb = 20;      // without a mechanism: 1/100
inline constexpr double kWide = 2;           // scale / asked: a bit lost
inline constexpr double kOutliers = 4;       // largest / p99.9: two bits
inline constexpr double kOutlierSteps = 32;  // p99.9 in steps: a Gaussian of which it is 3.3 sigma has 30 dB there
inline constexpr double kSharedLevels = 8;   // shared scale / own scale: three bits
inline constexpr double kBiasSteps = 0.5;    // of the output
inline constexpr double kBadNmse = 1e-3;     // of a layer that is worth an explanation, as kLostDb
inline constexpr double kInherited = 0.5;    // share of the error in front of the layer
inline constexpr double kOrderSteps = 1;     // of integer results with equal inputs
inline constexpr double kOrderNmse = 1e-10;  // of floating-point results with equal inputs

void decide(LayerExplanation& layer, uint64_t samples);

}  // namespace paritas
