// Lookup in a list of named tensors.
#pragma once

#include "paritas/recording/sample_stream.h"

namespace paritas {

// The first tensor of that name; nullptr: there is none.
const Tensor* find_tensor(const NamedTensors& tensors, const std::string& name);

}  // namespace paritas
