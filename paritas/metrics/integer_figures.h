// Figures of quantised tensors that only their codes tell: steps, levels in use, saturation. One more pass, for 8-bit
// and 16-bit integers; other types have no figures of this kind.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "paritas/base/error.h"
#include "paritas/tensor/tensor.h"

namespace paritas {

// Of one side.
struct CodeUse {
  uint64_t levels = 0;     // different codes in use
  uint64_t at_lowest = 0;  // elements at the type's smallest code
  uint64_t at_highest = 0;
  double entropy_bits = 0;  // Shannon entropy of the codes
};

struct IntegerFigures {
  static constexpr int kTail = 8;  // steps shown one by one
  uint64_t count = 0;
  // Elements whose device code minus reference code is -8 or less, -7, ..., 7, 8 or more.
  std::array<uint64_t, 2 * kTail + 1> steps{};
  double mean_step = 0;  // mean of |device - reference|
  double mean_bias = 0;  // mean of device - reference: a shift of all elements in one direction
  uint64_t max_step = 0;
  CodeUse reference, device;
};

// nullopt unless both sides have the same type and it is int8, uint8, int16 or uint16. Errors: as compare_tensors.
Result<std::optional<IntegerFigures>> integer_figures(const Tensor& reference, const Tensor& device, int threads);

}  // namespace paritas
