#include "paritas/base/sha256.h"

#include <array>
#include <cassert>
#include <vector>

#include <openssl/evp.h>

namespace paritas {

struct Sha256::Impl {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~Impl() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : impl_(std::make_unique<Impl>()) {
  [[maybe_unused]] int ok = EVP_DigestInit_ex(impl_->context, EVP_sha256(), nullptr);
  assert(ok == 1);
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::span<const std::byte> bytes) { EVP_DigestUpdate(impl_->context, bytes.data(), bytes.size()); }

std::string Sha256::finish() {
  std::array<unsigned char, 32> digest{};
  unsigned int size = 0;
  EVP_DigestFinal_ex(impl_->context, digest.data(), &size);
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (unsigned char byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string sha256_hex(std::span<const std::byte> bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish();
}

Result<std::string> sha256_of_file(const Path& path) {
  PARITAS_ASSIGN(auto file, File::open(path));
  Sha256 hash;
  std::vector<std::byte> block(1 << 20);
  for (uint64_t at = 0; at < file->size(); at += block.size()) {
    auto part = std::span(block).first(std::min<uint64_t>(block.size(), file->size() - at));
    PARITAS_TRY(file->read(at, part));
    hash.update(part);
  }
  return hash.finish();
}

}  // namespace paritas
