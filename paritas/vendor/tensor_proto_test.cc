#include "paritas/vendor/tensor_proto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paritas/base/test_files.h"
#include "paritas/onnx/model.h"
#include "paritas/vendor/testing.h"

namespace paritas {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

::onnx::TensorProto proto(const std::string& name) {
  const Tensor tensor = tensor_from_values<float>(DType::kF32, {2}, {1, 2});
  return onnx_model::proto_from_tensor(name, tensor).value();
}

std::string refusal(const Path& path) {
  const auto found = find_tensor_proto_file(path);
  return found ? "accepted" : found.error().message();
}

TEST(TensorProtoFile, RawDataStaysInTheFile) {
  const TestFolder folder;
  const Found found = find_tensor_proto_file(folder.write("a.pb", proto("/a").SerializeAsString())).value();
  EXPECT_EQ(found.samples[0][0].name, "/a");
  const Tensor tensor = found.samples[0][0].read().value();
  EXPECT_NE(tensor.bytes.file(), nullptr);
  EXPECT_EQ(doubles(tensor), (std::vector<double>{1, 2}));
}

TEST(TensorProtoFile, NamelessOnesAreCalledAsTheFile) {
  const TestFolder folder;
  EXPECT_EQ(find_tensor_proto_file(folder.write("scores.pb", proto("").SerializeAsString()))->samples[0][0].name,
            "scores");
}

TEST(TensorProtoFile, MalformedFilesAreRefusedWithTheCause) {
  const TestFolder folder;
  const std::string good = proto("a").SerializeAsString();
  EXPECT_THAT(refusal(folder.write("a.pb", "")), HasSubstr("names no data type"));
  EXPECT_THAT(refusal(folder.write("a.pb", good.substr(0, good.size() - 1))), HasSubstr("is not an ONNX TensorProto"));
  EXPECT_THAT(refusal(folder.write("a.pb", "hello")), HasSubstr("is not an ONNX TensorProto"));
  auto lie = proto("a");
  lie.set_dims(0, 3);
  EXPECT_THAT(refusal(folder.write("a.pb", lie.SerializeAsString())), HasSubstr("takes 12 bytes, there are 8"));
  lie.set_dims(0, int64_t{1} << 60);
  EXPECT_THAT(refusal(folder.write("a.pb", lie.SerializeAsString())), HasSubstr("more elements than any file"));
  lie.set_dims(0, -2);
  EXPECT_THAT(refusal(folder.write("a.pb", lie.SerializeAsString())), HasSubstr("negative dimension"));
  auto text = proto("a");
  text.set_data_type(::onnx::TensorProto::STRING);
  EXPECT_THAT(refusal(folder.write("a.pb", text.SerializeAsString())), HasSubstr("STRING"));
}

TEST(TensorProtoFile, ExternalDataStaysInTheFolder) {
  const TestFolder folder;
  std::filesystem::create_directory(folder.path() / "set");
  folder.write("set/data", std::string("\0\0\x80\x3f\0\0\0\x40", 8));
  folder.write("outside", std::string(8, '\0'));
  const auto with = [&](const std::string& location, const std::string& offset) {
    auto external = proto("a");
    external.clear_raw_data();
    external.set_data_location(::onnx::TensorProto::EXTERNAL);
    for (const auto& [key, value] : {std::pair<std::string, std::string>{"location", location}, {"offset", offset}}) {
      auto* entry = external.add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    }
    return folder.write("set/a.pb", external.SerializeAsString());
  };
  EXPECT_EQ(doubles(find_tensor_proto_file(with("data", "0"))->samples[0][0].read().value()),
            (std::vector<double>{1, 2}));
  EXPECT_THAT(refusal(with("data", "4")), HasSubstr("lie beyond data"));
  EXPECT_THAT(refusal(with("data", "-4")), HasSubstr("which is no position"));
  EXPECT_THAT(refusal(with("../outside", "0")), HasSubstr("does not stay inside"));
  EXPECT_THAT(refusal(with("/etc/hostname", "0")), HasSubstr("does not stay inside"));
}

TEST(TestDataSet, NamesAreNeverTakenFromPositionInSilence) {
  const TestFolder folder;
  folder.write("input_0.pb", proto("x").SerializeAsString());
  folder.write("output_0.pb", proto("").SerializeAsString());
  const ImportOptions options;
  const ModelFacts none;
  const auto found = find_test_data(folder.path(), {options, none});
  EXPECT_THAT(found.error().message(), AllOf(HasSubstr("output_0.pb: names no tensor"), HasSubstr("--model")));
  folder.write("output_0.pb", proto("y").SerializeAsString());
  const Found named = find_test_data(folder.path(), {options, none}).value();
  ASSERT_EQ(named.samples[0].size(), 2u);
  EXPECT_EQ(named.samples[0][0].role, Role::kInput);
  EXPECT_EQ(named.samples[0][1].name, "y");
  EXPECT_EQ(named.samples[0][1].role, Role::kOutput);
}

}  // namespace
}  // namespace paritas
