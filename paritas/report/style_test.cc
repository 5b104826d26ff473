#include "paritas/report/style.h"

#include <cmath>

#include <gtest/gtest.h>

namespace paritas {
namespace {

TEST(Number, ShowsTheDigitsThatMatter) {
  EXPECT_EQ(number(0), "0");
  EXPECT_EQ(number(0.962), "0.9620");
  EXPECT_EQ(number(123.456), "123.5");
  EXPECT_EQ(number(-123.456), "-123.5");
  EXPECT_EQ(number(123456), "123456");
  EXPECT_EQ(number(1.23e-7), "1.2e-07");
  EXPECT_EQ(number(1.5e9), "1.5e+09");
  EXPECT_EQ(number(NAN), "nan");
  EXPECT_EQ(number(INFINITY), "inf");
  EXPECT_EQ(number(-INFINITY), "-inf");
}

TEST(Scientific, IsShort) {
  EXPECT_EQ(scientific(0.98), "9.8e-01");
  EXPECT_EQ(scientific(INFINITY), "inf");
}

TEST(Thousands, AreSetApart) {
  EXPECT_EQ(with_thousands(0), "0");
  EXPECT_EQ(with_thousands(999), "999");
  EXPECT_EQ(with_thousands(1000), "1,000");
  EXPECT_EQ(with_thousands(1234567), "1,234,567");
}

TEST(Percent, NeverRoundsUpToAHundred) {
  EXPECT_EQ(percent(1), "100 %");
  EXPECT_EQ(percent(841.0 / 842), "99.9 %");
  EXPECT_EQ(percent(0.99999999), "99.9 %");
  EXPECT_EQ(percent(std::nextafter(1.0, 0.0)), "99.9 %");
  EXPECT_EQ(percent(0.973), "97.3 %");
  EXPECT_EQ(percent(0.5), "50 %");
  EXPECT_EQ(percent(0), "0 %");
}

TEST(Colours, AppearOnlyWhenAskedFor) {
  Style plain, coloured;
  coloured.colour = true;
  EXPECT_EQ(bold(plain, "x"), "x");
  EXPECT_EQ(dim(plain, "x"), "x");
  EXPECT_EQ(banner(plain, Verdict::kNotJudged), "NOT JUDGED");
  EXPECT_EQ(bold(coloured, "x"), "\x1b[1mx\x1b[0m");
  EXPECT_NE(banner(coloured, Verdict::kPass), banner(coloured, Verdict::kDeviates));
  EXPECT_NE(banner(coloured, Verdict::kPass).find("PASS"), std::string::npos);
}

TEST(TableTest, AlignsColumnsAndEndsLinesWithoutSpaces) {
  Table table({"name", "count", "note"}, {false, true, false});
  table.row({"a", "1", "x"});
  table.row({"longer", "12345", ""});
  EXPECT_EQ(table.render(Style(), "  "),
            "  name    count  note\n"
            "  a           1  x\n"
            "  longer  12345\n");
}

TEST(TableTest, CountsCharactersNotBytes) {
  Table table({"n", "v"}, {false, false});
  table.row({"Größe", "1"});
  table.row({"Grosse", "2"});
  EXPECT_EQ(table.render(Style()),
            "n       v\n"
            "Größe   1\n"
            "Grosse  2\n");
}

TEST(Wrap, BreaksAtSpacesAndIndentsWhatFollows) {
  EXPECT_EQ(wrap("aaa bbb ccc", "> ", "  ", 9), "> aaa bbb\n  ccc\n");
  EXPECT_EQ(wrap("aaa bbb ccc", "> ", "  ", 8), "> aaa\n  bbb\n  ccc\n");
  // A word longer than the line is not broken.
  EXPECT_EQ(wrap("a /a/very/long/node/name b", "", "", 8), "a\n/a/very/long/node/name\nb\n");
  EXPECT_EQ(wrap("", "> ", "", 8), "> \n");
}

}  // namespace
}  // namespace paritas
