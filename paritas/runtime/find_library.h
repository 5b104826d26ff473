// Where the libraries of ONNX Runtime and its plug-ins lie on this machine. find_onnxruntime() is declared in target.h.
#pragma once

#include <optional>
#include <string>

#include "paritas/runtime/target.h"

namespace paritas {

// TensorFlow Lite's C library: `given`, else search.tflite (a file or a folder), else what the loader finds.
Result<Path> find_tflite(const RuntimeSearch& search, const std::optional<std::string>& given,
                         const std::string& subject);
// LiteRT: `given` (a library or a folder that holds it), or ai_edge_litert/ in the site folders.
Result<Path> find_litert(const RuntimeSearch& search, const std::optional<std::string>& given,
                         const std::string& subject);
// The QNN provider's plug-in: `given` (a library or a folder that holds it), or onnxruntime_qnn/ in the site folders.
Result<Path> find_qnn(const RuntimeSearch& search, const std::optional<std::string>& given, const std::string& subject);

}  // namespace paritas
