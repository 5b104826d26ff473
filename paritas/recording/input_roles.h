// Tensors that the user declares to be inputs, in streams that do not tell: a folder of arrays knows no roles.
#pragma once

#include <memory>
#include <set>

#include "paritas/recording/sample_stream.h"

namespace paritas {

// Names that the stream does not have are left alone.
std::unique_ptr<SampleStream> with_inputs(std::unique_ptr<SampleStream> stream, const std::set<std::string>& inputs);

}  // namespace paritas
