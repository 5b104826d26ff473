#include "paritas/locate/consistency_rows.h"

#include <gtest/gtest.h>

#include "paritas/onnx/testing.h"

namespace paritas {
namespace {

using onnx_model::testing::floats;
using onnx_model::testing::GraphBuilder;
using onnx_model::testing::int64s;

onnx_model::Model model(const Shape& a, const Shape& b) {
  const auto proto = GraphBuilder().input("a", a).input("b", b).node("Add", {"a", "b"}, {"y"}).output("y").proto();
  const std::string bytes = proto.SerializeAsString();
  return std::move(*onnx_model::Model::parse(std::as_bytes(std::span(bytes)), ".", "test"));
}

std::vector<float> values(const Tensor& tensor) {
  std::vector<float> out(tensor.count());
  EXPECT_TRUE(tensor.bytes.read(0, std::as_writable_bytes(std::span(out))));
  return out;
}

TEST(ConsistencyRows, EveryRowHoldsRowZero) {
  auto plan = equal_rows(model({3, 2}, {3, 2}),
                         {{"a", floats({3, 2}, {1, 2, 3, 4, 5, 6})}, {"b", floats({3, 2}, {6, 5, 4, 3, 2, 1})}});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->not_applicable, "");
  EXPECT_EQ(plan->rows, 3);
  EXPECT_FALSE(plan->repinned);
  EXPECT_EQ(values(plan->inputs[0].second), (std::vector<float>{1, 2, 1, 2, 1, 2}));
  EXPECT_EQ(values(plan->inputs[1].second), (std::vector<float>{6, 5, 6, 5, 6, 5}));
}

TEST(ConsistencyRows, AFreeLeadingDimensionTakesTwo) {
  auto plan = equal_rows(model({-1, 2}, {-1, 2}), {{"a", floats({1, 2}, {1, 2})}, {"b", floats({1, 2}, {3, 4})}});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->not_applicable, "");
  EXPECT_TRUE(plan->repinned);
  EXPECT_EQ(plan->inputs[1].second.shape, (Shape{2, 2}));
  EXPECT_EQ(values(plan->inputs[1].second), (std::vector<float>{3, 4, 3, 4}));
}

TEST(ConsistencyRows, ReasonsWhyNot) {
  const NamedTensors one = {{"a", floats({1, 2}, {1, 2})}, {"b", floats({1, 2}, {3, 4})}};
  EXPECT_EQ(equal_rows(model({1, 2}, {1, 2}), one)->not_applicable,
            "one row, and the leading dimension of \"a\" is fixed");
  EXPECT_EQ(equal_rows(model({-1, 2}, {1, 2}), one)->not_applicable,
            "one row, and the leading dimension of \"b\" is fixed");
  EXPECT_EQ(
      equal_rows(model({-1, 2}, {2}), {{"a", floats({1, 2}, {1, 2})}, {"b", floats({2}, {3, 4})}})->not_applicable,
      "the inputs share no leading dimension: 1 of \"a\", 2 of \"b\"");
  EXPECT_EQ(equal_rows(model({}, {}), {{"a", floats({}, {1})}, {"b", floats({}, {1})}})->not_applicable,
            "no input has a leading dimension");
  EXPECT_EQ(equal_rows(model({0, 2}, {0, 2}), {{"a", floats({0, 2}, {})}, {"b", floats({0, 2}, {})}})->not_applicable,
            "\"a\" holds no row");
}

TEST(ConsistencyRows, ScalarsAreFedAsTheyAre) {
  auto plan = equal_rows(model({2, 2}, {}), {{"a", floats({2, 2}, {1, 2, 3, 4})}, {"b", floats({}, {9})}});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->rows, 2);
  EXPECT_EQ(values(plan->inputs[1].second), (std::vector<float>{9}));
}

TEST(ConsistencyRows, RowsOfHalfBytesAreLeftAlone) {
  const Tensor packed{DType::kU4, {2, 1}, Bytes::in_memory(std::vector<std::byte>(1))};
  auto repeated = repeat_first_row(packed, 2);
  ASSERT_TRUE(repeated);
  EXPECT_FALSE(*repeated);
}

}  // namespace
}  // namespace paritas
