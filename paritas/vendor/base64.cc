#include "paritas/vendor/base64.h"

#include <array>
#include <cstring>

namespace paritas {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr uint32_t kBad = uint32_t{1} << 24;  // above the three bytes that four characters make

// Table N gives the bits of the character at position N of a group, already where they stand in the little-endian word
// of its three bytes: a group is four look-ups joined by "or".
using Tables = std::array<std::array<uint32_t, 256>, 4>;

constexpr Tables make_tables() {
  Tables tables{};
  for (auto& table : tables) table.fill(kBad);
  for (uint32_t value = 0; value < 64; ++value) {
    const auto c = static_cast<unsigned char>(kAlphabet[value]);
    tables[0][c] = value << 2;
    tables[1][c] = (value >> 4) | (value & 15) << 12;
    tables[2][c] = (value >> 2) << 8 | (value & 3) << 22;
    tables[3][c] = value << 16;
  }
  return tables;
}

constexpr Tables kTables = make_tables();

uint32_t group(const unsigned char* text) {
  return kTables[0][text[0]] | kTables[1][text[1]] | kTables[2][text[2]] | kTables[3][text[3]];
}

}  // namespace

std::optional<uint64_t> base64_size(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const uint64_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  return text.size() / 4 * 3 - padding;
}

bool base64_decode(std::string_view text, std::span<std::byte> out) {
  const auto* from = reinterpret_cast<const unsigned char*>(text.data());
  std::byte* to = out.data();
  uint32_t all = 0;
  const size_t groups = text.size() / 4;
  size_t done = 0;
  for (; done + 2 < groups; ++done) {  // a word of four bytes is stored: the next group writes over the fourth
    const uint32_t word = group(from + 4 * done);
    all |= word;
    std::memcpy(to + 3 * done, &word, 4);
  }
  for (; done < groups; ++done) {
    std::array<unsigned char, 4> last{};
    std::memcpy(last.data(), from + 4 * done, 4);
    const uint64_t room = out.size() - 3 * done;
    const size_t bytes = room < 3 ? room : 3;
    for (size_t i = bytes + 1; i < 4; ++i) last[i] = 'A';  // padding, which base64_size has found in place
    const uint32_t word = group(last.data());
    all |= word;
    std::memcpy(to + 3 * done, &word, bytes);
  }
  return (all & kBad) == 0;
}

}  // namespace paritas
