// TFLite models in a worker process, through LiteRT's CompiledModel.
#pragma once

#include <memory>

#include "paritas/runtime/backend.h"

namespace paritas::litert {

// Intermediate tensors may be fetched as outputs are: the session then runs a copy of the model in which they are
// outputs too. A model with signatures runs as a copy without them, which has its inputs and outputs in the graph's
// own order.
Result<std::unique_ptr<Backend>> load_backend(const Path& library, const Path& scratch);

}  // namespace paritas::litert
