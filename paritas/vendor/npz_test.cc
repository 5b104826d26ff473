#include "paritas/vendor/npz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "paritas/base/test_files.h"
#include "paritas/vendor/testing.h"

namespace paritas {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string kArray = npy_text("'<f4'", "(2,)", std::string("\0\0\x80\x3f\0\0\0\x40", 8));

std::string refusal(const std::string& archive) {
  const TestFolder folder;
  const auto sample = find_npz(folder.write("a.npz", archive), {});
  if (!sample) return sample.error().message();
  for (const FoundTensor& tensor : *sample)
    if (const auto read = tensor.read(); !read) return read.error().message();
  return "accepted";
}

TEST(Npz, ReadsStoredAndDeflatedMembers) {
  const TestFolder folder;
  for (const bool deflate : {false, true}) {
    ZipMaker zip;
    zip.add("/a/b.npy", kArray, deflate);
    zip.add("c.npy", npy_text("'<i8'", "()", std::string(8, '\0')), deflate);
    const auto sample = find_npz(folder.write("a.npz", zip.finish()), {}).value();
    ASSERT_EQ(sample.size(), 2u);
    EXPECT_EQ(sample[0].name, "/a/b");
    EXPECT_EQ(sample[0].dtype, DType::kF32);
    EXPECT_EQ(sample[0].shape, (Shape{2}));
    EXPECT_EQ(doubles(sample[0].read().value()), (std::vector<double>{1, 2}));
    EXPECT_EQ(sample[0].read()->bytes.file() == nullptr, deflate);
    EXPECT_EQ(sample[1].shape, Shape{});
  }
}

TEST(Npz, DecodedTensorsGoToTheScratchFolder) {
  const TestFolder folder;
  ZipMaker zip;
  std::string data(5 << 20, '\7');
  for (size_t i = 0; i < data.size(); i += 97) data[i] = static_cast<char>(i * 2654435761u >> 13);
  zip.add("a.npy", npy_text("'|u1'", "(5242880,)", data), true);
  ImportOptions options;
  options.scratch = folder.path();
  const auto sample = find_npz(folder.write("a.npz", zip.finish()), options).value();
  const auto tensor = sample[0].read().value();
  EXPECT_NE(tensor.bytes.file(), nullptr);
  EXPECT_EQ(folder.entries(), 1u);  // nameless
  std::string again(data.size(), '\0');
  ASSERT_TRUE(tensor.bytes.read(0, std::as_writable_bytes(std::span(again))));
  EXPECT_EQ(again, data);
}

TEST(Npz, BombsAreRefused) {
  {
    ZipMaker zip;  // inflates beyond what its header claims
    zip.add("a.npy", kArray + std::string(1 << 20, '\0'), true);
    EXPECT_THAT(refusal(zip.finish()), HasSubstr("bytes follow the array"));
  }
  {
    ZipMaker zip;  // and beyond what the directory claims
    zip.add("a.npy", kArray + std::string(1 << 20, '\0'), true, kArray.size());
    EXPECT_THAT(refusal(zip.finish()), HasSubstr("does not inflate to the"));
  }
  {
    ZipMaker zip;
    zip.add("a.npy", kArray, true, uint64_t{1} << 40);
    EXPECT_THAT(refusal(zip.finish()), HasSubstr("which nothing can"));
  }
  {
    ZipMaker zip;  // lawful in every field
    zip.add("a.npy", npy_text("'|u1'", "(300000000,)", std::string(300000000, '\0')), true);
    EXPECT_THAT(refusal(zip.finish()), AllOf(HasSubstr("made to fill memory"), HasSubstr("numpy.savez")));
  }
}

TEST(Npz, NamesThatClimbOrRepeatAreRefused) {
  for (const char* name : {"../a.npy", "a/../../b.npy", "..\\a.npy", ".."}) {
    ZipMaker zip;
    zip.add(name, kArray, false);
    EXPECT_THAT(refusal(zip.finish()), HasSubstr("climbs out of its folder")) << name;
  }
  ZipMaker twice;
  twice.add("a.npy", kArray, false);
  twice.add("a.npy", kArray, false);
  EXPECT_THAT(refusal(twice.finish()), HasSubstr("two members are called \"a.npy\""));
  ZipMaker bad;
  bad.add("\xff.npy", kArray, false);
  EXPECT_THAT(refusal(bad.finish()), AllOf(HasSubstr("\\xff"), HasSubstr("not UTF-8")));
}

TEST(Npz, DamagedArchivesAreRefusedWithTheCause) {
  ZipMaker zip;
  zip.add("a.npy", kArray, true);
  const std::string good = zip.finish();
  EXPECT_EQ(refusal(good), "accepted");
  EXPECT_THAT(refusal(""), HasSubstr("is not a zip archive"));
  EXPECT_THAT(refusal(good.substr(0, good.size() - 1)), HasSubstr("is not a zip archive"));
  const size_t directory = good.find("PK\x01\x02");
  const auto changed = [&](size_t at, char value) {
    std::string text = good;
    text[at] = value;
    return refusal(text);
  };
  EXPECT_THAT(changed(directory + 8, 1), HasSubstr("is encrypted"));
  EXPECT_THAT(changed(directory + 10, 12), HasSubstr("compressed by method 12"));
  EXPECT_THAT(changed(directory + 16, static_cast<char>(good[directory + 16] + 1)), HasSubstr("CRC-32"));
  EXPECT_THAT(changed(directory + 42, 1), HasSubstr("the directory starts at"));
  EXPECT_THAT(changed(directory + 43, 100), HasSubstr("the directory starts at"));
  EXPECT_THAT(changed(30, 'b'), HasSubstr("contradicts the directory"));
}

TEST(Npz, OverlappingMembersAreRefused) {
  ZipMaker inner;
  inner.add("b.npy", kArray, false);
  ZipMaker zip;
  zip.add("a.npy", inner.members(), false);
  zip.add_nested(inner, 30 + 5);  // behind the header of a.npy
  EXPECT_THAT(refusal(zip.finish()), HasSubstr("\"a.npy\" and \"b.npy\" share bytes"));
}

TEST(Npz, PyTorchFilesAreRefused) {
  ZipMaker zip;
  zip.add("archive/data.pkl", "x", false);
  EXPECT_THAT(refusal(zip.finish()), AllOf(HasSubstr("PyTorch"), HasSubstr("safetensors")));
  ZipMaker other;
  other.add("a.txt", "x", false);
  EXPECT_THAT(refusal(other.finish()), HasSubstr("is not a .npy member"));
  ZipMaker object;
  object.add("a.npy", npy_text("'|O'", "(1,)", "x"), false);
  EXPECT_THAT(refusal(object.finish()), HasSubstr("Python objects"));
}

}  // namespace
}  // namespace paritas
