// Two lists of ids ranked by scores are the same answer when they differ only in the order of equal scores.
#pragma once

#include "paritas/base/error.h"
#include "paritas/tensor/tensor.h"

namespace paritas {

// Rows along the last axis. True when, row by row, the device's scores rank the ids as the reference does, except that
// ids with equal reference scores may come in any order. A tie at the end of the list may hide ids that did not make
// it; such a difference is not excused. Shapes: all four the same; else false.
Result<bool> equal_up_to_ties(const Tensor& reference_scores, const Tensor& reference_ids, const Tensor& device_scores,
                              const Tensor& device_ids);

}  // namespace paritas
