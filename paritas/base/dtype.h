// Element types of tensors, and their names in the formats that we read and write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace paritas {

enum class DType : uint8_t {
  kBool,
  kI4,  // two per byte, low nibble first, as ONNX packs them
  kU4,
  kI8,
  kU8,
  kI16,
  kU16,
  kI32,
  kU32,
  kI64,
  kU64,
  kF8E4M3FN,  // OCP 8-bit float: 4 exponent bits, no infinity, maximum 448
  kF8E5M2,    // OCP 8-bit float: 5 exponent bits, IEEE-like, maximum 57344
  kF16,
  kBF16,
  kF32,
  kF64,
};
inline constexpr int kDTypeCount = 17;

// "float32", "bfloat16", "int4": the names that Paritas prints, and that numpy or ONNX use where they have one.
std::string_view name(DType dtype);
std::optional<DType> dtype_from_name(std::string_view name);

// Codes of the safetensors format ("F32", "BF16", "F8_E4M3"). 4-bit types have none: they are stored as U8.
std::optional<std::string_view> safetensors_code(DType dtype);
std::optional<DType> dtype_from_safetensors(std::string_view code);

// Values of onnx.TensorProto.DataType, the same as ONNXTensorElementDataType of ONNX Runtime.
int onnx_code(DType dtype);
std::optional<DType> dtype_from_onnx(int code);

int bits(DType dtype);
bool is_float(DType dtype);
bool is_integer(DType dtype);  // signed and unsigned integers, not bool
bool is_signed_integer(DType dtype);

// Bytes that `count` elements take when packed (rounds up for 4-bit types). `count` must come from element_count(),
// so that the product fits.
uint64_t byte_size(DType dtype, uint64_t count);

}  // namespace paritas
