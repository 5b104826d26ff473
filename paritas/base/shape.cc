#include "paritas/base/shape.h"

#include <fmt/format.h>

namespace paritas {

Result<uint64_t> element_count(const Shape& shape) {
  uint64_t count = 1;
  bool empty = false;
  for (int64_t dim : shape) {
    if (dim < 0) return input_error("", fmt::format("shape {} has a negative dimension", to_string(shape)));
    if (dim == 0) {
      empty = true;
      continue;  // go on: a later dimension may still be unlawful
    }
    if (count > kMaxElements / static_cast<uint64_t>(dim))
      return input_error("", fmt::format("shape {} has more elements than any file can hold", to_string(shape)));
    count *= static_cast<uint64_t>(dim);
  }
  return empty ? 0 : count;
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i) text += ',';
    text += std::to_string(shape[i]);
  }
  return text + "]";
}

}  // namespace paritas
