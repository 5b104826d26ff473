// Rounds what enters a graph, and nothing else: for the input baseline.
#pragma once

#include "paritas/onnx/edit.h"

namespace paritas {

// Puts Round to `format` behind every graph input and initialiser. Node outputs stay as they are.
Result<onnx_model::Model> round_boundary(const onnx_model::Model& model, DType format);

}  // namespace paritas
