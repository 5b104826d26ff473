#include "paritas/report/style.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "paritas/report/visible.h"

namespace paritas {
namespace {

// A name that holds a line feed may not begin a line of its own.
std::string in_one_line(std::string_view text) { return visible(text, {.colours = true}); }

// One line, which may end in a line feed: what is in it stays in it.
std::string paint(const Style& style, std::string_view code, std::string_view text) {
  const bool ends = text.ends_with('\n');
  std::string line = in_one_line(text.substr(0, text.size() - (ends ? 1 : 0)));
  if (style.colour) line = fmt::format("\x1b[{}m{}\x1b[0m", code, line);
  return ends ? line + "\n" : line;
}

// Characters as the terminal counts them: UTF-8 continuation bytes take no column.
size_t columns(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::string number(double value, int significant) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  if (value == 0) return "0";
  const double magnitude = std::abs(value);
  if (magnitude < 1e-3 || magnitude >= 1e6) return fmt::format("{:.{}e}", value, std::max(0, significant - 3));
  // Of the rounded value: 0.99999 must not have a digit more than the 1 that it is shown as.
  const std::string rounded = fmt::format("{:.{}e}", magnitude, std::max(0, significant - 1));
  const int before = std::max(0, std::stoi(rounded.substr(rounded.find('e') + 1)) + 1);
  return fmt::format("{:.{}f}", value, std::max(0, significant - before));
}

std::string scientific(double value) {
  if (!std::isfinite(value)) return number(value);
  return fmt::format("{:.1e}", value);
}

std::string with_thousands(uint64_t value) {
  std::string digits = std::to_string(value);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<size_t>(at), ",");
  return digits;
}

std::string percent(double share) {
  const double value = 100 * share;
  // Never round up to "100 %" what is less.
  if (value < 100 && value > 99.9) return "99.9 %";
  return value == std::floor(value) ? fmt::format("{:.0f} %", value) : fmt::format("{:.1f} %", value);
}

std::string bold(const Style& style, std::string_view text) { return paint(style, "1", text); }
std::string dim(const Style& style, std::string_view text) { return paint(style, "2", text); }

std::string dim_lines(const Style& style, const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    out += dim(style, text.substr(at, end - at)) + "\n";
    at = end + 1;
  }
  return out;
}

std::string banner(const Style& style, Verdict verdict) {
  std::string text(name(verdict));
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  switch (verdict) {
    case Verdict::kInvalid:
      return paint(style, "1;35", text);
    case Verdict::kDeviates:
      return paint(style, "1;31", text);
    case Verdict::kNotJudged:
      return paint(style, "1;33", text);
    case Verdict::kPass:
      return paint(style, "1;32", text);
  }
  return text;
}

Table::Table(std::vector<std::string> header, std::vector<bool> right_aligned)
    : header_(std::move(header)), right_(std::move(right_aligned)) {}

void Table::row(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = in_one_line(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::render(const Style& style, const std::string& indent) const {
  std::vector<size_t> widths;
  for (const auto& cell : header_) widths.push_back(columns(cell));
  for (const auto& row : rows_)
    for (size_t i = 0; i < row.size() && i < widths.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
  auto line = [&](const std::vector<std::string>& cells) {
    std::string text = indent;
    for (size_t i = 0; i < cells.size() && i < widths.size(); ++i) {
      const std::string pad(widths[i] - columns(cells[i]), ' ');
      if (i != 0) text += "  ";
      text += right_[i] ? pad + cells[i] : cells[i] + pad;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  };
  std::string text = dim(style, line(header_)) + "\n";
  for (const auto& row : rows_) text += line(row) + "\n";
  return text;
}

std::string wrap(const std::string& given, const std::string& first_indent, const std::string& indent, size_t width) {
  const std::string text = in_one_line(given);
  std::string out;
  std::string line = first_indent;
  bool fresh = true;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find(' ', start), text.size());
    const std::string word = text.substr(start, end - start);
    if (!fresh && columns(line) + 1 + columns(word) > width) {
      out += line + "\n";
      line = indent;
      fresh = true;
    }
    line += (fresh ? "" : " ") + word;
    fresh = false;
    start = end + 1;
  }
  return out + line + "\n";
}

}  // namespace paritas
