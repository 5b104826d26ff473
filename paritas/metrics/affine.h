// Real values of quantised integers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace paritas {

// real = (q - zero_point) * scale, in double. One entry, or one per index along an axis: element i has the entry
// (i / inner) % scale.size(), where inner is the product of the dimensions behind the axis.
struct Affine {
  std::vector<double> scale;
  std::vector<double> zero_point;  // as many as scale
  uint64_t inner = 1;
};

// Codes, widened to double, become real values in place. `first`: index of values[0] in the tensor. Inline, so that the
// fused pass has it compiled for each of its instruction sets.
inline void dequantise(const Affine& affine, uint64_t first, std::span<double> values) {
  if (affine.scale.size() == 1) {
    for (double& value : values) value = (value - affine.zero_point[0]) * affine.scale[0];
    return;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t channel = (first + i) / affine.inner % affine.scale.size();
    values[i] = (values[i] - affine.zero_point[channel]) * affine.scale[channel];
  }
}

}  // namespace paritas
