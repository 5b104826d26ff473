// What a tensor's quantisation means for its elements.
#pragma once

#include <string>

#include "paritas/metrics/affine.h"
#include "paritas/recording/provenance.h"

namespace paritas {

// Errors: a scale that is not positive and finite, zero points that do not match the scales, or an axis that does not
// fit the shape. No zero point means 0, and one stands for all scales; a negative axis counts from behind. `subject`
// names the tensor in the error.
Result<Affine> affine_of(const Quantisation& quantisation, const Shape& shape, const std::string& subject);

}  // namespace paritas
