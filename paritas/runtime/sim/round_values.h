// Rounding of whole tensors to a smaller float format, for the Round operator and for constants of simulated graphs.
#pragma once

#include <cstddef>
#include <span>

#include "paritas/base/dtype.h"
#include "paritas/runtime/target.h"

namespace paritas::sim {

// Types that rounding changes; tensors of any other type pass as they are.
bool is_rounded(DType dtype);

// `in` and `out` hold the same number of elements of `dtype` and may be the same memory; aligned for the type. Narrow
// types stay narrow: a float16 tensor rounded to bfloat16 holds the float16 nearest to the bfloat16.
void round_values(DType dtype, std::span<const std::byte> in, std::span<std::byte> out, const SimulatedFormat& format);

}  // namespace paritas::sim
