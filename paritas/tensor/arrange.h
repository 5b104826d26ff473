// Tensors that lie in memory otherwise than row by row: padded rows and other orders of axes. The results lie in
// memory.
#pragma once

#include <string>
#include <vector>

#include "paritas/tensor/tensor.h"

namespace paritas {

// A buffer whose rows (along the last axis) begin every `row_pitch` bytes. The last row may end without padding.
// Errors: the buffer has neither rows * row_pitch bytes nor that without the last padding; the pitch is smaller than a
// row; 4-bit types.
Result<Tensor> without_padding(const Bytes& buffer, DType dtype, const Shape& shape, uint64_t row_pitch,
                               const std::string& subject);

// Axis i of the result is axis order[i] of the tensor, as in numpy.transpose. Errors: not a permutation; 4-bit types.
Result<Tensor> transposed(const Tensor& tensor, const std::vector<size_t>& order, const std::string& subject);

// Between layouts named by letters, e.g. "NHWC" to "NCHW". Errors: not the same letters, or not as many as axes.
Result<Tensor> to_layout(const Tensor& tensor, const std::string& from, const std::string& to,
                         const std::string& subject);

}  // namespace paritas
