// Weights of ONNX models. Internal to this folder.
#pragma once

#include "paritas/weights/weights.h"

namespace paritas {

Result<Weights> weights_of_onnx(const Path& model);

}  // namespace paritas
