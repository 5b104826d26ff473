// Text building blocks that the terminal reports share: colours, numbers with the digits that matter, aligned columns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "paritas/judge/verdict.h"

namespace paritas {

struct Style {
  bool colour = false;
  bool verbose = false;
  size_t width = 100;
};

std::string number(double value, int significant = 4);  // "0.9620", "1.2e-07", "nan"
std::string scientific(double value);                   // "9.8e-01"
std::string with_thousands(uint64_t value);             // "1,352"
std::string percent(double share);                      // "100 %", "97.3 %"

// Of one line. Like Table and wrap(), they write control characters in it out (visible.h).
std::string bold(const Style& style, std::string_view text);
std::string dim(const Style& style, std::string_view text);
// Each line of a text that wrap() or the like made.
std::string dim_lines(const Style& style, const std::string& text);
// "DEVIATES", in the verdict's colour.
std::string banner(const Style& style, Verdict verdict);

// Columns separated by two spaces; numbers (cells marked so) aligned right.
class Table {
 public:
  explicit Table(std::vector<std::string> header, std::vector<bool> right_aligned);
  void row(std::vector<std::string> cells);
  std::string render(const Style& style, const std::string& indent = "") const;
  bool empty() const { return rows_.empty(); }
  size_t rows() const { return rows_.size(); }

 private:
  std::vector<std::string> header_;
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

// Long text broken at spaces, continuation lines indented.
std::string wrap(const std::string& text, const std::string& first_indent, const std::string& indent, size_t width);

}  // namespace paritas
