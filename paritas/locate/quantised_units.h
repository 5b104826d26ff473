// Operators that a graph declares as quantised: DequantizeLinear in front, QuantizeLinear behind.
#pragma once

#include <string>

#include "paritas/onnx/graph_index.h"

namespace paritas {

// The tensor lies inside such an operator: made from dequantised tensors, and read by QuantizeLinear alone, perhaps
// behind a Relu or Clip. A device that computes the operator in integers never has it; marked as an output it makes the
// device compute in floating point instead.
bool inside_quantised_unit(const onnx_model::GraphIndex& index, const std::string& tensor);

}  // namespace paritas
