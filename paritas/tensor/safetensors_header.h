// The JSON header of a safetensors file, read and checked without building a document: recordings hold thousands of
// tensors, and a general parse costs more than comparing them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "paritas/base/dtype.h"
#include "paritas/base/error.h"
#include "paritas/base/shape.h"

namespace paritas {

// The reference implementation's limit.
inline constexpr uint64_t kMaxSafetensorsHeader = 100'000'000;

struct SafetensorsRange {
  std::string name;
  DType dtype = DType::kU8;
  Shape shape;
  uint64_t begin = 0;  // within the data, end is one past the last byte
  uint64_t end = 0;
};

struct SafetensorsHeader {
  std::vector<SafetensorsRange> tensors;  // in order of their data; together they cover it without holes or overlaps
  std::map<std::string, std::string> metadata;
};

// `data_size` is what the file holds after its header; `subject` names the file in errors.
Result<SafetensorsHeader> parse_safetensors_header(std::string_view text, uint64_t data_size,
                                                   const std::string& subject);

}  // namespace paritas
