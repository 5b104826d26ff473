#include "paritas/recording/recording.h"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paritas/base/test_files.h"

namespace paritas {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TensorInfo listed(const std::string& name, DType dtype, Role role) {
  TensorInfo info;
  info.name = name;
  info.dtype = dtype;
  info.role = role;
  return info;
}

std::vector<std::byte> bytes_of(const Tensor& tensor) {
  std::vector<std::byte> bytes(tensor.bytes.size());
  EXPECT_TRUE(tensor.bytes.read(0, bytes));
  return bytes;
}

class RecordingTest : public ::testing::Test {
 protected:
  // Two samples of an output "y", an input "x" and a packed 4-bit intermediate "q" of three elements.
  Path make(const std::string& name = "rec", bool overwrite = false) {
    const Path path = folder_.path() / name;
    RunInfo info;
    info.target = "cpu";
    info.tensors = {listed("x", DType::kF32, Role::kInput), listed("y", DType::kF16, Role::kOutput),
                    listed("q", DType::kI4, Role::kIntermediate)};
    auto writer = RecordingWriter::create(path, overwrite).value();
    for (float sample : {1.0F, 2.0F}) {
      const NamedTensors tensors = {
          {"x", tensor_from_values<float>(DType::kF32, {1, 2}, {sample, 0.5F})},
          {"y", tensor_from_values<uint16_t>(DType::kF16, {}, {0x3c00})},
          {"q", make_tensor(DType::kI4, {3}, Bytes::in_memory({std::byte{0x21}, std::byte{0x03}}), "q").value()}};
      EXPECT_TRUE(writer.add_sample(tensors));
    }
    EXPECT_TRUE(writer.finish(info));
    return path;
  }

  // Rewrites run.json after `edit` changed it.
  void edit_index(const Path& recording, const std::function<void(Json&)>& edit) {
    Json json = Json::parse(TestFolder::read(recording / kRunIndex));
    edit(json);
    std::ofstream(recording / kRunIndex) << json.dump();
  }

  // The first error when everything in the recording is read; "" when there is none.
  static std::string read_all(const Path& path, bool verify = false) {
    auto stream = open_samples(path, {verify});
    if (!stream) return stream.error().message();
    for (uint64_t i = 0; i < (*stream)->sample_count(); ++i)
      if (auto sample = (*stream)->sample(i); !sample) return sample.error().message();
    return {};
  }

  TestFolder folder_;
};

TEST_F(RecordingTest, RoundTripKeepsNamesTypesShapesAndBytes) {
  auto stream = open_samples(make(), {true}).value();
  EXPECT_EQ(stream->sample_count(), 2u);
  EXPECT_EQ(stream->info().target, "cpu");
  for (uint64_t i = 0; i < 2; ++i) {
    const Sample sample = stream->sample(i).value();
    EXPECT_EQ(sample.id, "sample-00000" + std::to_string(i));
    ASSERT_EQ(sample.tensors.size(), 3u);
    EXPECT_EQ(sample.tensors[0].first, "x");  // in the order of run.json
    EXPECT_EQ(sample.tensors[0].second.shape, (Shape{1, 2}));
    float first = 0;
    std::memcpy(&first, bytes_of(sample.tensors[0].second).data(), sizeof first);
    EXPECT_EQ(first, static_cast<float>(i + 1));
    EXPECT_EQ(sample.tensors[1].second.dtype, DType::kF16);
    EXPECT_EQ(sample.tensors[1].second.shape, Shape{});
  }
}

TEST_F(RecordingTest, FourBitTensorsComeBackPackedWithTheirTypeAndShape) {
  auto stream = open_samples(make(), {}).value();
  const Tensor q = stream->sample(0)->tensors[2].second;
  EXPECT_EQ(q.dtype, DType::kI4);
  EXPECT_EQ(q.shape, Shape{3});
  EXPECT_EQ(bytes_of(q), (std::vector<std::byte>{std::byte{0x21}, std::byte{0x03}}));
}

TEST_F(RecordingTest, AFourBitShapeMustFitItsBytes) {
  const Path path = make();
  edit_index(path, [](Json& json) { json["samples"][0]["shapes"]["q"] = {300}; });
  EXPECT_THAT(read_all(path), HasSubstr("sample-000000"));
  edit_index(path, [](Json& json) { json["samples"][0]["shapes"]["q"] = {"3"}; });
  EXPECT_THAT(read_all(path), HasSubstr("\"q\" has a dimension that is no whole number"));
  edit_index(path, [](Json& json) { json["samples"][0]["shapes"].erase("q"); });
  EXPECT_THAT(read_all(path), HasSubstr("\"q\" is packed, and run.json tells no shape of it"));
}

TEST_F(RecordingTest, ShapesOfTheIndexAreHeldAgainstTheFile) {
  const Path path = make();
  const std::string original = TestFolder::read(path / kRunIndex);
  const auto refused = [&](const std::function<void(Json&)>& edit) {
    std::ofstream(path / kRunIndex) << original;
    edit_index(path, [&](Json& json) { edit(json["samples"][1]["shapes"]); });
    return read_all(path);
  };
  EXPECT_THAT(refused([](Json& shapes) {
                shapes["x"] = {2, 1};
              }),
              AllOf(HasSubstr("sample-000001.safetensors: tensor \"x\" has the shape [1,2], run.json says [2,1]"),
                    HasSubstr("record it again")));
  EXPECT_THAT(refused([](Json& shapes) { shapes["y"] = Json::array({1}); }), HasSubstr("\"y\" has the shape []"));
  EXPECT_THAT(refused([](Json& shapes) { shapes["w"] = {1}; }), HasSubstr("\"w\" is not listed in run.json"));
  EXPECT_EQ(refused([](Json& shapes) { shapes.erase("x"); }), "");  // says nothing
  std::ofstream(path / kRunIndex) << original;
  edit_index(path, [](Json& json) {
    json["tensors"].push_back({{"name", "z"}, {"dtype", "float32"}, {"role", "output"}});
    json["samples"][0]["shapes"]["z"] = {4};
  });
  EXPECT_THAT(read_all(path), HasSubstr("sample-000000.safetensors: holds no tensor \"z\", run.json lists it"));
}

TEST_F(RecordingTest, SamplesMayBeReadAgainAndAreHashedOnce) {
  const Path path = make();
  auto stream = open_samples(path, {true}).value();
  for (const uint64_t index : {1, 0, 1}) EXPECT_EQ(stream->sample(index)->tensors.size(), 3u);
  std::string content = TestFolder::read(path / "sample-000001.safetensors");
  content.back() ^= 1;
  std::ofstream(path / "sample-000001.safetensors", std::ios::binary) << content;
  EXPECT_TRUE(stream->sample(1));
  EXPECT_FALSE(open_samples(path, {true}).value()->sample(1));
}

TEST_F(RecordingTest, AMissingSampleFileIsNamed) {
  const Path path = make();
  std::filesystem::remove(path / "sample-000001.safetensors");
  EXPECT_THAT(read_all(path), AllOf(HasSubstr("sample-000001.safetensors"), HasSubstr("no such file")));
}

TEST_F(RecordingTest, AFileOfAnotherSizeIsDamage) {
  const Path path = make();
  std::ofstream(path / "sample-000000.safetensors", std::ios::app) << "x";
  EXPECT_THAT(read_all(path), AllOf(HasSubstr("bytes, run.json says"), HasSubstr("damaged")));
}

TEST_F(RecordingTest, ChangedContentOfTheSameSizeNeedsTheHashesToBeSeen) {
  const Path path = make();
  const Path file = path / "sample-000000.safetensors";
  std::string content = TestFolder::read(file);
  content.back() ^= 1;
  std::ofstream(file, std::ios::binary) << content;
  EXPECT_EQ(read_all(path), "");
  EXPECT_THAT(read_all(path, true),
              AllOf(HasSubstr("sample-000000"), HasSubstr("SHA-256"), HasSubstr("changed after")));
}

TEST_F(RecordingTest, SampleFilesStayInsideTheFolder) {
  const Path path = make();
  std::filesystem::copy_file(path / "sample-000000.safetensors", folder_.path() / "outside.safetensors");
  for (const std::string& file :
       {std::string("../outside.safetensors"), (folder_.path() / "outside.safetensors").string()}) {
    edit_index(path, [&](Json& json) { json["samples"][0]["file"] = file; });
    EXPECT_THAT(read_all(path), HasSubstr("does not stay inside the folder")) << file;
  }
  std::filesystem::create_symlink("../outside.safetensors", path / "link.safetensors");
  edit_index(path, [](Json& json) { json["samples"][0]["file"] = "link.safetensors"; });
  EXPECT_THAT(read_all(path), HasSubstr("does not stay inside the folder"));
}

TEST_F(RecordingTest, LyingIndexesAreRefused) {
  const Path path = make();
  const std::string original = TestFolder::read(path / kRunIndex);
  const auto refused = [&](const std::function<void(Json&)>& edit) {
    std::ofstream(path / kRunIndex) << original;
    edit_index(path, edit);
    return read_all(path);
  };
  EXPECT_THAT(refused([](Json& j) { j["tensors"].push_back(Json(j["tensors"][0])); }),
              HasSubstr("\"x\" is listed twice"));
  EXPECT_THAT(refused([](Json& j) { j["tensors"][0]["dtype"] = "float33"; }),
              HasSubstr("unknown element type \"float33\""));
  EXPECT_THAT(refused([](Json& j) { j["tensors"][0]["dtype"] = "int32"; }),
              HasSubstr("\"x\" is float32, run.json says int32"));
  EXPECT_THAT(refused([](Json& j) { j["tensors"].erase(0); }), HasSubstr("\"x\" is not listed in run.json"));
  EXPECT_THAT(refused([](Json& j) { j["schema"] = "paritas.run/2"; }), HasSubstr("is not paritas.run/1"));
  EXPECT_THAT(refused([](Json& j) { j.erase("schema"); }), HasSubstr("\"schema\" is missing"));
  EXPECT_THAT(refused([](Json& j) { j["samples"] = 2; }), HasSubstr("\"samples\" is not an array"));
  EXPECT_THAT(refused([](Json& j) { j["samples"][0].erase("sha256"); }), HasSubstr("\"sha256\" is missing"));
  EXPECT_THAT(refused([](Json& j) { j["samples"][0]["bytes"] = -1; }), HasSubstr("\"bytes\" is negative"));
  EXPECT_THAT(refused([](Json& j) { j["samples"][0] = "sample-000000.safetensors"; }), HasSubstr("expected an object"));
  std::ofstream(path / kRunIndex) << original << "}";
  EXPECT_THAT(read_all(path), HasSubstr("not valid JSON"));
  std::ofstream(path / kRunIndex) << original.substr(0, original.size() / 2);
  EXPECT_THAT(read_all(path), HasSubstr("not valid JSON"));
  std::ofstream(path / kRunIndex) << original;
  EXPECT_EQ(read_all(path), "");
}

TEST_F(RecordingTest, ATensorThatASampleLacksIsLeftOutOfIt) {
  const Path path = make();
  edit_index(path, [](Json& json) {
    json["tensors"].push_back({{"name", "z"}, {"dtype", "float32"}, {"role", "intermediate"}});
  });
  auto stream = open_samples(path, {}).value();
  EXPECT_EQ(stream->sample(0)->tensors.size(), 3u);
  EXPECT_NE(stream->info().find("z"), nullptr);
}

TEST_F(RecordingTest, WhatIsNoRecordingIsRefusedWithTheRemedy) {
  EXPECT_THAT(read_all(folder_.path() / "nowhere"), HasSubstr("no such file or folder"));
  EXPECT_THAT(read_all(folder_.path()), AllOf(HasSubstr("holds no run.json"), HasSubstr("paritas run")));
  EXPECT_THAT(read_all(folder_.write("notes.txt", "hello")), HasSubstr("neither a recording folder nor"));
}

TEST_F(RecordingTest, ALooseFileIsOneSampleOfOutputs) {
  const Path path = folder_.path() / "loose.safetensors";
  ASSERT_TRUE(write_safetensors(path,
                                {{"b", tensor_from_values<float>(DType::kF32, {1}, {1})},
                                 {"a", tensor_from_values<float>(DType::kF32, {1}, {2})}},
                                {}, false));
  auto stream = open_samples(path, {}).value();
  EXPECT_EQ(stream->sample_count(), 1u);
  EXPECT_EQ(stream->info().tensors.size(), 2u);
  EXPECT_EQ(stream->info().tensors[0].role, Role::kOutput);
  EXPECT_EQ(stream->sample(0)->tensors.size(), 2u);
}

TEST_F(RecordingTest, NothingBearsTheNameBeforeFinish) {
  const Path path = folder_.path() / "rec";
  {
    auto writer = RecordingWriter::create(path, false).value();
    ASSERT_TRUE(writer.add_sample({{"y", tensor_from_values<float>(DType::kF32, {1}, {1})}}));
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  EXPECT_EQ(folder_.entries(), 0u);
}

TEST_F(RecordingTest, AnExistingFolderIsRefusedUnlessItIsARecordingAndForced) {
  const Path path = make();
  EXPECT_THAT(RecordingWriter::create(path, false).error().message(), HasSubstr("exists already"));
  make("rec", true);
  EXPECT_EQ(read_all(path, true), "");
  const Path foreign = folder_.path() / "foreign";
  std::filesystem::create_directory(foreign);
  std::ofstream(foreign / "thesis.txt") << "irreplaceable";
  EXPECT_THAT(RecordingWriter::create(foreign, true).error().message(), HasSubstr("not ours to replace"));
  EXPECT_TRUE(std::filesystem::exists(foreign / "thesis.txt"));
  EXPECT_EQ(folder_.entries(), 2u);
}

TEST_F(RecordingTest, ATensorGivenTwiceIsRefused) {
  auto writer = RecordingWriter::create(folder_.path() / "rec", false).value();
  const Tensor tensor = tensor_from_values<float>(DType::kF32, {1}, {1});
  EXPECT_THAT(writer.add_sample({{"y", tensor}, {"y", tensor}}).error().message(), HasSubstr("\"y\" was given twice"));
}

}  // namespace
}  // namespace paritas
