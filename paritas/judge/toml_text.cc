#include "paritas/judge/toml_text.h"

#include <algorithm>

#include <fmt/format.h>

namespace paritas {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool beyond_ascii(std::string_view text, size_t at) { return at < text.size() && (text[at] & 0x80) != 0; }

// Position behind the string that starts at `at`, or of a character beyond ASCII that follows a backslash and white space.
// A string that is not closed ends with its line (or the text): the parser refuses it there.
size_t behind_string(std::string_view text, size_t at) {
  const char quote = text[at];
  const std::string_view triple = quote == '"' ? "\"\"\"" : "'''";
  const bool lines = text.substr(at, 3) == triple;
  const std::string_view end = lines ? triple : triple.substr(0, 1);
  for (size_t i = at + end.size(); i < text.size(); ++i) {
    if (text[i] == '\\' && quote == '"') {
      const size_t next = std::min(text.find_first_not_of(" \t\r\n", i + 1), text.size());
      if (beyond_ascii(text, next)) return next;
      ++i;
    } else if (text.substr(i, end.size()) == end) {
      return i + end.size();
    } else if (text[i] == '\n' && !lines) {
      return i;
    }
  }
  return text.size();
}

}  // namespace

Status check_toml_characters(std::string_view text, const std::string& subject) {
  size_t at = text.substr(0, kByteOrderMark.size()) == kByteOrderMark ? kByteOrderMark.size() : 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (c == '"' || c == '\'') {
      at = behind_string(text, at);
    } else if (beyond_ascii(text, at)) {
      const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
      return usage_error(subject, fmt::format("not valid TOML at line {}: a character beyond ASCII outside quotes or behind a backslash", line),
                         "put it into quotes");
    } else {
      ++at;
    }
  }
  return {};
}

}  // namespace paritas
