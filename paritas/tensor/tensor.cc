#include "paritas/tensor/tensor.h"

#include <cassert>
#include <cstring>

#include <fmt/format.h>

#include "paritas/tensor/float_formats.h"

namespace paritas {
namespace {

// Elements of a foreign file may be unaligned: they are copied out.
template <class T, class Convert>
void load_each(std::span<const std::byte> bytes, uint64_t first, std::span<double> out, Convert convert) {
  const std::byte* from = bytes.data() + first * sizeof(T);
  for (size_t i = 0; i < out.size(); ++i) {
    T value;
    std::memcpy(&value, from + i * sizeof(T), sizeof(T));
    out[i] = static_cast<double>(convert(value));
  }
}

template <class T>
void load_each(std::span<const std::byte> bytes, uint64_t first, std::span<double> out) {
  load_each<T>(bytes, first, out, [](T value) { return value; });
}

void load_nibbles(std::span<const std::byte> bytes, uint64_t first, std::span<double> out, bool is_signed) {
  for (size_t i = 0; i < out.size(); ++i) {
    const uint64_t at = first + i;
    const int nibble = (std::to_integer<int>(bytes[at / 2]) >> (at % 2 * 4)) & 15;
    out[i] = is_signed && nibble > 7 ? nibble - 16 : nibble;
  }
}

}  // namespace

Bytes Bytes::in_memory(std::vector<std::byte> bytes) {
  auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return borrowed(std::span(*owner), owner);
}

Bytes Bytes::borrowed(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  Bytes result;
  result.memory_ = bytes;
  result.owner_ = std::move(owner);
  result.size_ = bytes.size();
  return result;
}

Bytes Bytes::in_file(std::shared_ptr<const File> file, uint64_t offset, uint64_t size) {
  assert(offset <= file->size() && size <= file->size() - offset);
  Bytes result;
  result.file_ = std::move(file);
  result.offset_ = offset;
  result.size_ = size;
  return result;
}

Bytes Bytes::part(uint64_t at, uint64_t size) const {
  assert(at <= size_ && size <= size_ - at);
  if (file_) return in_file(file_, offset_ + at, size);
  return borrowed(memory_.subspan(at, size), owner_);
}

Status Bytes::read(uint64_t at, std::span<std::byte> out) const {
  assert(at <= size_ && out.size() <= size_ - at);
  if (file_) return file_->read(offset_ + at, out);
  if (!out.empty()) std::memcpy(out.data(), memory_.data() + at, out.size());
  return {};
}

uint64_t Tensor::count() const {
  const auto count = element_count(shape);
  assert(count && "the shape was checked by make_tensor");
  return count ? *count : 0;
}

Result<Tensor> make_tensor(DType dtype, Shape shape, Bytes bytes, const std::string& subject) {
  const auto count = element_count(shape);
  if (!count) return input_error(subject, count.error().cause);
  const uint64_t expected = byte_size(dtype, *count);
  if (bytes.size() != expected)
    return input_error(subject, fmt::format("{} {} takes {} bytes, there are {}", name(dtype), to_string(shape),
                                            expected, bytes.size()));
  return Tensor{dtype, std::move(shape), std::move(bytes)};
}

Result<TensorView> TensorView::of(const Tensor& tensor) {
  TensorView view;
  view.dtype_ = tensor.dtype;
  view.shape_ = tensor.shape;
  view.count_ = tensor.count();
  if (!tensor.bytes.file_) {
    view.bytes_ = tensor.bytes.memory_;
    view.keep_ = tensor.bytes.owner_;
    return view;
  }
  PARITAS_ASSIGN(auto mapping, Mapping::map(tensor.bytes.file_, tensor.bytes.offset_, tensor.bytes.size_));
  view.bytes_ = mapping->bytes();
  view.keep_ = std::move(mapping);
  return view;
}

void load_as_double(DType dtype, std::span<const std::byte> bytes, uint64_t first, std::span<double> out) {
  assert(byte_size(dtype, first + out.size()) <= bytes.size());
  switch (dtype) {
    case DType::kBool:
      return load_each<uint8_t>(bytes, first, out, [](uint8_t value) { return value != 0; });
    case DType::kI4:
      return load_nibbles(bytes, first, out, true);
    case DType::kU4:
      return load_nibbles(bytes, first, out, false);
    case DType::kI8:
      return load_each<int8_t>(bytes, first, out);
    case DType::kU8:
      return load_each<uint8_t>(bytes, first, out);
    case DType::kI16:
      return load_each<int16_t>(bytes, first, out);
    case DType::kU16:
      return load_each<uint16_t>(bytes, first, out);
    case DType::kI32:
      return load_each<int32_t>(bytes, first, out);
    case DType::kU32:
      return load_each<uint32_t>(bytes, first, out);
    case DType::kI64:
      return load_each<int64_t>(bytes, first, out);
    case DType::kU64:
      return load_each<uint64_t>(bytes, first, out);
    case DType::kF8E4M3FN:
      return load_each<uint8_t>(bytes, first, out, float_from_f8e4m3fn);
    case DType::kF8E5M2:
      return load_each<uint8_t>(bytes, first, out, float_from_f8e5m2);
    case DType::kF16:
      return load_each<uint16_t>(bytes, first, out, float_from_f16);
    case DType::kBF16:
      return load_each<uint16_t>(bytes, first, out, float_from_bf16);
    case DType::kF32:
      return load_each<float>(bytes, first, out);
    case DType::kF64:
      return load_each<double>(bytes, first, out);
  }
}

}  // namespace paritas
