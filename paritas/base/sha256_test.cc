#include "paritas/base/sha256.h"

#include <string_view>

#include <gtest/gtest.h>

#include "paritas/base/test_files.h"

namespace paritas {
namespace {

std::string hash_of(std::string_view text) { return sha256_hex(std::as_bytes(std::span(text))); }

// FIPS 180-4 examples.
constexpr const char* kEmpty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr const char* kAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(Sha256, KnownAnswers) {
  EXPECT_EQ(hash_of(""), kEmpty);
  EXPECT_EQ(hash_of("abc"), kAbc);
}

TEST(Sha256, PartsGiveTheSameHash) {
  Sha256 hash;
  const std::string_view text = "abc";
  for (size_t i = 0; i < 3; ++i) hash.update(std::as_bytes(std::span(text)).subspan(i, 1));
  Sha256 moved = std::move(hash);
  EXPECT_EQ(moved.finish(), kAbc);
}

TEST(Sha256, FilesLongerThanABlock) {
  const TestFolder folder;
  const std::string content((1 << 20) + 12345, 'q');
  EXPECT_EQ(*sha256_of_file(folder.write("f", content)), hash_of(content));
  EXPECT_EQ(*sha256_of_file(folder.write("e", "")), kEmpty);
  EXPECT_FALSE(sha256_of_file(folder.path() / "none"));
}

}  // namespace
}  // namespace paritas
