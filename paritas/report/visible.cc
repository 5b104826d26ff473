#include "paritas/report/visible.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

namespace paritas {
namespace {

// Codes of style.cc.
constexpr std::string_view kOurs[] = {"\x1b[0m",    "\x1b[1m",    "\x1b[2m",   "\x1b[1;31m",
                                      "\x1b[1;32m", "\x1b[1;33m", "\x1b[1;35m"};

struct Character {
  uint32_t code = 0;
  size_t bytes = 0;  // 0: no UTF-8
};

// Shortest form only, no surrogates, up to U+10FFFF.
Character character_at(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(text[i])); };
  const uint32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const size_t bytes = first >= 0xF0 && first < 0xF5 ? 4 : first >= 0xE0 && first < 0xF0 ? 3 : first >= 0xC2 ? 2 : 0;
  if (bytes == 0 || first >= 0xF5 || text.size() < bytes) return {first, 0};
  uint32_t code = first & (0x7FU >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {first, 0};
    code = code << 6 | (byte(i) & 0x3FU);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[bytes] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return {first, 0};
  return {code, bytes};
}

bool is_control(uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x61C || code == 0x200E || code == 0x200F ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x206F) || code == 0xFEFF ||
         (code >= 0xFFF9 && code <= 0xFFFB) || (code >= 0xE0000 && code <= 0xE007F);
}

std::string escaped(uint32_t code) {
  switch (code) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return code < 0x100 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
  }
}

}  // namespace

std::string visible(std::string_view text, VisibleOptions options) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character c = character_at(text);
    size_t used = std::max<size_t>(c.bytes, 1);
    const auto* ours = std::end(kOurs);
    if (options.colours && c.code == 0x1B)
      ours = std::find_if(std::begin(kOurs), std::end(kOurs),
                          [&](std::string_view sequence) { return text.starts_with(sequence); });
    if (ours != std::end(kOurs)) {
      used = ours->size();
      out += *ours;
    } else if (c.bytes == 0 || (is_control(c.code) && !(options.lines && (c.code == '\n' || c.code == '\t')))) {
      out += escaped(c.code);
    } else {
      out += text.substr(0, used);
    }
    text.remove_prefix(used);
  }
  return out;
}

}  // namespace paritas
