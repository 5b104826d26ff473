// How the user of the command at hand declares what a dump does not tell: as an option, or as a key of a project file.
#pragma once

#include "paritas/vendor/import.h"

namespace paritas {

enum class Declaration { kFormat, kModel, kDtype, kShape, kNames, kInputList, kRunner, kOutputsOnly };

// "--shape", or "shapes under [recordings.device]".
std::string declaration_text(const ImportOptions& options, Declaration what);
// "--dtype scores=float32", or "dtypes = { scores = "float32" } under [recordings.device]".
std::string dtype_text(const ImportOptions& options, const std::string& tensor, DType dtype);
// What an error about that declaration is about: "--shape scores", or "recordings.device.shapes: "scores"".
std::string declaration_subject(const ImportOptions& options, Declaration what, const std::string& value);

}  // namespace paritas
