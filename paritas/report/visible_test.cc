#include "paritas/report/visible.h"

#include <gtest/gtest.h>

#include "paritas/report/style.h"

namespace paritas {
namespace {

TEST(Visible, OrdinaryTextStays) {
  for (const char* text : {"", "/dec/layers.0/n3/Pow", "Größe 7 µs → 日本 😀", "a\\nb"}) EXPECT_EQ(visible(text), text);
}

TEST(Visible, WhatMovesTheCursorIsWritten) {
  EXPECT_EQ(visible("a\x1b[2Jb"), "a\\x1b[2Jb");
  EXPECT_EQ(visible("a\nb\rc\td\x7f"), "a\\nb\\rc\\td\\x7f");
  EXPECT_EQ(visible(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(visible("\xc2\x9b"
                    "2J"),
            "\\x9b2J");  // C1: a control sequence in one character
  EXPECT_EQ(visible("\xe2\x80\xae"
                    "abc"),
            "\\u202eabc");                                           // right to left
  EXPECT_EQ(visible("\xe2\x81\xa6\xe2\x80\xa8"), "\\u2066\\u2028");  // isolate, line separator
}

TEST(Visible, BytesThatAreNoUtf8) {
  EXPECT_EQ(visible("\x9b"
                    "2J"),
            "\\x9b2J");                                   // C1 alone
  EXPECT_EQ(visible("\xc0\x9b\xff"), "\\xc0\\x9b\\xff");  // overlong
  EXPECT_EQ(visible("\xe2\x80"), "\\xe2\\x80");           // cut short
  EXPECT_EQ(visible("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // surrogate
}

TEST(Visible, LinesAndOurOwnColoursStayWhereTheyAreAskedFor) {
  Style style;
  style.colour = true;
  const std::string text = bold(style, "x") + "\n" + banner(style, Verdict::kDeviates) + dim(style, "\ty");
  EXPECT_EQ(visible(text, {.lines = true, .colours = true}), text);
  EXPECT_EQ(visible("\x1b[31m\x1b]0;t\a", {.lines = true, .colours = true}), "\\x1b[31m\\x1b]0;t\\x07");
  EXPECT_EQ(visible("\x1b[1m", {.lines = true}), "\\x1b[1m");
}

TEST(Visible, ReportsKeepNamesInTheirLine) {
  Style style;
  Table table({"node"}, {false});
  table.row({"a\nPASS"});
  EXPECT_EQ(table.render(style), "node\na\\nPASS\n");
  EXPECT_EQ(wrap("of a\nb c", "", "", 80), "of a\\nb c\n");
  EXPECT_EQ(dim(style, "note: a\nb\n"), "note: a\\nb\n");
}

}  // namespace
}  // namespace paritas
