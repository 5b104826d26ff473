#include "paritas/tensor/safetensors.h"

#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "paritas/base/test_files.h"
#include "paritas/tensor/random_tensor.h"

namespace paritas {
namespace {

using ::testing::HasSubstr;

std::string file_of(const std::string& header, size_t data_size) {
  std::string text;
  for (int i = 0; i < 8; ++i) text += static_cast<char>(static_cast<uint64_t>(header.size()) >> (8 * i) & 255);
  return text + header + std::string(data_size, 'x');
}

std::string entry(const std::string& name, const std::string& dtype, const std::string& shape,
                  const std::string& range) {
  return "\"" + name + R"(":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + range + "}";
}

class Safetensors : public ::testing::Test {
 protected:
  Result<SafetensorsFile> read(const std::string& header, size_t data_size) {
    return read_safetensors(folder_.write("x.safetensors", file_of(header, data_size)));
  }
  void expect_refused(const std::string& header, size_t data_size, const std::string& cause) {
    SCOPED_TRACE(header);
    const auto file = read(header, data_size);
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().kind, ErrorKind::kInput);
    EXPECT_THAT(file.error().subject, HasSubstr("x.safetensors"));
    EXPECT_THAT(file.error().cause, HasSubstr(cause));
    EXPECT_FALSE(file.error().remedy.empty());
  }

  TestFolder folder_;
};

TEST_F(Safetensors, ReadsTensorsInOrderOfTheirData) {
  const std::string header = R"( {"__metadata__":{"who":"me"},)" + entry("b", "F16", "[1,2]", "[4,8]") + "," +
                             entry("a", "F32", "[]", "[0,4]") + "," + entry("e", "I64", "[0,3]", "[4,4]") + "}   ";
  const auto file = read(header.substr(1), 8);
  ASSERT_TRUE(file) << file.error().message();
  ASSERT_EQ(file->tensors.size(), 3u);
  EXPECT_EQ(file->tensors[0].first, "a");
  EXPECT_EQ(file->tensors[1].first, "e");
  EXPECT_EQ(file->tensors[2].first, "b");
  EXPECT_EQ(file->find("b")->dtype, DType::kF16);
  EXPECT_EQ(file->find("b")->shape, (Shape{1, 2}));
  EXPECT_EQ(file->find("b")->bytes.offset(), 8 + header.size() - 1 + 4);
  EXPECT_EQ(file->find("c"), nullptr);
  EXPECT_EQ(file->metadata.at("who"), "me");
}

TEST_F(Safetensors, ReadsEveryTypeOfTheFormatThatParitasKnows) {
  for (const char* code : {"BOOL", "I8", "U8", "F8_E4M3", "F8_E5M2"})
    EXPECT_TRUE(read("{" + entry("a", code, "[3]", "[0,3]") + "}", 3)) << code;
  for (const char* code : {"I16", "U16", "F16", "BF16"})
    EXPECT_TRUE(read("{" + entry("a", code, "[3]", "[0,6]") + "}", 6)) << code;
  for (const char* code : {"I32", "U32", "F32"})
    EXPECT_TRUE(read("{" + entry("a", code, "[3]", "[0,12]") + "}", 12)) << code;
  for (const char* code : {"I64", "U64", "F64"})
    EXPECT_TRUE(read("{" + entry("a", code, "[3]", "[0,24]") + "}", 24)) << code;
  for (const char* code : {"C64", "F4", "F8_E8M0", "f32", ""})
    expect_refused("{" + entry("a", code, "[3]", "[0,24]") + "}", 24, "which is not supported");
}

TEST_F(Safetensors, ReadsAFileWithoutTensors) {
  const auto file = read("{}", 0);
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->tensors.empty());
}

TEST_F(Safetensors, RefusesRangesThatDoNotCoverTheData) {
  const auto two = [](const std::string& first, const std::string& second) {
    return "{" + entry("a", "U8", "[4]", first) + "," + entry("b", "U8", "[4]", second) + "}";
  };
  ASSERT_TRUE(read(two("[0,4]", "[4,8]"), 8));
  expect_refused(two("[0,4]", "[2,6]"), 8, "\"b\" overlaps");
  expect_refused(two("[0,4]", "[0,4]"), 4, "\"b\" overlaps");
  expect_refused(two("[0,4]", "[5,9]"), 9, "bytes 4 to 5 of the data belong to no tensor");
  expect_refused(two("[1,5]", "[5,9]"), 9, "bytes 0 to 1 of the data belong to no tensor");
  expect_refused(two("[0,4]", "[4,8]"), 9, "1 bytes follow the last tensor");
  expect_refused("{}", 1, "1 bytes follow the last tensor");
  expect_refused(two("[0,4]", "[4,8]"), 7, "\"b\" claims bytes 4 to 8, the file holds 7");
  expect_refused(two("[0,4]", "[8,4]"), 8, "claims bytes 8 to 4");
  expect_refused(two("[0,4]", "[4,18446744073709551615]"), 8, "claims bytes 4 to 18446744073709551615");
  expect_refused("{" + entry("a", "F32", "[4]", "[0,4]") + "}", 4, "takes 16 bytes, its range has 4");
  expect_refused("{" + entry("a", "U8", "[4294967296,4294967296]", "[0,0]") + "}", 0, "more elements than any file");
  expect_refused("{" + entry("a", "U8", "[18446744073709551615]", "[0,1]") + "}", 1, "claims a dimension of");
}

TEST_F(Safetensors, RefusesHeadersOfAnotherForm) {
  const std::string good = entry("a", "U8", "[1]", "[0,1]");
  ASSERT_TRUE(read("{" + good + "}", 1));
  expect_refused("{" + good + "," + good + "}", 1, "name \"a\" stands twice");
  expect_refused("{" + good + "", 1, "not valid JSON at byte");
  expect_refused("{" + good + "} x", 1, "not valid JSON at byte");
  expect_refused("{" + good + "}{}", 1, "not valid JSON at byte");
  expect_refused("{" + good + "}" + std::string(2, '\0'), 1, "not a JSON object");
  expect_refused("", 0, "not a JSON object");
  expect_refused(" {}", 0, "not a JSON object");
  expect_refused("[]", 0, "not a JSON object");
  expect_refused("{\"a\":1}", 0, "a number");
  expect_refused("{\"a\":[]}", 0, "an array");
  expect_refused("{\"a\":null}", 0, "null");
  expect_refused("{\"a\":{}}", 0, "lacks dtype, shape or data_offsets");
  expect_refused(R"({"a":{"dtype":"U8","shape":[1]}})", 1, "lacks dtype");
  expect_refused(R"({"a":{"dtype":"U8","dtype":"U8"}})", 1, "\"dtype\" twice");
  expect_refused(R"({"a":{"kind":"U8"}})", 1, "which the format does not know");
  expect_refused("{" + entry("a", "U8", "[[1]]", "[0,1]") + "}", 1, "an array in the entry of \"a\"");
  expect_refused("{" + entry("a", "U8", "{}", "[0,1]") + "}", 1, "a nested object in the entry of \"a\"");
  expect_refused("{" + entry("a", "U8", "[-1]", "[0,1]") + "}", 1, "a negative number");
  expect_refused("{" + entry("a", "U8", "[1.0]", "[0,1]") + "}", 1, "a number that is not whole");
  expect_refused("{" + entry("a", "U8", "[1e400]", "[0,1]") + "}", 1, "not valid JSON");
  expect_refused("{" + entry("a", "U8", "[true]", "[0,1]") + "}", 1, "true or false");
  expect_refused("{" + entry("a", "U8", "1", "[0,1]") + "}", 1, "a number");
  expect_refused("{" + entry("a", "U8", "[1]", "[0,1,2]") + "}", 1, "3 data offsets");
  expect_refused("{" + entry("a", "U8", "[1]", "[0]") + "}", 1, "1 data offsets");
  expect_refused("{" + entry("a\xff", "U8", "[1]", "[0,1]") + "}", 1, "not valid UTF-8 at byte");
  expect_refused("{\"a\":" + std::string(100'000, '['), 0, "an array");
}

TEST_F(Safetensors, RefusesMetadataThatIsNotTextToText) {
  expect_refused(R"({"__metadata__":"x"})", 0, "text");
  expect_refused(R"({"__metadata__":[]})", 0, "an array");
  expect_refused(R"({"__metadata__":{"a":1}})", 0, "a number in the entry of \"__metadata__\"");
  expect_refused(R"({"__metadata__":{"a":{"b":"c"}}})", 0, "a nested object");
  expect_refused(R"({"__metadata__":{"a":["b"]}})", 0, "an array");
  expect_refused(R"({"__metadata__":{"a":null}})", 0, "null");
  expect_refused(R"({"__metadata__":{"a":"b","a":"c"}})", 0, "\"a\" stands twice in __metadata__");
  expect_refused(R"({"__metadata__":{},"__metadata__":{}})", 0, "\"__metadata__\" stands twice");
}

TEST_F(Safetensors, RefusesHeaderLengthsThatTheFileDoesNotHave) {
  const auto refused = [&](const std::string& content, const char* cause) {
    const auto file = read_safetensors(folder_.write("x.safetensors", content));
    ASSERT_FALSE(file) << cause;
    EXPECT_THAT(file.error().cause, HasSubstr(cause));
  };
  refused("", "too short");
  refused("1234567", "too short");
  refused(std::string("\3\0\0\0\0\0\0\0{}", 10), "claims a header of 3 bytes, the file has 10");
  refused("\xff\xff\xff\xff\xff\xff\xff\xff{}", "claims a header of 18446744073709551615 bytes");
  // A sparse file: large enough for the claim, the limit must speak.
  const Path path = folder_.write("x.safetensors", std::string("\1\xe1\xf5\5\0\0\0\0{}", 10));
  std::filesystem::resize_file(path, 200'000'000);
  EXPECT_THAT(read_safetensors(path).error().cause, HasSubstr("at most 100000000 are lawful"));
}

TEST_F(Safetensors, WriterPadsTheHeaderAndHashesTheFile) {
  const Path path = folder_.path() / "out.safetensors";
  auto writer = SafetensorsWriter::create(path, {{"b", DType::kI4, {3}}, {"a", DType::kF32, {1}}}, {}, false);
  ASSERT_TRUE(writer) << writer.error().message();
  EXPECT_FALSE(std::filesystem::exists(path));
  const std::string data =
      "\x21\x03"
      "abcd";
  ASSERT_TRUE(writer->append(std::as_bytes(std::span(data)).first(1)));
  ASSERT_TRUE(writer->append(std::as_bytes(std::span(data)).subspan(1)));
  const auto hash = writer->finish();
  ASSERT_TRUE(hash);
  EXPECT_EQ(*hash, *sha256_of_file(path));
  const std::string content = TestFolder::read(path);
  const std::string header = R"({"b":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                             R"("a":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}})";
  ASSERT_GT(content.size(), 8 + header.size());
  EXPECT_EQ(content.substr(8, header.size()), header);
  EXPECT_EQ((content.size() - data.size()) % 8, 0u);
  EXPECT_EQ(content.substr(content.size() - data.size()), data);
  EXPECT_EQ(read_safetensors(path)->find("b")->dtype, DType::kU8);
}

TEST_F(Safetensors, AWriterThatDoesNotFinishLeavesNothing) {
  const Path path = folder_.path() / "out.safetensors";
  {
    auto writer = SafetensorsWriter::create(path, {{"a", DType::kF32, {1}}}, {}, false);
    ASSERT_TRUE(writer);
    EXPECT_THAT(writer->finish().error().cause, HasSubstr("4 bytes of data were declared, 0 were given"));
    EXPECT_THAT(writer->append(std::vector<std::byte>(5)).error().cause, HasSubstr("more were given"));
  }
  EXPECT_EQ(folder_.entries(), 0u);
}

TEST_F(Safetensors, WriterRefusesWhatCannotBeReadBack) {
  const Path path = folder_.path() / "out.safetensors";
  const auto refused = [&](const std::vector<SafetensorsEntry>& entries,
                           const std::map<std::string, std::string>& metadata) {
    return SafetensorsWriter::create(path, entries, metadata, false).error().cause;
  };
  const SafetensorsEntry a{"a", DType::kU8, {1}};
  EXPECT_THAT(refused({a, a}, {}), HasSubstr("\"a\" cannot be written twice"));
  EXPECT_THAT(refused({{"__metadata__", DType::kU8, {1}}}, {}), HasSubstr("reserved"));
  EXPECT_THAT(refused({{"a\xff", DType::kU8, {1}}}, {}), HasSubstr("not valid UTF-8"));
  EXPECT_THAT(refused({a}, {{"k", "\xff"}}), HasSubstr("not valid UTF-8"));
  EXPECT_THAT(refused({{"a", DType::kU8, {-1}}}, {}), HasSubstr("negative dimension"));
  EXPECT_EQ(folder_.entries(), 0u);
}

TEST_F(Safetensors, ReadsThousandsOfTensorsQuickly) {
  std::vector<SafetensorsEntry> entries;
  for (int i = 0; i < 2000; ++i)
    entries.push_back(
        {"/encoder/layers." + std::to_string(i) + "/self_attn/MatMul_output_0", DType::kF32, {1, 10, 100}});
  const Path path = folder_.path() / "many.safetensors";
  auto writer = SafetensorsWriter::create(path, entries, {}, false);
  ASSERT_TRUE(writer);
  const std::vector<std::byte> zeros(4000);
  for (size_t i = 0; i < entries.size(); ++i) ASSERT_TRUE(writer->append(zeros));
  ASSERT_TRUE(writer->finish());
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const auto file = read_safetensors(path);
    best = std::min(best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    ASSERT_TRUE(file);
    ASSERT_EQ(file->tensors.size(), 2000u);
    ASSERT_EQ(file->tensors[1999].first, entries[1999].name);
  }
  RecordProperty("milliseconds", std::to_string(best));
  std::printf("2,000 tensors read in %.2f ms\n", best);
#ifdef NDEBUG
  EXPECT_LT(best, 10.0);  // optimised builds only: sanitizers and -O1 say nothing
#endif
}

std::vector<std::pair<std::string, Tensor>> random_file() {
  std::vector<std::pair<std::string, Tensor>> tensors;
  const auto names = *rc::gen::unique<std::vector<std::string>>(
      rc::gen::container<std::string>(rc::gen::oneOf(rc::gen::inRange<char>(' ', '~'), rc::gen::inRange<char>(0, 31))));
  for (const auto& name : names) tensors.emplace_back(name, *random_tensor(false));
  return tensors;
}

RC_GTEST_PROP(SafetensorsProperty, WhatIsWrittenIsRead, ()) {
  const TestFolder folder;
  const auto tensors = random_file();
  const std::map<std::string, std::string> metadata = {{"a \"key\"", "line\nline"}};
  const Path path = folder.path() / "t.safetensors";
  RC_ASSERT(write_safetensors(path, tensors, metadata, false).has_value());
  const auto file = read_safetensors(path);
  RC_ASSERT(file.has_value());
  RC_ASSERT(file->metadata == metadata);
  RC_ASSERT(file->tensors.size() == tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto& [name, expected] = tensors[i];
    const Tensor& actual = file->tensors[i].second;
    RC_ASSERT(file->tensors[i].first == name);
    RC_ASSERT(all_bytes(actual) == all_bytes(expected));
    if (bits(expected.dtype) < 8) {
      RC_ASSERT(actual.dtype == DType::kU8);
      continue;
    }
    RC_ASSERT(actual.dtype == expected.dtype);
    RC_ASSERT(actual.shape == expected.shape);
  }
}

RC_GTEST_PROP(SafetensorsProperty, DamagedHeadersNeverReachOutsideTheFile, ()) {
  const TestFolder folder;
  const Path path = folder.path() / "t.safetensors";
  RC_ASSERT(write_safetensors(path, random_file(), {{"k", "v"}}, false).has_value());
  const std::string damaged = *damaged_copy(TestFolder::read(path), 400);
  const auto file = read_safetensors(folder.write("d.safetensors", damaged));
  if (!file) return;
  for (const auto& [name, tensor] : file->tensors) {
    RC_ASSERT(tensor.bytes.offset() + tensor.bytes.size() <= damaged.size());
    RC_ASSERT(all_bytes(tensor).size() == byte_size(tensor.dtype, tensor.count()));
  }
}

}  // namespace
}  // namespace paritas
