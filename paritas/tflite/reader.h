// The bytes of a .tflite file as checked flatbuffer tables. Internal to this folder.
#pragma once

#include <memory>
#include <span>

#include <paritas_tflite_container/container_generated.h>

#include "paritas/base/files.h"

namespace paritas::tflite {

struct Verified {
  std::shared_ptr<const File> file;
  std::shared_ptr<const Mapping> mapping;
  std::span<const uint8_t> flatbuffer;  // offsets of flatbuffers reach no further than 2 GiB; buffers behind may
  const container::Model* model = nullptr;
};

// Errors: not a TFLite file, or a table that leaves the file.
Result<Verified> verify_file(const Path& path);

}  // namespace paritas::tflite
