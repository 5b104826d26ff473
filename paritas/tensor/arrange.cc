#include "paritas/tensor/arrange.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace paritas {

Result<Tensor> without_padding(const Bytes& buffer, DType dtype, const Shape& shape, uint64_t row_pitch,
                               const std::string& subject) {
  if (bits(dtype) < 8) return input_error(subject, fmt::format("{} elements have no row pitch", name(dtype)));
  PARITAS_ASSIGN(const uint64_t count, element_count(shape));
  const uint64_t row_elements = shape.empty() ? 1 : static_cast<uint64_t>(shape.back());
  const uint64_t rows = row_elements == 0 ? 0 : count / row_elements;
  const uint64_t row_bytes = byte_size(dtype, row_elements);
  if (row_pitch < row_bytes)
    return input_error(subject, fmt::format("a row of {} bytes does not fit a pitch of {}", row_bytes, row_pitch),
                       "correct the row pitch");
  // Compared by division: the product may not fit 64 bits.
  const uint64_t size = buffer.size();
  const bool fits = rows == 0 ? size == 0
                              : size >= row_bytes && (size - row_bytes) / row_pitch + (row_pitch == 0) == rows - 1 &&
                                    ((size - row_bytes) % row_pitch == 0 || size % row_pitch == 0);
  if (!fits)
    return input_error(subject, fmt::format("has {} bytes; {} rows every {} bytes do not fit", size, rows, row_pitch),
                       "correct shape, type or row pitch");
  std::vector<std::byte> dense(rows * row_bytes);
  for (uint64_t row = 0; row < rows; ++row)
    PARITAS_TRY(buffer.read(row * row_pitch, std::span(dense).subspan(row * row_bytes, row_bytes)));
  return make_tensor(dtype, shape, Bytes::in_memory(std::move(dense)), subject);
}

Result<Tensor> transposed(const Tensor& tensor, const std::vector<size_t>& order, const std::string& subject) {
  const size_t rank = tensor.shape.size();
  std::vector<size_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i)
    if (sorted.size() != rank || sorted[i] != i) return input_error(subject, "the order of axes is no permutation");
  if (bits(tensor.dtype) < 8) return input_error(subject, fmt::format("{} cannot be transposed", name(tensor.dtype)));
  PARITAS_ASSIGN(const TensorView view, TensorView::of(tensor));
  std::vector<uint64_t> stride(rank, 1);
  for (size_t i = rank; i-- > 1;) stride[i - 1] = stride[i] * static_cast<uint64_t>(tensor.shape[i]);
  Shape shape;
  std::vector<uint64_t> step;
  for (size_t axis : order) {
    shape.push_back(tensor.shape[axis]);
    step.push_back(stride[axis]);
  }
  const size_t width = static_cast<size_t>(bits(tensor.dtype)) / 8;
  std::vector<std::byte> out(view.bytes().size());
  std::vector<int64_t> index(rank, 0);
  uint64_t from = 0;
  for (uint64_t i = 0; i < view.count(); ++i) {
    std::memcpy(out.data() + i * width, view.bytes().data() + from * width, width);
    for (size_t axis = rank; axis-- > 0;) {
      from += step[axis];
      if (++index[axis] < shape[axis]) break;
      from -= step[axis] * static_cast<uint64_t>(shape[axis]);
      index[axis] = 0;
    }
  }
  return make_tensor(tensor.dtype, std::move(shape), Bytes::in_memory(std::move(out)), subject);
}

Result<Tensor> to_layout(const Tensor& tensor, const std::string& from, const std::string& to,
                         const std::string& subject) {
  const auto refuse = [&](const std::string& cause) {
    return input_error(subject, fmt::format("layout {} to {}: {}", from, to, cause), "name every axis once, e.g. NCHW");
  };
  if (from.size() != tensor.shape.size()) return refuse(fmt::format("the tensor has {} axes", tensor.shape.size()));
  std::vector<size_t> order;
  for (char axis : to) {
    const auto at = from.find(axis);
    if (at == std::string::npos || from.find(axis, at + 1) != std::string::npos) return refuse("not the same axes");
    order.push_back(at);
  }
  if (order.size() != from.size()) return refuse("not the same axes");
  return transposed(tensor, order, subject);
}

}  // namespace paritas
