// What TFLite's benchmark_model writes with --output_filepath: the bytes of all outputs, one behind the other in the
// order of the model, without any header. Only the model tells where one ends.
#pragma once

#include "paritas/vendor/found.h"

namespace paritas {

// The file, or a folder that holds it as its only .bin or .raw file. The size must be that of all outputs together, to
// the byte.
Result<Found> find_tflite_outputs(const Path& path, const ImportContext& context);

}  // namespace paritas
