#include "paritas/base/dtype.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace paritas {
namespace {

TEST(DType, NamesAndCodesLeadBack) {
  std::set<std::string_view> names;
  std::set<int> codes;
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(dtype_from_name(name(dtype)), dtype);
    EXPECT_EQ(dtype_from_onnx(onnx_code(dtype)), dtype);
    names.insert(name(dtype));
    codes.insert(onnx_code(dtype));
    if (const auto code = safetensors_code(dtype)) {
      EXPECT_EQ(dtype_from_safetensors(*code), dtype);
    } else {
      EXPECT_EQ(bits(dtype), 4) << name(dtype);
    }
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(kDTypeCount));
  EXPECT_EQ(codes.size(), static_cast<size_t>(kDTypeCount));
}

TEST(DType, CodesAreThoseOfOnnx) {
  EXPECT_EQ(onnx_code(DType::kF32), 1);
  EXPECT_EQ(onnx_code(DType::kI64), 7);
  EXPECT_EQ(onnx_code(DType::kF16), 10);
  EXPECT_EQ(onnx_code(DType::kBF16), 16);
  EXPECT_EQ(onnx_code(DType::kF8E4M3FN), 17);
  EXPECT_EQ(onnx_code(DType::kF8E5M2), 19);
  EXPECT_EQ(onnx_code(DType::kU4), 21);
  EXPECT_EQ(onnx_code(DType::kI4), 22);
}

TEST(DType, UnknownNamesAndCodesAreNone) {
  EXPECT_FALSE(dtype_from_name("float"));
  EXPECT_FALSE(dtype_from_name(""));
  EXPECT_FALSE(dtype_from_safetensors(""));
  EXPECT_FALSE(dtype_from_safetensors("f32"));
  EXPECT_FALSE(dtype_from_onnx(0));
  EXPECT_FALSE(dtype_from_onnx(8)) << "strings";
}

TEST(DType, ClassesDoNotOverlap) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(is_float(dtype) + is_integer(dtype) + (dtype == DType::kBool), 1) << name(dtype);
    EXPECT_TRUE(!is_signed_integer(dtype) || is_integer(dtype));
    EXPECT_EQ(is_signed_integer(dtype), std::string(name(dtype)).rfind("int", 0) == 0);
    EXPECT_EQ(is_float(dtype), name(dtype).find("float") != std::string_view::npos);
  }
}

TEST(DType, ByteSizeRoundsNibblesUp) {
  EXPECT_EQ(byte_size(DType::kI4, 0), 0u);
  EXPECT_EQ(byte_size(DType::kI4, 1), 1u);
  EXPECT_EQ(byte_size(DType::kU4, 3), 2u);
  EXPECT_EQ(byte_size(DType::kBool, 3), 3u);
  EXPECT_EQ(byte_size(DType::kBF16, 3), 6u);
  EXPECT_EQ(byte_size(DType::kF64, uint64_t{1} << 59), uint64_t{1} << 62);
}

}  // namespace
}  // namespace paritas
