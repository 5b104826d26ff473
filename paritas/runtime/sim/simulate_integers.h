// The integer simulator as a graph edit.
#pragma once

#include "paritas/onnx/model.h"
#include "paritas/runtime/sim/integers.h"

namespace paritas::sim {

// What simulate() does for integer formats:
//
// - weights of Conv, ConvTranspose, Gemm and MatMul that are constants become int8 values, symmetric, per output
// channel
//   or per tensor;
// - a FakeQuantise stands behind every float32 graph input and node output that depends on the inputs, with the
// recorded
//   range, but for what a device does not store: results that only a Relu or Clip reads, which is fused with the
//   operator in front of it; and what only moves values that have codes already (Reshape, Transpose, MaxPool ...),
//   which would be given the same codes again, or codes of another range that no device uses there;
// - biases and all other constants stay in float, and so do sums inside the kernels.
//
// An error names the tensor: without a range, of another float type than float32, with NaN or infinities in the
// recording. It also refuses what it could not do truthfully: another model than the recorded one, operators with
// bodies, networks that are quantised already, weights that are computed in the graph.
Result<onnx_model::Model> simulate_integers(const onnx_model::Model& model, const Integers& integers);

}  // namespace paritas::sim
