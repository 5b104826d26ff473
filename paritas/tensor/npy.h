// NumPy's .npy format, versions 1.0 to 3.0 (numpy.lib.format). Both byte orders and Fortran order are read (such data
// is converted in memory); little-endian C order stays in the file and is read when needed. Object and structured
// arrays are refused by name. Writing: version 1.0 (2.0 for long headers), little-endian, C order, data aligned to 64
// bytes.
#pragma once

#include "paritas/tensor/tensor.h"

namespace paritas {

// numpy has no bfloat16 or float8: such tensors are written as the unsigned integers that hold their bits, and a reader
// must be told. 4-bit types are written packed, as uint8. `trailing` bytes after the data are an error.
Result<Tensor> read_npy(const Path& path);
// The same for bytes that lie elsewhere, in an archive for instance; `subject` names them in errors.
Result<Tensor> read_npy(const Bytes& bytes, const std::string& subject);

struct NpyClaim {
  DType dtype = DType::kF32;
  Shape shape;
};
// What the header claims of an array whose file has `total` bytes, all checks of read_npy included. `start` holds the
// first bytes; an error when the header does not end within them (kMaxNpyStart always suffices).
inline constexpr uint64_t kMaxNpyStart = (uint64_t{1} << 20) + 12;
Result<NpyClaim> read_npy_claim(const Bytes& start, uint64_t total, const std::string& subject);

Status write_npy(const Path& path, const Tensor& tensor, bool overwrite);

}  // namespace paritas
