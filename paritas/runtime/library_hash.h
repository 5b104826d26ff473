// SHA-256 of the libraries that took part in a run, for provenance.
#pragma once

#include <future>
#include <string>

#include "paritas/base/error.h"
#include "paritas/base/files.h"

namespace paritas {

// Computed in the background (a 100 MB library takes 0.1 to 0.3 s), once per process for the same path, size and
// modification time.
std::shared_future<Result<std::string>> library_hash(const Path& path);

}  // namespace paritas
