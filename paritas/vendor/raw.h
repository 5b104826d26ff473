// Raw binaries: bytes without a header. Type and shape come, in this order, from the command line, from a sidecar
// FILE.json ({"dtype": ..., "shape": [...]}), from what the format or the file name tells, from the model.
#pragma once

#include "paritas/vendor/found.h"

namespace paritas {

struct RawDeclaration {
  std::optional<DType> dtype;
  std::optional<Shape> shape;  // may have free dimensions (-1): one is found from the size
  std::string origin;          // "the model", for messages
};

struct RawLayout {
  DType dtype = DType::kF32;
  Shape shape;
};

// Type and shape of a file of `bytes` bytes; an error lists what would fit, and how `options` would say so.
Result<RawLayout> fit_raw(uint64_t bytes, const RawDeclaration& declaration, const std::string& subject,
                          const ImportOptions& options);

// What is declared for tensor `name` in `file`, `told` being what format or file name tell.
Result<RawDeclaration> raw_declaration(const Path& file, const std::string& name, const RawDeclaration& told,
                                       const ImportContext& context);

Result<FoundTensor> find_raw(const Path& file, const std::string& name, const RawDeclaration& told,
                             const ImportContext& context);

// A single file, or a folder of .raw and .bin files: one sample.
Result<Found> find_raw_files(const Path& path, const ImportContext& context);

bool is_raw_name(const std::string& file);

}  // namespace paritas
