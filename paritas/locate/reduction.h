// Rows of a tensor along some of its axes. Internal to locate.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "paritas/tensor/float_formats.h"
#include "paritas/tensor/tensor.h"

namespace paritas {

// Elements of one reduction: `length` of them, `inner` apart.
struct Reduction {
  uint64_t outer = 1, length = 1, inner = 1;
};

inline Reduction reduction_of(const Shape& shape, size_t first, size_t last) {
  Reduction r;
  for (size_t i = 0; i < shape.size(); ++i) {
    const auto size = static_cast<uint64_t>(shape[i]);
    (i < first ? r.outer : i > last ? r.inner : r.length) *= size;
  }
  return r;
}

// nullopt: no axis of this tensor.
inline std::optional<size_t> axis_of(int64_t axis, size_t rank) {
  const auto signed_rank = static_cast<int64_t>(rank);
  if (axis < -signed_rank || axis >= signed_rank) return std::nullopt;
  return static_cast<size_t>(axis < 0 ? axis + signed_rank : axis);
}

// Calls `each` with the elements of every reduction in turn.
inline void for_rows(const TensorView& view, const Reduction& r,
                     const std::function<void(std::vector<double>&)>& each) {
  std::vector<double> row(r.length), one(1);
  for (uint64_t outer = 0; outer < r.outer; ++outer)
    for (uint64_t inner = 0; inner < r.inner; ++inner) {
      const uint64_t first = outer * r.length * r.inner + inner;
      if (r.inner == 1) {
        load_as_double(view.dtype(), view.bytes(), first, row);
      } else {
        for (uint64_t i = 0; i < r.length; ++i) {
          load_as_double(view.dtype(), view.bytes(), first + i * r.inner, one);
          row[i] = one[0];
        }
      }
      each(row);
    }
}

}  // namespace paritas
