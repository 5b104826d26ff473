// A file that exists in memory only, so that fuzz targets reach readers that take a path.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "paritas/base/files.h"

namespace paritas {

class MemoryFile {
 public:
  MemoryFile(const uint8_t* data, size_t size) : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    if (descriptor_ < 0) std::abort();
    for (size_t at = 0; at < size;) {
      const ssize_t put = ::write(descriptor_, data + at, size - at);
      if (put <= 0) std::abort();
      at += static_cast<size_t>(put);
    }
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  Path path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

// What a fuzz target demands; asserts would vanish with NDEBUG.
inline void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace paritas
