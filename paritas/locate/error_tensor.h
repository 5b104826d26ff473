// Errors to inject: tensors of differences, in the type of the tensor that they are added to. Elements where the
// reference is NaN, or the same as the other side, get no error.
#pragma once

#include <optional>

#include "paritas/tensor/tensor.h"

namespace paritas {

// factor * (device - reference). With `storage`, device values within its range are rounded to it first: a device may
// hand out graph outputs in more precision than it passes from one node to the next.
Result<Tensor> error_of(const Tensor& reference, const Tensor& device, std::optional<DType> storage, double factor = 1);

// What rounding the reference to `format` changes; values beyond the format become infinite.
Result<Tensor> rounding_error(const Tensor& reference, DType format);

// Gaussian noise whose expected energy is `nmse` times that of the reference's finite elements; the same for the same
// seed on every machine (mt19937_64, Box and Muller).
Result<Tensor> noise(const Tensor& reference, double nmse, uint64_t seed);

// The same value for every element.
Result<Tensor> offset(const Tensor& reference, double value);

}  // namespace paritas
