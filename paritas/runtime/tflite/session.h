// TFLite models in a worker process, through TensorFlow Lite's C library.
#pragma once

#include <memory>

#include "paritas/runtime/backend.h"

namespace paritas::tflite {

// Intermediate tensors may be fetched as outputs are: behind kernels that can be followed they are written as soon as
// their operator ran; else the session runs a copy of the model in which they are outputs too.
Result<std::unique_ptr<Backend>> load_backend(const Path& library, const Path& scratch);

}  // namespace paritas::tflite
