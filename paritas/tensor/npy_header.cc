#include "paritas/tensor/npy_header.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace paritas {
namespace {

constexpr const char* kDamaged = "the file is damaged: save it again with numpy.save";
constexpr const char* kPlainArray = "save a plain array: np.save(..., allow_pickle=False)";

struct Code {
  char kind;
  int size;
  DType dtype;
};
constexpr std::array kCodes = {
    Code{'b', 1, DType::kBool}, Code{'i', 1, DType::kI8},  Code{'i', 2, DType::kI16}, Code{'i', 4, DType::kI32},
    Code{'i', 8, DType::kI64},  Code{'u', 1, DType::kU8},  Code{'u', 2, DType::kU16}, Code{'u', 4, DType::kU32},
    Code{'u', 8, DType::kU64},  Code{'f', 2, DType::kF16}, Code{'f', 4, DType::kF32}, Code{'f', 8, DType::kF64},
};

// What is refused by name: the kind character of a numpy type string, and how people call it.
struct Refused {
  char kind;
  const char* what;
  const char* remedy;
};
constexpr std::array kRefused = {
    Refused{'O', "Python objects", kPlainArray},
    Refused{'c', "complex numbers", "save the real and the imaginary part as two arrays"},
    Refused{'S', "byte strings", "save numbers"},
    Refused{'a', "byte strings", "save numbers"},
    Refused{'U', "text", "save numbers"},
    Refused{'V', "raw or structured records", "save each field as an array of its own, or .view() it as integers"},
    Refused{'M', "dates", "save .astype('int64')"},
    Refused{'m', "time spans", "save .astype('int64')"},
};

// Quotes foreign text for a message: short, and without control characters.
std::string quoted(std::string_view text) {
  std::string shown;
  for (char c : text.substr(0, 40)) shown += c >= 32 && c < 127 ? c : '?';
  return fmt::format("'{}{}'", shown, text.size() > 40 ? "..." : "");
}

class Parser {
 public:
  Parser(std::string_view text, const std::string& subject) : text_(text), subject_(subject) {}

  Result<NpyHeader> parse() {
    if (!take('{')) return damaged("does not start with '{'");
    while (!take('}')) {
      PARITAS_TRY(parse_entry());
      if (take(',')) continue;
      if (take('}')) break;
      return damaged(fmt::format("has neither ',' nor '}}' at character {}", at_));
    }
    skip_space();
    if (at_ != text_.size()) return damaged(fmt::format("goes on after its end at character {}", at_));
    for (const char* key : {"descr", "fortran_order", "shape"})
      if (!seen(key)) return damaged(fmt::format("lacks the key '{}'", key));
    return header_;
  }

 private:
  Unexpected damaged(const std::string& what) const {
    return input_error(subject_, "the .npy header " + what, kDamaged);
  }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }

  bool take(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool take_word(std::string_view word) {
    skip_space();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  bool seen(std::string_view key) const { return std::find(keys_.begin(), keys_.end(), key) != keys_.end(); }

  // A quoted string without escapes: no key or type name needs one.
  std::optional<std::string_view> take_string() {
    skip_space();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) return std::nullopt;
    const size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view content = text_.substr(at_ + 1, end - at_ - 1);
    if (content.find('\\') != std::string_view::npos) return std::nullopt;
    at_ = end + 1;
    return content;
  }

  Status parse_entry() {
    const auto key = take_string();
    if (!key) return damaged(fmt::format("has no key at character {}", at_));
    if (seen(*key)) return damaged(fmt::format("has the key {} twice", quoted(*key)));
    if (!take(':')) return damaged(fmt::format("has no ':' after {}", quoted(*key)));
    keys_.push_back(*key);
    if (*key == "descr") return parse_descr();
    if (*key == "fortran_order") return parse_order();
    if (*key == "shape") return parse_shape();
    return damaged(fmt::format("has the unknown key {}", quoted(*key)));
  }

  Status parse_order() {
    if (take_word("True")) {
      header_.fortran_order = true;
    } else if (!take_word("False")) {
      return damaged("does not say True or False for fortran_order");
    }
    return {};
  }

  Status parse_descr() {
    skip_space();
    if (at_ < text_.size() && (text_[at_] == '[' || text_[at_] == '('))
      return input_error(subject_, "holds a structured array (records of several fields), not a tensor",
                         "save each field as an array of its own");
    const auto descr = take_string();
    if (!descr) return damaged("does not give the type as text");
    return understand_descr(*descr);
  }

  // Byte order, kind and size in bytes: "<f4", "|u1", ">i8". A size without byte order is taken for one byte only.
  Status understand_descr(std::string_view descr) {
    std::string_view rest = descr;
    char order = '\0';
    if (!rest.empty() && (rest[0] == '<' || rest[0] == '>' || rest[0] == '|')) {
      order = rest[0];
      rest.remove_prefix(1);
    }
    const char kind = rest.empty() ? '\0' : rest[0];
    for (const Refused& refused : kRefused)
      if (kind == refused.kind)
        return input_error(subject_, fmt::format("holds {} (type {}), not plain numbers", refused.what, quoted(descr)),
                           refused.remedy);
    int size = 0;
    const std::string_view digits = rest.substr(std::min<size_t>(1, rest.size()));
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
    const bool whole = problem == std::errc() && end == digits.data() + digits.size() && digits[0] != '-';
    for (const Code& code : kCodes) {
      if (!whole || code.kind != kind || code.size != size) continue;
      if (size > 1 && order != '<' && order != '>')
        return damaged(fmt::format("has the type {} without a byte order", quoted(descr)));
      header_.dtype = code.dtype;
      header_.big_endian = size > 1 && order == '>';
      return {};
    }
    return input_error(subject_, fmt::format("the array type {} is not supported", quoted(descr)),
                       "convert it first, for example with .astype('float32')");
  }

  // A Python tuple: (), (3,), (3, 4), (3, 4,). (3) is a number in Python, not a tuple.
  Status parse_shape() {
    if (!take('(')) return damaged("does not give the shape as a tuple");
    bool comma = true;  // a dimension may follow
    while (!take(')')) {
      if (!comma) return damaged("has no ',' between two dimensions of the shape");
      PARITAS_TRY(parse_dimension());
      comma = take(',');
    }
    if (header_.shape.size() == 1 && !comma) return damaged("gives a shape in brackets that is not a tuple");
    return {};
  }

  Status parse_dimension() {
    skip_space();
    const char* begin = text_.data() + at_;
    const char* end = text_.data() + text_.size();
    int64_t dim = 0;
    const auto [stop, problem] = std::from_chars(begin, end, dim);
    if (problem == std::errc::result_out_of_range) return damaged("has a dimension that is too large");
    if (problem != std::errc()) return damaged("has something in its shape that is not a whole number");
    if (dim < 0) return damaged(fmt::format("has the negative dimension {}", dim));
    at_ += static_cast<size_t>(stop - begin);
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 wrote long integers so
    if (header_.shape.size() == kMaxNpyRank) return damaged(fmt::format("has more than {} dimensions", kMaxNpyRank));
    header_.shape.push_back(dim);
    return {};
  }

  std::string_view text_;
  const std::string& subject_;
  size_t at_ = 0;
  std::vector<std::string_view> keys_;
  NpyHeader header_;
};

}  // namespace

Result<NpyHeader> parse_npy_header(std::string_view text, const std::string& subject) {
  return Parser(text, subject).parse();
}

std::string format_npy_header(DType dtype, const Shape& shape) {
  // Types that numpy lacks are written as the unsigned integers that hold their bits.
  char kind = 'u';
  for (const Code& code : kCodes)
    if (code.dtype == dtype) kind = code.kind;
  const int size = bits(dtype) / 8;
  std::string dims;
  for (int64_t dim : shape) dims += fmt::format("{}, ", dim);
  if (shape.size() > 1) dims.resize(dims.size() - 2);
  if (shape.size() == 1) dims.resize(dims.size() - 1);
  return fmt::format("{{'descr': '{}{}{}', 'fortran_order': False, 'shape': ({}), }}", size == 1 ? '|' : '<', kind,
                     size, dims);
}

}  // namespace paritas
