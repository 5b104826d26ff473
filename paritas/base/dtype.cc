#include "paritas/base/dtype.h"

#include <array>

namespace paritas {
namespace {

enum class Class : uint8_t { kBool, kSigned, kUnsigned, kFloat };

struct Row {
  DType dtype;
  std::string_view name;
  std::string_view safetensors;  // empty: none
  int onnx;                      // onnx.proto, message TensorProto, enum DataType
  int bits;
  Class cls;
};

// Safetensors codes: the format's documentation (huggingface/safetensors, "Format").
constexpr std::array<Row, kDTypeCount> kRows = {{
    {DType::kBool, "bool", "BOOL", 9, 8, Class::kBool},
    {DType::kI4, "int4", "", 22, 4, Class::kSigned},
    {DType::kU4, "uint4", "", 21, 4, Class::kUnsigned},
    {DType::kI8, "int8", "I8", 3, 8, Class::kSigned},
    {DType::kU8, "uint8", "U8", 2, 8, Class::kUnsigned},
    {DType::kI16, "int16", "I16", 5, 16, Class::kSigned},
    {DType::kU16, "uint16", "U16", 4, 16, Class::kUnsigned},
    {DType::kI32, "int32", "I32", 6, 32, Class::kSigned},
    {DType::kU32, "uint32", "U32", 12, 32, Class::kUnsigned},
    {DType::kI64, "int64", "I64", 7, 64, Class::kSigned},
    {DType::kU64, "uint64", "U64", 13, 64, Class::kUnsigned},
    {DType::kF8E4M3FN, "float8_e4m3fn", "F8_E4M3", 17, 8, Class::kFloat},
    {DType::kF8E5M2, "float8_e5m2", "F8_E5M2", 19, 8, Class::kFloat},
    {DType::kF16, "float16", "F16", 10, 16, Class::kFloat},
    {DType::kBF16, "bfloat16", "BF16", 16, 16, Class::kFloat},
    {DType::kF32, "float32", "F32", 1, 32, Class::kFloat},
    {DType::kF64, "float64", "F64", 11, 64, Class::kFloat},
}};

constexpr bool rows_in_order() {
  for (int i = 0; i < kDTypeCount; ++i)
    if (static_cast<int>(kRows[i].dtype) != i) return false;
  return true;
}
static_assert(rows_in_order());

const Row& row(DType dtype) { return kRows[static_cast<size_t>(dtype)]; }

}  // namespace

std::string_view name(DType dtype) { return row(dtype).name; }

std::optional<DType> dtype_from_name(std::string_view text) {
  for (const Row& r : kRows)
    if (r.name == text) return r.dtype;
  return std::nullopt;
}

std::optional<std::string_view> safetensors_code(DType dtype) {
  if (row(dtype).safetensors.empty()) return std::nullopt;
  return row(dtype).safetensors;
}

std::optional<DType> dtype_from_safetensors(std::string_view code) {
  for (const Row& r : kRows)
    if (!r.safetensors.empty() && r.safetensors == code) return r.dtype;
  return std::nullopt;
}

int onnx_code(DType dtype) { return row(dtype).onnx; }

std::optional<DType> dtype_from_onnx(int code) {
  for (const Row& r : kRows)
    if (r.onnx == code) return r.dtype;
  return std::nullopt;
}

int bits(DType dtype) { return row(dtype).bits; }
bool is_float(DType dtype) { return row(dtype).cls == Class::kFloat; }
bool is_integer(DType dtype) { return row(dtype).cls == Class::kSigned || row(dtype).cls == Class::kUnsigned; }
bool is_signed_integer(DType dtype) { return row(dtype).cls == Class::kSigned; }

uint64_t byte_size(DType dtype, uint64_t count) {
  const auto width = static_cast<uint64_t>(bits(dtype));
  return width >= 8 ? count * (width / 8) : (count + 1) / 2;
}

}  // namespace paritas
