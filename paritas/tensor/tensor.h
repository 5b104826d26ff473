// Tensors: a type, a shape, and bytes that lie in memory or in a file. Data is always little-endian and C-contiguous
// (row-major); readers of other layouts convert.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "paritas/base/dtype.h"
#include "paritas/base/error.h"
#include "paritas/base/files.h"
#include "paritas/base/shape.h"

namespace paritas {

// An immutable range of bytes. Cheap to copy; keeps its memory or file alive. Reading is thread-safe.
class Bytes {
 public:
  Bytes() = default;  // empty
  static Bytes in_memory(std::vector<std::byte> bytes);
  // Borrows memory that `owner` keeps alive.
  static Bytes borrowed(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);
  // The caller has checked that the range lies within the file.
  static Bytes in_file(std::shared_ptr<const File> file, uint64_t offset, uint64_t size);

  uint64_t size() const { return size_; }
  // File behind the bytes, or nullptr for memory; offset() is the start of the range within it.
  const std::shared_ptr<const File>& file() const { return file_; }
  uint64_t offset() const { return offset_; }
  // The bytes [at, at + size) of these; the caller has checked that they lie within.
  Bytes part(uint64_t at, uint64_t size) const;
  // Copies bytes [at, at + out.size()).
  Status read(uint64_t at, std::span<std::byte> out) const;

 private:
  friend class TensorView;
  std::span<const std::byte> memory_;
  std::shared_ptr<const void> owner_;
  std::shared_ptr<const File> file_;
  uint64_t offset_ = 0;
  uint64_t size_ = 0;
};

struct Tensor {
  DType dtype = DType::kF32;
  Shape shape;
  Bytes bytes;

  uint64_t count() const;  // elements; the shape was checked when the tensor was made
};

// Checks that shape is lawful and that bytes.size() is byte_size(dtype, count).
Result<Tensor> make_tensor(DType dtype, Shape shape, Bytes bytes, const std::string& subject);

// All bytes of a tensor in addressable memory: memory is borrowed, a file is mapped for the life of the view.
class TensorView {
 public:
  static Result<TensorView> of(const Tensor& tensor);
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  uint64_t count() const { return count_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  // The data may be unaligned for T when it comes from a foreign file: copy elements out (memcpy, load_as_double) then.
  template <class T>
  const T* data() const {
    return reinterpret_cast<const T*>(bytes_.data());
  }

 private:
  DType dtype_ = DType::kF32;
  Shape shape_;
  uint64_t count_ = 0;
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> keep_;
};

// A tensor in memory from values. T must match dtype (float for kF32, int64_t for kI64 and so on).
template <class T>
Tensor tensor_from_values(DType dtype, Shape shape, const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!values.empty()) __builtin_memcpy(bytes.data(), values.data(), bytes.size());
  return Tensor{dtype, std::move(shape), Bytes::in_memory(std::move(bytes))};
}

// Elements [first, first + out.size()) converted to double. Exact for every type but 64-bit integers beyond 2^53.
void load_as_double(DType dtype, std::span<const std::byte> bytes, uint64_t first, std::span<double> out);

}  // namespace paritas
