// What importers find must be readable as announced, or refused with a cause.
#pragma once

#include "fuzz/memory_file.h"
#include "paritas/vendor/found.h"

namespace paritas {

inline void require_refusal(const Error& error) { require(!error.cause.empty() && !error.subject.empty()); }

inline void read_sample(const FoundSample& sample) {
  for (const FoundTensor& found : sample) {
    const auto tensor = found.read();
    if (!tensor) {
      require_refusal(tensor.error());
      continue;
    }
    require(tensor->dtype == found.dtype && tensor->shape == found.shape);
    require(tensor->bytes.size() == byte_size(tensor->dtype, tensor->count()));
    require(TensorView::of(*tensor).has_value());
  }
}

inline void read_found(const Result<Found>& found) {
  if (!found) return require_refusal(found.error());
  for (const FoundSample& sample : found->samples) read_sample(sample);
}

}  // namespace paritas
