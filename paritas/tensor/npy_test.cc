#include "paritas/tensor/npy.h"

#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "paritas/base/test_files.h"
#include "paritas/tensor/random_tensor.h"

namespace paritas {
namespace {

using ::testing::HasSubstr;

std::string npy(const std::string& header, const std::string& data, int major = 1) {
  std::string text = "\x93NUMPY";
  text += static_cast<char>(major);
  text += '\0';
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) text += static_cast<char>(header.size() >> (8 * i) & 255);
  return text + header + data;
}

std::string dictionary(const std::string& descr, const std::string& order, const std::string& shape) {
  return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

template <class T>
std::vector<T> values(const Tensor& tensor) {
  std::vector<T> result(tensor.count());
  EXPECT_TRUE(tensor.bytes.read(0, std::as_writable_bytes(std::span(result))));
  return result;
}

class Npy : public ::testing::Test {
 protected:
  Result<Tensor> read(const std::string& content) { return read_npy(folder_.write("x.npy", content)); }

  // Checks that reading fails with one sentence that names the file, the cause and a remedy.
  void expect_refused(const std::string& content, const std::string& cause, const std::string& remedy = "") {
    const auto tensor = read(content);
    ASSERT_FALSE(tensor) << cause;
    EXPECT_EQ(tensor.error().kind, ErrorKind::kInput);
    EXPECT_THAT(tensor.error().subject, HasSubstr("x.npy"));
    EXPECT_THAT(tensor.error().cause, HasSubstr(cause));
    EXPECT_THAT(tensor.error().remedy, HasSubstr(remedy));
    EXPECT_FALSE(tensor.error().remedy.empty());
  }
  void expect_header_refused(const std::string& header, const std::string& cause, const std::string& remedy = "") {
    SCOPED_TRACE(header);
    expect_refused(npy(header, std::string(64, '\0')), cause, remedy);
  }

  TestFolder folder_;
};

TEST_F(Npy, ReadsLittleEndianRowMajorInPlace) {
  const std::string content = npy(dictionary("'<i2'", "False", "(2, 3)"), std::string("\1\0\2\0\3\0\4\0\5\0\6\0", 12));
  const auto tensor = read(content);
  ASSERT_TRUE(tensor) << tensor.error().message();
  EXPECT_EQ(tensor->dtype, DType::kI16);
  EXPECT_EQ(tensor->shape, (Shape{2, 3}));
  EXPECT_EQ(values<int16_t>(*tensor), (std::vector<int16_t>{1, 2, 3, 4, 5, 6}));
  ASSERT_NE(tensor->bytes.file(), nullptr);
  EXPECT_EQ(tensor->bytes.offset(), content.size() - 12);
}

TEST_F(Npy, ReadsEveryVersionAndSpelling) {
  for (int version : {1, 2, 3}) EXPECT_TRUE(read(npy(dictionary("'|u1'", "False", "(2,)"), "ab", version))) << version;
  for (const char* header : {
           "{'shape':(2,),'fortran_order':False,'descr':'|u1'}",
           "{\"descr\": \"u1\", \"fortran_order\": False, \"shape\": (2L,)}  \n",
           "\n{ 'descr' : '<u1' , 'fortran_order' : True , 'shape' : ( 2 , ) , }",
           "{'descr': '>u1', 'fortran_order': False, 'shape': (2, 1)}",
       }) {
    const auto tensor = read(npy(header, "ab"));
    ASSERT_TRUE(tensor) << header << ": " << tensor.error().message();
    EXPECT_EQ(values<uint8_t>(*tensor), (std::vector<uint8_t>{'a', 'b'}));
  }
}

TEST_F(Npy, ReadsScalarsAndEmptyArrays) {
  const auto scalar = read(npy(dictionary("'<f4'", "False", "()"), std::string("\0\0\200\77", 4)));
  ASSERT_TRUE(scalar);
  EXPECT_TRUE(scalar->shape.empty());
  EXPECT_EQ(values<float>(*scalar), std::vector<float>{1.0f});
  const auto empty = read(npy(dictionary("'>f8'", "True", "(3, 0, 2)"), ""));
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->count(), 0u);
}

TEST_F(Npy, SwapsBigEndian) {
  const auto shorts = read(npy(dictionary("'>u2'", "False", "(2,)"), std::string("\1\2\3\4", 4)));
  ASSERT_TRUE(shorts);
  EXPECT_EQ(values<uint16_t>(*shorts), (std::vector<uint16_t>{0x0102, 0x0304}));
  const auto longs = read(npy(dictionary("'>i8'", "False", "(1,)"), std::string("\1\2\3\4\5\6\7\10", 8)));
  ASSERT_TRUE(longs);
  EXPECT_EQ(values<int64_t>(*longs), std::vector<int64_t>{0x0102030405060708});
}

// Every rank up to 4, larger than a tile in the outer dimensions, against the definition of column-major order.
TEST_F(Npy, TransposesFortranOrder) {
  for (const Shape& shape :
       {Shape{7}, Shape{3, 2}, Shape{70, 45}, Shape{5, 4, 3}, Shape{33, 2, 3, 34}, Shape{1, 6, 1}}) {
    const uint64_t count = *element_count(shape);
    std::string data(count * 2, '\0');
    std::vector<uint16_t> expected(count);
    std::vector<int64_t> index(shape.size(), 0);
    for (uint64_t row_major = 0; row_major < count; ++row_major) {
      uint64_t column_major = 0;
      for (size_t i = shape.size(); i-- > 0;) column_major = column_major * shape[i] + index[i];
      expected[row_major] = static_cast<uint16_t>(row_major);
      data[column_major * 2] = static_cast<char>(row_major >> 8);  // big-endian too
      data[column_major * 2 + 1] = static_cast<char>(row_major);
      for (size_t i = shape.size(); i-- > 0;) {
        if (++index[i] < shape[i]) break;
        index[i] = 0;
      }
    }
    std::string dims;
    for (int64_t dim : shape) dims += std::to_string(dim) + ",";
    const auto tensor = read(npy(dictionary("'>u2'", "True", "(" + dims + ")"), data));
    ASSERT_TRUE(tensor) << tensor.error().message();
    EXPECT_EQ(values<uint16_t>(*tensor), expected) << to_string(shape);
  }
}

TEST_F(Npy, RefusesOtherTypesByName) {
  const auto type = [](const char* descr) { return dictionary(descr, "False", "(1,)"); };
  expect_header_refused(type("'|O'"), "Python objects", "np.save(..., allow_pickle=False)");
  expect_header_refused(type("[('a', '<f4'), ('b', '<i4')]"), "structured array");
  expect_header_refused(type("[[[[[[[['a'"), "structured array");
  expect_header_refused(type("'<c8'"), "complex");
  expect_header_refused(type("'|S5'"), "byte strings");
  expect_header_refused(type("'<U5'"), "text");
  expect_header_refused(type("'|V8'"), "records");
  expect_header_refused(type("'<M8[ns]'"), "dates");
  expect_header_refused(type("'<m8[ns]'"), "time spans");
  expect_header_refused(type("'<f16'"), "'<f16' is not supported");
  expect_header_refused(type("'<f-4'"), "is not supported");
  expect_header_refused(type("'<f99999999999999999999'"), "is not supported");
  expect_header_refused(type("''"), "is not supported");
  expect_header_refused(type("'f4'"), "byte order");
  expect_header_refused(type("'|f4'"), "byte order");
  expect_header_refused(type("'=f4'"), "is not supported");
}

TEST_F(Npy, RefusesHeadersThatAreNotThatDictionary) {
  const std::string good = "{'descr': '|u1', 'fortran_order': False, 'shape': (64,)";
  ASSERT_TRUE(read(npy(good + "}", std::string(64, '\0'))));
  expect_header_refused("", "does not start with '{'");
  expect_header_refused("{", "no key");
  expect_header_refused("{}", "lacks the key 'descr'");
  expect_header_refused(good, "neither ','");
  expect_header_refused(good + ", 'shape': (64,)}", "'shape' twice");
  expect_header_refused(good + ", 'extra': 1}", "unknown key 'extra'");
  expect_header_refused(good + "} + 1", "goes on after its end");
  expect_header_refused(good + "}" + std::string(1, '\0'), "goes on after its end");
  expect_header_refused("{'descr': '|u1', 'shape': (64,)}", "lacks the key 'fortran_order'");
  expect_header_refused("{'descr' '|u1'}", "no ':'");
  expect_header_refused("{'descr': __import__('os')}", "type as text");
  expect_header_refused("{'de\\x73cr': '|u1'}", "no key");
  expect_header_refused(dictionary("'|u1'", "1", "(64,)"), "True or False");
}

TEST_F(Npy, RefusesUnlawfulShapes) {
  const auto shape = [](const std::string& text) { return dictionary("'|u1'", "False", text); };
  expect_header_refused(shape("(64)"), "not a tuple");
  expect_header_refused(shape("64"), "as a tuple");
  expect_header_refused(shape("[64]"), "as a tuple");
  expect_header_refused(shape("((64,),)"), "not a whole number");
  expect_header_refused(shape(std::string(1000, '(')), "not a whole number");
  expect_header_refused(shape("(,)"), "not a whole number");
  expect_header_refused(shape("(64 1)"), "no ','");
  expect_header_refused(shape("(6.4,)"), "no ','");
  expect_header_refused(shape("(-1,)"), "negative dimension -1");
  expect_header_refused(shape("(99999999999999999999,)"), "too large");
  expect_header_refused(shape("(4294967296, 4294967296)"), "more elements than any file");
  expect_header_refused(shape("(4294967296, 4294967296, 0)"), "more elements than any file");
  std::string deep = "(";
  for (int i = 0; i < 65; ++i) deep += "1,";
  expect_header_refused(shape(deep + ")"), "more than 64 dimensions");
}

TEST_F(Npy, RefusesSizesThatTheFileDoesNotHave) {
  const std::string header = dictionary("'<f4'", "False", "(2,)");
  expect_refused(npy(header, "1234567"), "takes 8 bytes, the file has only 7", "truncated");
  expect_refused(npy(header, "123456789"), "1 bytes follow the array");
  expect_refused("", "is not a .npy file");
  expect_refused("\x93NUMPX\1\0\0\0", "is not a .npy file");
  expect_refused(std::string("\x93NUMPY\1\0v", 9), "ends within its header");
  expect_refused(std::string("\x93NUMPY\2\0\1\0\0", 11), "ends within its header");
  expect_refused(std::string("\x93NUMPY\4\0\2\0{}", 12), "version 4.0");
  expect_refused(std::string("\x93NUMPY\1\1\2\0{}", 12), "version 1.1");
  expect_refused(std::string("\x93NUMPY\1\0\377\377{}", 12), "claims a header of 65535 bytes");
  expect_refused(std::string("\x93NUMPY\2\0\377\377\377\377{}", 14), "claims a header of 4294967295 bytes");
  expect_refused(npy(std::string((1 << 20) + 1, ' '), "", 2), "at most 1048576 are lawful");
}

TEST_F(Npy, MissingFilesAndFoldersAreErrors) {
  EXPECT_THAT(read_npy(folder_.path() / "none.npy").error().cause, HasSubstr("no such file"));
  EXPECT_THAT(read_npy(folder_.path()).error().cause, HasSubstr("folder"));
}

TEST_F(Npy, WritesAlignedDataAndDeclaresForeignTypesAsIntegers) {
  const Path path = folder_.path() / "out.npy";
  const Tensor bf16 = tensor_from_values<uint16_t>(DType::kBF16, {1, 2}, {0x3F80, 0x4000});
  ASSERT_TRUE(write_npy(path, bf16, false));
  EXPECT_THAT(TestFolder::read(path), HasSubstr("{'descr': '<u2', 'fortran_order': False, 'shape': (1, 2), }"));
  const auto again = read_npy(path);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->dtype, DType::kU16);
  EXPECT_EQ(again->bytes.offset() % 64, 0u);
  EXPECT_EQ(values<uint16_t>(*again), (std::vector<uint16_t>{0x3F80, 0x4000}));

  const Tensor nibbles = tensor_from_values<uint8_t>(DType::kI4, {3}, {0x21, 0x03});
  EXPECT_FALSE(write_npy(path, nibbles, false)) << "the file exists";
  ASSERT_TRUE(write_npy(path, nibbles, true));
  EXPECT_EQ(read_npy(path)->shape, Shape{2});
  EXPECT_EQ(read_npy(path)->dtype, DType::kU8);
  EXPECT_FALSE(write_npy(path, Tensor{DType::kF32, Shape(65, 1), Bytes::in_memory(std::vector<std::byte>(4))}, true));
  EXPECT_EQ(folder_.entries(), 1u);
}

RC_GTEST_PROP(NpyProperty, WhatIsWrittenIsRead, ()) {
  const TestFolder folder;
  const Tensor tensor = *random_tensor(/*numpy_types_only=*/true);
  const Path path = folder.path() / "t.npy";
  RC_ASSERT(write_npy(path, tensor, false).has_value());
  const auto again = read_npy(path);
  RC_ASSERT(again.has_value());
  RC_ASSERT(again->dtype == tensor.dtype);
  RC_ASSERT(again->shape == tensor.shape);
  RC_ASSERT(all_bytes(*again) == all_bytes(tensor));
}

RC_GTEST_PROP(NpyProperty, DamagedHeadersNeverReachOutsideTheFile, ()) {
  const TestFolder folder;
  const Path path = folder.path() / "t.npy";
  RC_ASSERT(write_npy(path, *random_tensor(true), false).has_value());
  const std::string damaged = *damaged_copy(TestFolder::read(path), 128);
  const auto tensor = read_npy(folder.write("d.npy", damaged));
  if (tensor) {
    RC_ASSERT(tensor->bytes.size() <= damaged.size());
    RC_ASSERT(all_bytes(*tensor).size() == byte_size(tensor->dtype, tensor->count()));
  }
}

}  // namespace
}  // namespace paritas
