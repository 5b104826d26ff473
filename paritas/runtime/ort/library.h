// Opens the user's ONNX Runtime library and agrees on an API version. Once per process: a worker serves one library.
#pragma once

#include <string>

#include "paritas/base/error.h"
#include "paritas/base/files.h"

namespace paritas::ort {

struct LibraryInfo {
  std::string version;  // "1.32.0"
  Path path;            // as the loader resolved it
};

// Errors: absent, not a shared library, not ONNX Runtime, older than 1.24.
Result<LibraryInfo> load_library(const Path& path);

}  // namespace paritas::ort
