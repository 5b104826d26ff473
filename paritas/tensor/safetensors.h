// The safetensors format: 8 bytes little-endian header length, JSON header, data. Every claim of the header is checked
// before use: lengths, overlaps, holes, duplicate names, dtype and shape against the byte range, nesting.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "paritas/base/sha256.h"
#include "paritas/tensor/tensor.h"

namespace paritas {

struct SafetensorsFile {
  std::vector<std::pair<std::string, Tensor>> tensors;  // in order of their data
  std::map<std::string, std::string> metadata;          // "__metadata__"

  const Tensor* find(const std::string& name) const;  // linear; index it when there are many
};

// Tensors stay in the file. 4-bit types come as uint8 here: whoever knows better (run.json) reinterprets them.
Result<SafetensorsFile> read_safetensors(const Path& path);

struct SafetensorsEntry {
  std::string name;
  DType dtype;
  Shape shape;
};

// Writes sequentially: all names, types and shapes first, then the data of each in the same order. 4-bit types are
// declared as U8 with the packed length. The file appears under its name only on finish().
class SafetensorsWriter {
 public:
  static Result<SafetensorsWriter> create(const Path& path, const std::vector<SafetensorsEntry>& entries,
                                          const std::map<std::string, std::string>& metadata, bool overwrite);
  Status append(std::span<const std::byte> data);  // whole tensors or parts, in order
  // Checks that every byte was written and commits; returns the SHA-256 of the file, hashed while writing.
  Result<std::string> finish();

 private:
  SafetensorsWriter(AtomicFile file, std::string subject, uint64_t expected)
      : file_(std::move(file)), subject_(std::move(subject)), expected_(expected) {}
  AtomicFile file_;
  std::string subject_;  // the path, for errors
  Sha256 hash_;
  uint64_t expected_;  // data bytes in all
  uint64_t written_ = 0;
};

Status write_safetensors(const Path& path, const std::vector<std::pair<std::string, Tensor>>& tensors,
                         const std::map<std::string, std::string>& metadata, bool overwrite);

}  // namespace paritas
