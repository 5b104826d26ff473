#include <gmock/gmock.h>

#include "paritas/onnx/testing.h"

namespace paritas::onnx_model {
namespace {

using namespace testing;
using ::onnx::TensorProto;
using ::testing::HasSubstr;

TensorProto proto_of(DType dtype, const Shape& shape) {
  TensorProto proto;
  proto.set_name("t");
  proto.set_data_type(onnx_code(dtype));
  for (const int64_t dim : shape) proto.add_dims(dim);
  return proto;
}

std::vector<uint8_t> bytes_of(const TensorProto& proto) {
  const Tensor tensor = must(tensor_from_proto(proto, "test"));
  std::vector<uint8_t> bytes(tensor.bytes.size());
  EXPECT_TRUE(tensor.bytes.read(0, std::as_writable_bytes(std::span(bytes))));
  return bytes;
}

TEST(TensorProto, TypedFieldsOfSmallTypes) {
  auto half = proto_of(DType::kF16, {2});
  half.add_int32_data(0x3c00);
  half.add_int32_data(0xfbff);
  EXPECT_EQ(bytes_of(half), (std::vector<uint8_t>{0x00, 0x3c, 0xff, 0xfb}));
  auto small = proto_of(DType::kI8, {3});
  for (const int value : {-1, 0, 127}) small.add_int32_data(value);
  EXPECT_EQ(bytes_of(small), (std::vector<uint8_t>{0xff, 0, 127}));
  auto packed = proto_of(DType::kI4, {3});  // two per int32, low nibble first
  packed.add_int32_data(0xf1);
  packed.add_int32_data(0x07);
  EXPECT_EQ(bytes_of(packed), (std::vector<uint8_t>{0xf1, 0x07}));
  auto truth = proto_of(DType::kBool, {});
  truth.add_int32_data(1);
  EXPECT_EQ(bytes_of(truth), (std::vector<uint8_t>{1}));
}

TEST(TensorProto, TypedFieldsOfWideTypes) {
  auto wide = proto_of(DType::kI64, {1});
  wide.add_int64_data(-2);
  EXPECT_EQ(bytes_of(wide), (std::vector<uint8_t>{0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}));
  auto natural = proto_of(DType::kU32, {1});
  natural.add_uint64_data(0x01020304);
  EXPECT_EQ(bytes_of(natural), (std::vector<uint8_t>{4, 3, 2, 1}));
  auto number = proto_of(DType::kF32, {1});
  number.add_float_data(1.0f);
  EXPECT_EQ(bytes_of(number), (std::vector<uint8_t>{0, 0, 0x80, 0x3f}));
  auto precise = proto_of(DType::kF64, {1});
  precise.add_double_data(1.0);
  EXPECT_EQ(bytes_of(precise), (std::vector<uint8_t>{0, 0, 0, 0, 0, 0, 0xf0, 0x3f}));
}

TEST(TensorProto, CountsThatDisagreeAreRefused) {
  auto proto = proto_of(DType::kF32, {3});
  proto.add_float_data(1.0f);
  EXPECT_FALSE(tensor_from_proto(proto, "test"));
  proto = proto_of(DType::kF32, {2});
  proto.set_raw_data("1234567");
  EXPECT_FALSE(tensor_from_proto(proto, "test"));
  proto = proto_of(DType::kF32, {});  // a scalar without a value
  EXPECT_FALSE(tensor_from_proto(proto, "test"));
  proto = proto_of(DType::kF32, {int64_t{1} << 62, 4});  // must not be believed
  EXPECT_FALSE(tensor_from_proto(proto, "test"));
  proto = proto_of(DType::kF32, {-1});
  EXPECT_FALSE(tensor_from_proto(proto, "test"));
  EXPECT_TRUE(tensor_from_proto(proto_of(DType::kF32, {0}), "test"));
}

TEST(TensorProto, StringsAreRefusedByName) {
  TensorProto proto;
  proto.set_name("labels");
  proto.set_data_type(TensorProto::STRING);
  const auto tensor = tensor_from_proto(proto, "test");
  ASSERT_FALSE(tensor);
  EXPECT_THAT(tensor.error().message(), HasSubstr("\"labels\" has the type STRING"));
}

TEST(TensorProto, RoundTrip) {
  const auto proto = must(proto_from_tensor("v", floats({2, 2}, {1, 2, 3, 4})));
  EXPECT_EQ(proto.name(), "v");
  const Tensor tensor = must(tensor_from_proto(proto, "test"));
  EXPECT_EQ(tensor.shape, (Shape{2, 2}));
  EXPECT_EQ(bytes_of(proto).size(), 16u);
}

}  // namespace
}  // namespace paritas::onnx_model
