// Tensor shapes. An empty shape is a scalar (one element); a dimension of 0 makes an empty tensor.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "paritas/base/error.h"

namespace paritas {

using Shape = std::vector<int64_t>;

// No tensor may claim more elements than this; it keeps every byte size (at most 8 bytes an element) within int64.
inline constexpr uint64_t kMaxElements = uint64_t{1} << 59;

// Product of the dimensions; an error for a negative dimension or a product over kMaxElements.
Result<uint64_t> element_count(const Shape& shape);

// "[1,3,160,160]", "[]"
std::string to_string(const Shape& shape);

}  // namespace paritas
