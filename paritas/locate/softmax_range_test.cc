#include "paritas/locate/softmax_range.h"

#include <gtest/gtest.h>

#include <cmath>

#include "paritas/onnx/testing.h"

namespace paritas {
namespace {

using onnx_model::testing::floats;
using onnx_model::testing::must;

::onnx::NodeProto softmax(const char* op = "Softmax", int64_t axis = -1) {
  ::onnx::NodeProto node;
  node.set_op_type(op);
  auto* attribute = node.add_attribute();
  attribute->set_name("axis");
  attribute->set_i(axis);
  return node;
}

double down_to(double value) { return value < -65504 ? -INFINITY : value; }

TEST(SoftmaxLoss, AnInfiniteMaskChangesNothing) {
  const auto loss = *must(softmax_loss(softmax(), 17, floats({2, 2}, {1, -3e38F, -3e38F, 2}), down_to));
  EXPECT_EQ(loss.result_loss, 0);
  EXPECT_EQ(loss.result_nonfinite, 0U);
  EXPECT_EQ(loss.weighted_max_abs, 2);
}

TEST(SoftmaxLoss, ARowThatIsMaskedWhollyBecomesNaN) {
  const Tensor rows = floats({2, 2}, {1, 2, -3e38F, -3e38F});
  EXPECT_EQ(must(softmax_loss(softmax(), 17, rows, down_to))->result_nonfinite, 2U);
  // Along the other axis no row is.
  EXPECT_EQ(must(softmax_loss(softmax("Softmax", 0), 17, rows, down_to))->result_nonfinite, 0U);
  // Opset 11 takes everything from the axis on as one row.
  EXPECT_EQ(must(softmax_loss(softmax("Softmax", 0), 11, rows, down_to))->result_nonfinite, 0U);
}

// Stored as 0, 0: weights 1/2, 1/2 instead of e/(1+e), 1/(1+e).
TEST(SoftmaxLoss, RoundingToOneStep) {
  const auto loss = *must(softmax_loss(softmax(), 17, floats({1, 2}, {1, 0}), [](double) { return 0.0; }));
  const double a = std::exp(1) / (1 + std::exp(1)), b = 1 - a;
  EXPECT_NEAR(loss.result_loss, 2 * (a - 0.5) * (a - 0.5) / (a * a + b * b), 1e-12);
}

TEST(SoftmaxLoss, TheLogarithmOfAMaskIsInfinite) {
  EXPECT_EQ(must(softmax_loss(softmax("LogSoftmax"), 17, floats({1, 2}, {1, -3e38F}), down_to))->result_nonfinite, 1U);
  EXPECT_FALSE(must(softmax_loss(softmax("Relu"), 17, floats({1, 2}, {1, 2}), down_to)).has_value());
  EXPECT_FALSE(must(softmax_loss(softmax("Softmax", 7), 17, floats({1, 2}, {1, 2}), down_to)).has_value());
}

}  // namespace
}  // namespace paritas
