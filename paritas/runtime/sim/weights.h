// Constants that are weights, rounded to int8 values.
#pragma once

#include "paritas/onnx/graph_index.h"
#include "paritas/onnx/model.h"

namespace paritas::sim {

// A copy of the model in which Conv, ConvTranspose, Gemm and MatMul read rounded copies of their constant weights. Each
// output channel has its own scale with `per_channel` (an operand of one dimension, or on the left of a MatMul, has one
// scale all the same), and no code is -128. Fails for weights that the graph computes from constants, and for NaN and
// infinities.
Result<onnx_model::Model> round_weights(const onnx_model::Model& model, bool per_channel,
                                        const onnx_model::ValueDependence& dependence);

}  // namespace paritas::sim
