// Takes away the Round nodes that stand right behind constants, by rounding the constants themselves.
#pragma once

#include "paritas/onnx/model.h"
#include "paritas/runtime/target.h"

namespace paritas::sim {

// For initialisers and for Constant nodes with a tensor value, in bodies too. `scratch` as for simulate().
Status fold_rounded_constants(onnx_model::Model& model, const SimulatedFormat& format, const Path& scratch);

}  // namespace paritas::sim
