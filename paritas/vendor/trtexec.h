// What trtexec writes: --exportOutput (JSON with decimal values) and --dumpRawBindingsToFile (one raw file per binding,
// named NAME.input|output.DIMS.TYPE.raw).
#pragma once

#include "paritas/vendor/found.h"

namespace paritas {

// Values are decimal text: the type is the declared one, else the model's, else float32, which a note says.
Result<Found> find_trtexec_json(const Path& path, const ImportContext& context);

struct TrtexecRawName {
  std::string name;
  Role role = Role::kOutput;
  Shape shape;
  DType dtype = DType::kF32;
};
// nullopt for a file name that does not follow the pattern.
std::optional<TrtexecRawName> parse_trtexec_raw_name(const std::string& file);

Result<Found> find_trtexec_raw(const Path& folder, const ImportContext& context);

}  // namespace paritas
