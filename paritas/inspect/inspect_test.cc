#include "paritas/inspect/inspect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "paritas/base/test_files.h"
#include "paritas/onnx/testing.h"
#include "paritas/recording/recording.h"
#include "paritas/tensor/npy.h"

namespace paritas {
namespace {

using onnx_model::testing::floats;
using onnx_model::testing::GraphBuilder;
using onnx_model::testing::must;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(Inspect, AModel) {
  const TestFolder folder;
  GraphBuilder builder;
  builder.input("x", {-1, 2}).initializer("w", floats({2, 2}, {1, 2, 3, 4})).node("MatMul", {"x", "w"}, {"m"});
  builder.node("Relu", {"m"}, {"r"}).node("Relu", {"r"}, {"y"}).output("y");
  auto proto = builder.proto(8, 17);
  proto.set_producer_name("maker");
  proto.set_producer_version("2.0");
  const Inspection i = must(inspect(folder.write("m.onnx", proto.SerializeAsString())));
  EXPECT_EQ(i.kind, "ONNX model");
  EXPECT_EQ(i.ir_version, 8);
  EXPECT_THAT(i.opsets, ElementsAre(Pair("ai.onnx", 17)));
  EXPECT_EQ(i.producer, "maker 2.0");
  EXPECT_EQ(i.nodes, 3u);
  EXPECT_EQ(i.weight_bytes, 16u);
  EXPECT_THAT(i.ops, ElementsAre(Pair("MatMul", 1), Pair("Relu", 2)));
  ASSERT_EQ(i.inputs.size(), 1u);
  EXPECT_EQ(i.inputs[0].name, "x");
  EXPECT_EQ(i.inputs[0].dtype, "float32");
  EXPECT_EQ(i.inputs[0].shape, "[n,2]");
  ASSERT_EQ(i.tensors.size(), 3u);
  EXPECT_EQ(i.tensors[0].name, "m");
  EXPECT_EQ(i.tensors[0].op, "MatMul");
  EXPECT_EQ(i.tensors[0].role, "intermediate");
  EXPECT_EQ(i.tensors[2].role, "output");
}

TEST(Inspect, ARecording) {
  const TestFolder folder;
  auto writer = must(RecordingWriter::create(folder.path() / "rec", false));
  ASSERT_TRUE(writer.add_sample({{"y", floats({1, 2}, {1, 2})}}));
  RunInfo info;
  info.target = "cpu";
  TensorInfo tensor;
  tensor.name = "y";
  tensor.op = "Relu";
  info.tensors = {tensor};
  ASSERT_TRUE(writer.finish(info));
  const Inspection i = must(inspect(folder.path() / "rec"));
  EXPECT_EQ(i.kind, "recording");
  EXPECT_EQ(i.samples, 1u);
  EXPECT_EQ(i.run->target, "cpu");
  ASSERT_EQ(i.tensors.size(), 1u);
  EXPECT_EQ(i.tensors[0].dtype, "float32");
  EXPECT_EQ(i.tensors[0].shape, "[1,2]");
  EXPECT_EQ(i.tensors[0].role, "output");
  EXPECT_EQ(i.tensors[0].op, "Relu");
}

TEST(Inspect, LooseFilesHaveNeitherRolesNorProvenance) {
  const TestFolder folder;
  const Path path = folder.path() / "t.safetensors";
  ASSERT_TRUE(write_safetensors(path, {{"a", floats({2}, {1, 2})}, {"b", floats({}, {1})}}, {}, false));
  const Inspection i = must(inspect(path));
  EXPECT_EQ(i.kind, "safetensors");
  EXPECT_FALSE(i.run);
  ASSERT_EQ(i.tensors.size(), 2u);
  EXPECT_EQ(i.tensors[0].role, "");
  EXPECT_EQ(i.tensors[1].shape, "[]");
}

TEST(Inspect, AStreamOfAnyFormat) {
  const TestFolder folder;
  const Path path =
      folder.write("a.safetensors", std::string("\x3c\0\0\0\0\0\0\0", 8) +
                                        R"({"y":{"dtype":"U8","shape":[1,3],"data_offsets":[0,3]}}     )" + "abc");
  const auto stream = open_samples(path, {}).value();
  const Inspection i = must(inspect(*stream, "net-run"));
  EXPECT_EQ(i.kind, "net-run");
  EXPECT_EQ(i.samples, 1u);
  ASSERT_EQ(i.tensors.size(), 1u);
  EXPECT_EQ(i.tensors[0].shape, "[1,3]");
  EXPECT_EQ(i.tensors[0].role, "output");
  EXPECT_TRUE(i.run.has_value());
}

TEST(Inspect, WhatCannotBeReadIsAnError) {
  const TestFolder folder;
  EXPECT_THAT(inspect(folder.path() / "none.onnx").error().message(), HasSubstr("no such file"));
  EXPECT_THAT(inspect(folder.write("bad.onnx", "not a model")).error().message(), HasSubstr("bad.onnx"));
  EXPECT_THAT(inspect(folder.write("a.txt", "x")).error().message(), HasSubstr("a.txt"));
}

}  // namespace
}  // namespace paritas
