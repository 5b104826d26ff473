#include "paritas/locate/hidden.h"

#include <gmock/gmock.h>

#include <cmath>

namespace paritas {
namespace {

::onnx::NodeProto node_of(const std::string& op, int inputs = 1) {
  ::onnx::NodeProto node;
  node.set_op_type(op);
  for (int i = 0; i < inputs; ++i) node.add_input("x" + std::to_string(i));
  node.add_output("y");
  return node;
}

void set_int(::onnx::NodeProto& node, const std::string& name, int64_t value) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_i(value);
}

Tensor floats(const Shape& shape, const std::vector<float>& values) {
  return tensor_from_values(DType::kF32, shape, values);
}

HiddenFigures only(const ::onnx::NodeProto& node, const std::vector<const Tensor*>& inputs, int64_t opset = 17,
                   DType format = DType::kF16) {
  auto found = hidden_values(node, opset, inputs, format);
  EXPECT_TRUE(found.has_value());
  EXPECT_EQ(found->size(), 1U);
  return found->empty() ? HiddenFigures{} : found->front();
}

// Rows of +-a have mean 0 and mean square a^2.
TEST(Hidden, MeanSquareOfLayerNormalization) {
  const Tensor large = floats({1, 4}, {-300, 300, -300, 300});
  const HiddenFigures convicted = only(node_of("LayerNormalization"), {&large});
  EXPECT_EQ(convicted.what, "mean square");
  EXPECT_DOUBLE_EQ(convicted.max_abs, 90000);
  EXPECT_EQ(convicted.overflowed, 1U);
  EXPECT_DOUBLE_EQ(convicted.result_loss, 1);  // divided by an infinity, everything is zero
  const Tensor small = floats({1, 4}, {-200, 200, -200, 200});
  const HiddenFigures acquitted = only(node_of("LayerNormalization"), {&small});
  EXPECT_DOUBLE_EQ(acquitted.max_abs, 40000);
  EXPECT_EQ(acquitted.overflowed, 0U);
  EXPECT_LT(acquitted.result_loss, 1e-6);
}

TEST(Hidden, OnlyLayerNormalizationSubtractsTheMean) {
  const Tensor x = floats({1, 4}, {299, 301, 299, 301});
  EXPECT_DOUBLE_EQ(only(node_of("LayerNormalization"), {&x}).max_abs, 1);
  EXPECT_DOUBLE_EQ(only(node_of("RMSNormalization"), {&x}).max_abs, 90001);
  auto skip = node_of("SkipSimplifiedLayerNormalization", 3);
  skip.set_domain("com.microsoft");
  EXPECT_DOUBLE_EQ(only(skip, {&x, &x, nullptr}).max_abs, 360004);
}

TEST(Hidden, InstanceAndGroupRows) {
  const Tensor x = floats({1, 2, 2}, {-1, 1, -30, 30});
  EXPECT_DOUBLE_EQ(only(node_of("InstanceNormalization", 3), {&x}).max_abs, 900);
  auto group = node_of("GroupNormalization", 3);
  set_int(group, "num_groups", 1);
  EXPECT_DOUBLE_EQ(only(group, {&x}).max_abs, 450.5);
}

TEST(Hidden, VarianceOfBatchNormalization) {
  const Tensor x = floats({1, 2, 1}, {1000, 1}), scale = floats({2}, {1, 1}), bias = floats({2}, {0, 0});
  const Tensor large = floats({2}, {1e6F, 1}), small = floats({2}, {1e4F, 1});
  const HiddenFigures convicted = only(node_of("BatchNormalization", 5), {&x, &scale, &bias, &bias, &large});
  EXPECT_EQ(convicted.overflowed, 1U);
  EXPECT_NEAR(convicted.result_loss, 0.5, 1e-4);  // one of two results of size 1 is zero
  EXPECT_LT(only(node_of("BatchNormalization", 5), {&x, &scale, &bias, &bias, &small}).result_loss, 1e-6);
}

TEST(Hidden, SumOfSquaresOfLpNormalization) {
  const Tensor x = floats({2, 2}, {300, 300, 3, 4});
  auto node = node_of("LpNormalization");
  set_int(node, "axis", 1);
  const HiddenFigures figures = only(node, {&x});
  EXPECT_DOUBLE_EQ(figures.max_abs, 180000);
  EXPECT_NEAR(figures.result_loss, 0.5, 1e-6);  // one of two rows of norm 1
  set_int(node, "p", 1);
  EXPECT_DOUBLE_EQ(only(node, {&x}).max_abs, 600);
}

TEST(Hidden, ExponentialsOfSoftmaxAreTinyWithoutHarm) {
  const Tensor x = floats({1, 3}, {20, 0, 20});
  const HiddenFigures figures = only(node_of("Softmax"), {&x});
  EXPECT_EQ(figures.what, "exp(x - max)");
  EXPECT_DOUBLE_EQ(figures.max_abs, 1);
  EXPECT_EQ(figures.subnormal, 1U);
  EXPECT_EQ(figures.flushed, 1U);  // e^-20 = 2.06e-9 is below half of 2^-24
  EXPECT_LT(figures.result_loss, 1e-12);
}

TEST(Hidden, SoftmaxRowsFollowTheOpset) {
  const Tensor x = floats({1, 2, 2}, {0, 1, 2, 3});
  auto node = node_of("Softmax");
  set_int(node, "axis", 1);
  // Opset 11: one row of four, the smallest e^-3. From 13 on two columns, both e^-2 and 1.
  EXPECT_NEAR(only(node, {&x}, 11).result_loss, only(node, {&x}, 13).result_loss, 1e-6);
  EXPECT_EQ(only(node, {&x}, 11).values, 4U);
  const Tensor wide = floats({1, 2, 2}, {0, 30, 0, 30});
  EXPECT_EQ(only(node, {&wide}, 11).flushed, 2U);
  EXPECT_EQ(only(node, {&wide}, 13).flushed, 0U);
}

TEST(Hidden, SigmoidOverflowsWithoutHarmAndSoftplusWithHarm) {
  const Tensor negative = floats({2}, {-12, 0}), positive = floats({2}, {12, 0});
  const HiddenFigures sigmoid = only(node_of("Sigmoid"), {&negative});
  EXPECT_EQ(sigmoid.overflowed, 1U);  // e^12 = 162,755
  EXPECT_EQ(sigmoid.result_nonfinite, 0U);
  EXPECT_LT(sigmoid.result_loss, 1e-9);
  const HiddenFigures softplus = only(node_of("Softplus"), {&positive});
  EXPECT_EQ(softplus.overflowed, 1U);
  EXPECT_EQ(softplus.result_nonfinite, 1U);
  EXPECT_EQ(only(node_of("Softplus"), {&negative}).result_nonfinite, 0U);
}

TEST(Hidden, CubeOfTanhGelu) {
  auto node = node_of("Gelu");
  const Tensor x = floats({2}, {41, -41});
  EXPECT_TRUE(hidden_values(node, 20, {&x}, DType::kF16)->empty());  // the exact form has no cube
  auto* attribute = node.add_attribute();
  attribute->set_name("approximate");
  attribute->set_s("tanh");
  const HiddenFigures figures = only(node, {&x}, 20);
  EXPECT_DOUBLE_EQ(figures.max_abs, 68921);
  EXPECT_EQ(figures.overflowed, 2U);
  EXPECT_EQ(figures.result_loss, 0);  // tanh of an infinity is right
}

TEST(Hidden, PowersBeyondTheReferencesOwnType) {
  const Tensor x = floats({2}, {1e20F, 2}), two = floats({}, {2});
  const HiddenFigures figures = only(node_of("Pow", 2), {&x, &two}, 17, DType::kBF16);
  EXPECT_NEAR(figures.max_abs / 1e40, 1, 1e-6);
  EXPECT_EQ(figures.result_nonfinite, 1U);
}

TEST(Hidden, WhatItDoesNotKnowIsLeftAlone) {
  const Tensor x = floats({2}, {1, 2});
  EXPECT_FALSE(has_hidden_values(node_of("Relu")));
  auto foreign = node_of("Softmax");
  foreign.set_domain("elsewhere");
  EXPECT_FALSE(has_hidden_values(foreign));
  auto axis = node_of("Softmax");
  set_int(axis, "axis", 7);
  EXPECT_TRUE(hidden_values(axis, 17, {&x}, DType::kF16)->empty());
  EXPECT_TRUE(hidden_values(node_of("Sigmoid"), 17, {nullptr}, DType::kF16)->empty());
}

}  // namespace
}  // namespace paritas
