// SHA-256 (OpenSSL EVP), as lower-case hexadecimal text.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "paritas/base/error.h"
#include "paritas/base/files.h"

namespace paritas {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  void update(std::span<const std::byte> bytes);
  std::string finish();  // 64 hexadecimal digits; the object is used up

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

std::string sha256_hex(std::span<const std::byte> bytes);
Result<std::string> sha256_of_file(const Path& path);  // streams: constant memory

}  // namespace paritas
