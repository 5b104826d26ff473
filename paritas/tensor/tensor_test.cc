#include "paritas/tensor/tensor.h"

#include <cmath>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paritas/base/test_files.h"

namespace paritas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

std::vector<double> load(DType dtype, const std::vector<std::byte>& bytes, uint64_t first, size_t count) {
  std::vector<double> out(count);
  load_as_double(dtype, bytes, first, out);
  return out;
}

template <class T>
std::vector<double> load_values(DType dtype, const std::vector<T>& values) {
  const Tensor tensor = tensor_from_values(dtype, {static_cast<int64_t>(values.size())}, values);
  // One byte further on: foreign files give no alignment.
  std::vector<std::byte> shifted(tensor.bytes.size() + 1);
  EXPECT_TRUE(tensor.bytes.read(0, std::span(shifted).subspan(1)));
  std::vector<double> out(values.size());
  load_as_double(dtype, std::span(shifted).subspan(1), 0, out);
  return out;
}

TEST(LoadAsDouble, EveryType) {
  EXPECT_THAT(load(DType::kBool, bytes_of({0, 1, 2}), 0, 3), ElementsAre(0, 1, 1));
  EXPECT_THAT(load(DType::kI4, bytes_of({0x87, 0x0F}), 0, 4), ElementsAre(7, -8, -1, 0));
  EXPECT_THAT(load(DType::kU4, bytes_of({0x87, 0x0F}), 1, 2), ElementsAre(8, 15));
  EXPECT_THAT(load_values<int8_t>(DType::kI8, {-128, 127}), ElementsAre(-128, 127));
  EXPECT_THAT(load_values<uint8_t>(DType::kU8, {0, 255}), ElementsAre(0, 255));
  EXPECT_THAT(load_values<int16_t>(DType::kI16, {-32768, 5}), ElementsAre(-32768, 5));
  EXPECT_THAT(load_values<uint16_t>(DType::kU16, {65535, 5}), ElementsAre(65535, 5));
  EXPECT_THAT(load_values<int32_t>(DType::kI32, {INT32_MIN, 5}), ElementsAre(-2147483648.0, 5));
  EXPECT_THAT(load_values<uint32_t>(DType::kU32, {UINT32_MAX}), ElementsAre(4294967295.0));
  EXPECT_THAT(load_values<int64_t>(DType::kI64, {-(int64_t{1} << 53)}), ElementsAre(-9007199254740992.0));
  EXPECT_THAT(load_values<uint64_t>(DType::kU64, {UINT64_MAX}), ElementsAre(18446744073709551616.0));
  EXPECT_THAT(load_values<uint8_t>(DType::kF8E4M3FN, {0x7E, 0x38}), ElementsAre(448, 1));
  EXPECT_THAT(load_values<uint8_t>(DType::kF8E5M2, {0x7B, 0x3C}), ElementsAre(57344, 1));
  EXPECT_THAT(load_values<uint16_t>(DType::kF16, {0x3C00, 0xFBFF}), ElementsAre(1, -65504));
  EXPECT_THAT(load_values<uint16_t>(DType::kBF16, {0x3F80, 0xC000}), ElementsAre(1, -2));
  EXPECT_THAT(load_values<float>(DType::kF32, {1.5f, -INFINITY}), ElementsAre(1.5, -INFINITY));
  EXPECT_THAT(load_values<double>(DType::kF64, {1e300, -0.5}), ElementsAre(1e300, -0.5));
}

TEST(MakeTensor, ChecksShapeAgainstBytes) {
  EXPECT_TRUE(make_tensor(DType::kF32, {2, 3}, Bytes::in_memory(std::vector<std::byte>(24)), "x"));
  EXPECT_TRUE(make_tensor(DType::kI4, {3}, Bytes::in_memory(std::vector<std::byte>(2)), "x"));
  EXPECT_TRUE(make_tensor(DType::kF32, {}, Bytes::in_memory(std::vector<std::byte>(4)), "x"));
  EXPECT_TRUE(make_tensor(DType::kF32, {0, 5}, Bytes(), "x"));
  const auto wrong = make_tensor(DType::kF32, {2, 3}, Bytes::in_memory(std::vector<std::byte>(23)), "x.bin");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().subject, "x.bin");
  EXPECT_THAT(wrong.error().cause, HasSubstr("takes 24 bytes, there are 23"));
  EXPECT_FALSE(make_tensor(DType::kF32, {-1}, Bytes(), "x"));
  EXPECT_FALSE(make_tensor(DType::kF32, {int64_t{1} << 40, int64_t{1} << 40}, Bytes(), "x"));
}

TEST(Bytes, InMemoryOutlivesItsCopies) {
  Bytes copy;
  {
    const Bytes first = Bytes::in_memory(bytes_of({1, 2, 3}));
    copy = first;
  }
  std::vector<std::byte> out(2);
  ASSERT_TRUE(copy.read(1, out));
  EXPECT_EQ(out, bytes_of({2, 3}));
  EXPECT_EQ(copy.file(), nullptr);
}

TEST(TensorView, MapsAFileAndKeepsItAlive) {
  const TestFolder folder;
  const Path path = folder.write("data", std::string("????", 4) + std::string("\1\0\2\0\3\0", 6));
  std::optional<TensorView> view;
  {
    const auto file = File::open(path);
    ASSERT_TRUE(file);
    const auto tensor = make_tensor(DType::kU16, {3}, Bytes::in_file(*file, 4, 6), "data");
    ASSERT_TRUE(tensor);
    EXPECT_EQ(tensor->bytes.offset(), 4u);
    auto made = TensorView::of(*tensor);
    ASSERT_TRUE(made);
    view = *made;
  }
  std::filesystem::remove(path);
  ASSERT_EQ(view->count(), 3u);
  EXPECT_EQ(view->dtype(), DType::kU16);
  EXPECT_EQ(view->data<uint16_t>()[2], 3);
}

TEST(TensorView, EmptyFromFileAndFromMemory) {
  const TestFolder folder;
  const auto file = File::open(folder.write("empty", ""));
  ASSERT_TRUE(file);
  const auto from_file = TensorView::of(Tensor{DType::kF32, {0}, Bytes::in_file(*file, 0, 0)});
  ASSERT_TRUE(from_file);
  EXPECT_TRUE(from_file->bytes().empty());
  EXPECT_EQ(TensorView::of(Tensor{DType::kF32, {3, 0}, Bytes()})->count(), 0u);
}

TEST(TensorView, AFileThatBecameShorterIsAnError) {
  const TestFolder folder;
  const Path path = folder.write("data", std::string(8, 'x'));
  const auto file = File::open(path);
  ASSERT_TRUE(file);
  const Bytes bytes = Bytes::in_file(*file, 0, 8);
  std::filesystem::resize_file(path, 3);
  std::vector<std::byte> out(8);
  const auto status = bytes.read(0, out);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().cause, HasSubstr("became shorter"));
}

}  // namespace
}  // namespace paritas
