#include "paritas/tensor/arrange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace paritas {
namespace {

std::vector<double> values(const Tensor& tensor) {
  const TensorView view = TensorView::of(tensor).value();
  std::vector<double> out(view.count());
  load_as_double(view.dtype(), view.bytes(), 0, out);
  return out;
}

TEST(Arrange, PaddingIsNoData) {
  const std::vector<std::byte> buffer = {std::byte{1}, std::byte{2}, std::byte{9},
                                         std::byte{3}, std::byte{4}, std::byte{9}};
  auto whole = without_padding(Bytes::in_memory(buffer), DType::kU8, {2, 2}, 3, "b");
  ASSERT_TRUE(whole) << whole.error().message();
  EXPECT_THAT(values(*whole), testing::ElementsAre(1, 2, 3, 4));
  auto cut = without_padding(Bytes::in_memory({buffer.begin(), buffer.end() - 1}), DType::kU8, {2, 2}, 3, "b");
  ASSERT_TRUE(cut);
  EXPECT_THAT(values(*cut), testing::ElementsAre(1, 2, 3, 4));
  EXPECT_FALSE(without_padding(Bytes::in_memory(buffer), DType::kU8, {3, 2}, 3, "b"));
  EXPECT_FALSE(without_padding(Bytes::in_memory(buffer), DType::kU8, {2, 2}, 1, "b"));
  EXPECT_FALSE(without_padding(Bytes::in_memory(buffer), DType::kU8, {1, 2}, 3, "b"));
  EXPECT_FALSE(without_padding(Bytes::in_memory(buffer), DType::kU8, {2, 2}, ~uint64_t{0}, "b"));
}

TEST(Arrange, LayoutsMoveElementsToTheirAxes) {
  std::vector<float> data(24);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
  const Tensor nhwc = tensor_from_values(DType::kF32, {1, 3, 4, 2}, data);
  auto nchw = to_layout(nhwc, "NHWC", "NCHW", "t");
  ASSERT_TRUE(nchw);
  EXPECT_EQ(nchw->shape, (Shape{1, 2, 3, 4}));
  const auto v = values(*nchw);
  for (size_t c = 0; c < 2; ++c)
    for (size_t h = 0; h < 3; ++h)
      for (size_t w = 0; w < 4; ++w) EXPECT_EQ(v[(c * 3 + h) * 4 + w], static_cast<double>((h * 4 + w) * 2 + c));
  auto back = to_layout(*nchw, "NCHW", "NHWC", "t");
  ASSERT_TRUE(back);
  EXPECT_EQ(values(*back), values(nhwc));
  EXPECT_FALSE(to_layout(nhwc, "NHWC", "NCHX", "t"));
  EXPECT_FALSE(to_layout(nhwc, "NHW", "NCHW", "t"));
  EXPECT_FALSE(to_layout(nhwc, "NHWC", "NNNN", "t"));
  EXPECT_FALSE(transposed(nhwc, {0, 1, 1, 2}, "t"));
}

}  // namespace
}  // namespace paritas
