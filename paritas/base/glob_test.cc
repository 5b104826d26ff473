#include "paritas/base/glob.h"

#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace paritas {
namespace {

TEST(Glob, StarAndQuestionMark) {
  EXPECT_TRUE(glob_match("", ""));
  EXPECT_FALSE(glob_match("", "a"));
  EXPECT_TRUE(glob_match("*", ""));
  EXPECT_TRUE(glob_match("*", "/any/thing"));
  EXPECT_TRUE(glob_match("/dec/*/Pow", "/dec/layers.0/n3/Pow"));
  EXPECT_FALSE(glob_match("/dec/*/Pow", "/dec/layers.0/n3/Pow_1"));
  EXPECT_TRUE(glob_match("a?c", "abc"));
  EXPECT_FALSE(glob_match("a?c", "ac"));
  EXPECT_TRUE(glob_match("*ab*ab", "ababxab"));
  EXPECT_FALSE(glob_match("a*b", "acd"));
}

TEST(Glob, ManyStarsTakeNoExponentialTime) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "*a";
  EXPECT_FALSE(glob_match(pattern + "b", std::string(5000, 'a')));
}

// The definition, by trying every split.
bool slow(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*') return slow(pattern.substr(1), text) || (!text.empty() && slow(pattern, text.substr(1)));
  return !text.empty() && (pattern[0] == '?' || pattern[0] == text[0]) && slow(pattern.substr(1), text.substr(1));
}

RC_GTEST_PROP(GlobProperty, AgreesWithTheDefinition, ()) {
  const auto pattern = *rc::gen::resize(10, rc::gen::container<std::string>(rc::gen::element('a', 'b', '*', '?')));
  const auto text = *rc::gen::resize(12, rc::gen::container<std::string>(rc::gen::element('a', 'b')));
  RC_ASSERT(glob_match(pattern, text) == slow(pattern, text));
}

// A text with parts replaced by stars and marks always matches.
RC_GTEST_PROP(GlobProperty, AWeakenedTextMatches, (const std::string& text)) {
  std::string pattern;
  for (const char c : text) {
    const int how = *rc::gen::inRange(0, 4);
    pattern += how == 0 ? "*" : how == 1 ? "?" : std::string(1, c);
  }
  RC_ASSERT(glob_match(pattern, text));
}

}  // namespace
}  // namespace paritas
