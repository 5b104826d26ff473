#include "paritas/tflite/reader.h"

#include <algorithm>
#include <cstring>

#include "paritas/tflite/model.h"

namespace paritas::tflite {
namespace {

constexpr uint64_t kLargestFlatbuffer = FLATBUFFERS_MAX_BUFFER_SIZE - 1;
constexpr uint64_t kSmallestFile = 12;     // root offset, identifier, a table's own offset
constexpr uint32_t kMostTables = 4000000;  // a table of the file takes at least 4 bytes; ours ends hostile nesting
constexpr uint32_t kDeepest = 64;

bool has_identifier(std::span<const std::byte> head) {
  return head.size() >= 8 && std::memcmp(head.data() + 4, container::ModelIdentifier(), 4) == 0;
}

}  // namespace

bool is_tflite(const Path& path) {
  const auto file = File::open(path);
  if (!file || (*file)->size() < kSmallestFile) return false;
  std::byte head[8];
  return (*file)->read(0, head).has_value() && has_identifier(head);
}

Result<Verified> verify_file(const Path& path) {
  Verified result;
  PARITAS_ASSIGN(result.file, File::open(path));
  if (result.file->size() < kSmallestFile) return input_error(path.string(), "is too short for a TFLite model");
  const uint64_t size = std::min(result.file->size(), kLargestFlatbuffer);
  PARITAS_ASSIGN(result.mapping, Mapping::map(result.file, 0, size));
  const std::span<const std::byte> bytes = result.mapping->bytes();
  if (!has_identifier(bytes))
    return input_error(path.string(), "is no TFLite model: the identifier TFL3 is absent", "give a .tflite file");
  result.flatbuffer = {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
  flatbuffers::Verifier verifier(result.flatbuffer.data(), result.flatbuffer.size(), kDeepest, kMostTables);
  if (!container::VerifyModelBuffer(verifier))
    return input_error(path.string(), "is damaged: one of its tables leaves the file",
                       "convert or copy the model again");
  result.model = container::GetModel(result.flatbuffer.data());
  return result;
}

}  // namespace paritas::tflite
