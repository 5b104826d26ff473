// The text header of a .npy file: a Python dictionary literal with exactly the keys descr, fortran_order and shape
// (numpy.lib.format). Read by a parser for just that; nothing is ever evaluated.
#pragma once

#include <string>
#include <string_view>

#include "paritas/base/dtype.h"
#include "paritas/base/error.h"
#include "paritas/base/shape.h"

namespace paritas {

inline constexpr size_t kMaxNpyRank = 64;  // numpy's own limit

struct NpyHeader {
  DType dtype = DType::kF32;
  bool big_endian = false;
  bool fortran_order = false;
  Shape shape;
};

// `subject` names the file in errors.
Result<NpyHeader> parse_npy_header(std::string_view text, const std::string& subject);

// The dictionary for a little-endian array in C order, without padding. 4-bit types must come as uint8 already.
std::string format_npy_header(DType dtype, const Shape& shape);

}  // namespace paritas
