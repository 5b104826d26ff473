// Number formats below float32 that a graph prescribes by itself, whoever runs it.
#pragma once

#include <vector>

#include "paritas/locate/consistency_types.h"
#include "paritas/onnx/model.h"

namespace paritas {

// By format, those that are computed in first. Formats that the graph only declares: a runtime may compute wider (ONNX
// Runtime's CPU computes most float16 nodes in float32). Model-local functions are not entered.
std::vector<DeclaredPrecision> declared_precision(const onnx_model::Model& model);

}  // namespace paritas
