// NVIDIA Polygraphy's JSON: RunResults (polygraphy run --save-outputs) and input data (--save-inputs). Arrays are .npy
// files in base64; they are decoded one at a time, when their sample is asked for.
#pragma once

#include "paritas/vendor/found.h"

namespace paritas {

// The samples are the iterations of one runner: the only one, or the one that options.runner (a name or a pattern with
// * and ?) picks. Arrays that are not numpy's (torch tensors hold pickles) are refused.
Result<Found> find_polygraphy(const Path& path, const ImportOptions& options);

}  // namespace paritas
