#include "paritas/judge/toml_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paritas {
namespace {

using ::testing::HasSubstr;

std::string refusal(std::string_view text) {
  const Status status = check_toml_characters(text, "gates.toml");
  return status ? "" : status.error().message();
}

TEST(TomlCharacters, StringsAndCommentsMayHoldAnything) {
  EXPECT_EQ(refusal(""), "");
  EXPECT_EQ(refusal("a = 1 # für\nb = \"ä\"\nc = 'ö'\n"), "");
  EXPECT_EQ(refusal("a = \"\"\"ä\nö\"ü\"\"\"\nb = '''ä\n'ö'''\n"), "");
  EXPECT_EQ(refusal("a = \"\\\"ä\" # \"\n"), "");
  EXPECT_EQ(refusal("\xEF\xBB\xBF" "a = 1\n"), "");
}

TEST(TomlCharacters, ElsewhereTheyAreRefusedWithTheLine) {
  EXPECT_THAT(refusal("a = 1\nä = 2\n"), HasSubstr("gates.toml: not valid TOML at line 2"));
  EXPECT_THAT(refusal("a = ä"), HasSubstr("line 1"));
  EXPECT_THAT(refusal("a = \"x\"ä"), HasSubstr("line 1"));
  EXPECT_THAT(refusal("a = 'x\\'ä"), HasSubstr("line 1"));       // no escapes in literal strings
  EXPECT_THAT(refusal("# x\n\xEF\xBB\xBF"), HasSubstr("line 2"));  // a mark in the middle
  EXPECT_THAT(refusal("a = \"\"\"x\"\"\"ä"), HasSubstr("line 1"));
  EXPECT_THAT(refusal("a = \"\\ä\""), HasSubstr("behind a backslash"));
  EXPECT_THAT(refusal("a = \"\"\"x \\\n  ä\"\"\""), HasSubstr("line 2"));
  EXPECT_EQ(refusal("a = \"\\\\ä\" # an escaped backslash"), "");
  EXPECT_THAT(refusal("a = \"x\nä"), HasSubstr("line 2"));  // not closed: ends with its line
}

}  // namespace
}  // namespace paritas
