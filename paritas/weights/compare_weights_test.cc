#include "paritas/weights/compare_weights.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>

#include <paritas_onnx_proto/onnx-ml.pb.h>

#include "paritas/base/test_files.h"
#include "paritas/tflite/testing.h"

namespace paritas {
namespace {

using tflite::TinyTflite;

class CompareWeights : public ::testing::Test {
 protected:
  // CONV_2D with weights [2, 1, 1, 3] of the type; values as codes or floats.
  template <class T>
  static TinyTflite conv(int type, const std::vector<T>& values, std::vector<float> scale = {},
                         std::vector<int64_t> zero_point = {}) {
    TinyTflite tiny;
    const int x = tiny.tensor("x", tflite::kTestFloat32, {1, 1, 1, 3});
    const int w = scale.empty() ? tiny.tensor("w", type, {2, 1, 1, 3})
                                : tiny.quantised("w", type, {2, 1, 1, 3}, std::move(scale), std::move(zero_point));
    tiny.constant<T>(w, values);
    const int y = tiny.tensor("y", tflite::kTestFloat32, {1, 1, 1, 2});
    tiny.op(tflite::kTestConv, {x, w}, {y});
    tiny.ports({x}, {y});
    return tiny;
  }

  Path save(const TinyTflite& tiny, const std::string& stem) const { return tiny.save(folder_.path(), stem); }

  // Conv of an initialiser "w", or of "w_quantized" behind a DequantizeLinear.
  Path save_onnx(const std::string& stem, const std::vector<float>& values, const std::vector<int8_t>& codes = {},
                 const std::vector<float>& scale = {}) const {
    ::onnx::ModelProto model;
    model.set_ir_version(8);
    model.add_opset_import()->set_version(17);
    auto& graph = *model.mutable_graph();
    graph.set_name("g");
    const auto add = [&](const std::string& name, int type, std::vector<int64_t> dims, const void* data, size_t bytes) {
      auto* t = graph.add_initializer();
      t->set_name(name);
      t->set_data_type(type);
      for (int64_t dim : dims) t->add_dims(dim);
      t->set_raw_data(data, bytes);
    };
    std::string weight = "w";
    if (codes.empty()) {
      add("w", 1, {2, 3, 1, 1}, values.data(), values.size() * 4);
    } else {
      add("w_quantized", 3, {2, 3, 1, 1}, codes.data(), codes.size());
      add("w_scale", 1, {static_cast<int64_t>(scale.size())}, scale.data(), scale.size() * 4);
      auto* dequantise = graph.add_node();
      dequantise->set_op_type("DequantizeLinear");
      dequantise->add_input("w_quantized");
      dequantise->add_input("w_scale");
      dequantise->add_output("w_DequantizeLinear_Output");
      auto* axis = dequantise->add_attribute();
      axis->set_name("axis");
      axis->set_type(::onnx::AttributeProto::INT);
      axis->set_i(0);
      weight = "w_DequantizeLinear_Output";
    }
    auto* conv = graph.add_node();
    conv->set_op_type("Conv");
    conv->set_name("conv");
    conv->add_input("x");
    conv->add_input(weight);
    conv->add_output("y");
    for (const char* port : {"x", "y"}) {
      auto* info = std::string(port) == "x" ? graph.add_input() : graph.add_output();
      info->set_name(port);
      info->mutable_type()->mutable_tensor_type()->set_elem_type(1);
    }
    const Path path = folder_.path() / (stem + ".onnx");
    std::ofstream out(path, std::ios::binary);
    model.SerializeToOstream(&out);
    return path;
  }

  static WeightsComparison compare(const Path& a, const Path& b) {
    auto result = compare_weights(a, b);
    EXPECT_TRUE(result.has_value()) << result.error().message();
    return result ? *result : WeightsComparison{};
  }

  TestFolder folder_;
};

const std::vector<float> kFloat = {0.5f, -1.0f, 0.26f, 3.0f, -2.0f, 0.1f};

TEST_F(CompareWeights, NearestCodesAreTheSameWeights) {
  const Path a = save(conv<float>(tflite::kTestFloat32, kFloat), "float");
  // Scales 0.1 and 0.5: 0.26 becomes 0.3 (0.4 steps away), 0.1 becomes 0 (0.2 steps away).
  const Path b = save(conv<int8_t>(tflite::kTestInt8, {5, -10, 3, 6, -4, 0}, {0.1f, 0.5f}, {0, 0}), "codes");
  const auto result = compare(a, b);
  ASSERT_EQ(result.weights.size(), 1u);
  EXPECT_TRUE(result.same);
  EXPECT_EQ(result.weights[0].status, WeightStatus::kWithinHalfStep);
  EXPECT_EQ(result.weights[0].beyond, 0u);
  EXPECT_NEAR(result.weights[0].max_steps, 0.4, 1e-5);
  EXPECT_EQ(result.weights[0].worst_channel, 0);
  EXPECT_EQ(result.weights[0].reader, "0:CONV_2D");
  EXPECT_EQ(result.weights[0].second_type, "int8 per channel (2, axis 0)");
}

TEST_F(CompareWeights, ACodeThatIsNotTheNearestIsADifference) {
  const Path a = save(conv<float>(tflite::kTestFloat32, kFloat), "float");
  const Path b = save(conv<int8_t>(tflite::kTestInt8, {5, -10, 2, 6, -4, 0}, {0.1f, 0.5f}, {0, 0}), "codes");
  const auto result = compare(a, b);
  EXPECT_FALSE(result.same);
  EXPECT_EQ(result.weights[0].status, WeightStatus::kDiffers);
  EXPECT_EQ(result.weights[0].beyond, 1u);
  EXPECT_NEAR(result.weights[0].max_steps, 0.6, 1e-5);
}

TEST_F(CompareWeights, CodesAtTheLimitAreNamed) {
  const Path a = save(conv<float>(tflite::kTestFloat32, {20, 0, 0, 0, 0, -20}), "float");
  const Path b = save(conv<int8_t>(tflite::kTestInt8, {127, 0, 0, 0, 0, -128}, {0.1f, 0.1f}, {0, 0}), "codes");
  const auto result = compare(a, b);
  EXPECT_FALSE(result.same);
  EXPECT_EQ(result.weights[0].beyond, 2u);
  EXPECT_EQ(result.weights[0].saturated, 2u);
}

TEST_F(CompareWeights, TwoFloatFilesMustBeEqual) {
  std::vector<float> other = kFloat;
  const Path a = save(conv<float>(tflite::kTestFloat32, kFloat), "a");
  EXPECT_TRUE(compare(a, save(conv<float>(tflite::kTestFloat32, other), "b")).same);
  other[4] = std::nextafter(other[4], 0.0f);
  const auto result = compare(a, save(conv<float>(tflite::kTestFloat32, other), "c"));
  EXPECT_FALSE(result.same);
  EXPECT_EQ(result.weights[0].differing, 1u);
  other[4] = std::numeric_limits<float>::quiet_NaN();
  const auto nan = compare(a, save(conv<float>(tflite::kTestFloat32, other), "d"));
  EXPECT_FALSE(nan.same);
  EXPECT_TRUE(std::isinf(nan.weights[0].max_abs));
}

TEST_F(CompareWeights, TwoQuantisedFilesMustHoldTheSameValues) {
  const Path a = save(conv<int8_t>(tflite::kTestInt8, {5, -10, 3, 6, -4, 0}, {0.5f, 0.5f}, {0, 0}), "a");
  const Path b = save(conv<uint8_t>(tflite::kTestUint8, {133, 118, 131, 134, 124, 128}, {0.5f}, {128}), "b");
  EXPECT_TRUE(compare(a, b).same);
  const Path c = save(conv<int8_t>(tflite::kTestInt8, {5, -10, 3, 6, -4, 1}, {0.5f, 0.5f}, {0, 0}), "c");
  EXPECT_FALSE(compare(a, c).same);
}

TEST_F(CompareWeights, WhatOnlyOneHasIsNamed) {
  TinyTflite renamed = conv<float>(tflite::kTestFloat32, kFloat);
  renamed.at(1).name = "v";
  const auto result = compare(save(conv<float>(tflite::kTestFloat32, kFloat), "a"), save(renamed, "b"));
  EXPECT_FALSE(result.same);
  ASSERT_EQ(result.weights.size(), 2u);
  EXPECT_EQ(result.weights[0].status, WeightStatus::kOnlyFirst);
  EXPECT_EQ(result.weights[1].status, WeightStatus::kOnlySecond);
  TinyTflite reshaped = conv<float>(tflite::kTestFloat32, kFloat);
  reshaped.at(1).shape = {1, 2, 1, 3};
  EXPECT_EQ(compare(save(conv<float>(tflite::kTestFloat32, kFloat), "c"), save(reshaped, "d")).weights[0].status,
            WeightStatus::kShapeDiffers);
}

TEST_F(CompareWeights, AWeightThatCannotBeReadIsNoAgreement) {
  TinyTflite broken = conv<float>(tflite::kTestFloat32, kFloat);
  broken.at(1).shape = {2, 1, 1, 4};
  const Path path = save(broken, "broken");
  const auto result = compare(path, path);
  EXPECT_FALSE(result.same);
  EXPECT_EQ(result.unread.size(), 2u);
}

TEST_F(CompareWeights, ReadsWeightsBehindDequantizeLinear) {
  const Path a = save_onnx("float", kFloat);
  const Path b = save_onnx("qdq", {}, {5, -10, 3, 6, -4, 0}, {0.1f, 0.5f});
  const auto result = compare(a, b);
  ASSERT_EQ(result.weights.size(), 1u);
  EXPECT_EQ(result.weights[0].name, "w");
  EXPECT_EQ(result.weights[0].reader, "conv");
  EXPECT_EQ(result.weights[0].status, WeightStatus::kWithinHalfStep);
  EXPECT_TRUE(result.same);
  EXPECT_FALSE(compare(a, save_onnx("other", {}, {5, -10, 3, 6, -4, 1}, {0.1f, 0.5f})).same);
}

TEST_F(CompareWeights, NothingComparedIsNotTheSame) {
  TinyTflite none;
  const int x = none.tensor("x", tflite::kTestFloat32, {1});
  const int y = none.tensor("y", tflite::kTestFloat32, {1});
  none.op(tflite::kTestLogistic, {x}, {y});
  none.ports({x}, {y});
  const Path path = save(none, "none");
  EXPECT_FALSE(compare(path, path).same);
}

}  // namespace
}  // namespace paritas
