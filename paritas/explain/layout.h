// Does another order of axes explain a difference?
#pragma once

#include <vector>

#include "paritas/explain/types.h"

namespace paritas {

// A layout explains it where the best order of axes has a hundredth of the error in place, and itself matches.
inline constexpr double kLayoutFactor = 100;
inline constexpr double kLayoutMatches = 0.1;   // NMSE: 10 dB
inline constexpr double kLayoutSuspects = 0.1;  // below in place, the values lie where they should
inline constexpr uint64_t kLayoutElements = uint64_t{1} << 22;

// Real values of one sample in C order. Different shapes: the error in place is infinite.
LayoutFigures layout_of(const std::vector<double>& reference, const Shape& reference_shape,
                        const std::vector<double>& device, const Shape& device_shape);

}  // namespace paritas
