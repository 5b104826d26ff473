#include "paritas/recording/quantisation.h"

#include <gmock/gmock.h>

namespace paritas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string refusal(const Quantisation& q, const Shape& shape) {
  const auto affine = affine_of(q, shape, "tensor \"y\"");
  return affine ? "" : affine.error().message();
}

TEST(AffineOf, OneScaleIsOfTheWholeTensor) {
  const Affine affine = affine_of({{0.5}, {10}, {}}, {2, 3}, "y").value();
  std::vector<double> values = {10, 11, 8};
  dequantise(affine, 0, values);
  EXPECT_THAT(values, ElementsAre(0, 0.5, -1));
  EXPECT_EQ(affine_of({{0.5}, {}, {}}, {2}, "y")->zero_point.front(), 0);  // none declared
}

TEST(AffineOf, ScalesAlongAnAxisFollowTheElements) {
  for (const int axis : {1, -2}) {
    const Affine affine = affine_of({{1, 10}, {0, 1}, axis}, {2, 2, 2}, "y").value();
    std::vector<double> values = {1, 1, 2, 2, 3, 3, 4, 4};
    dequantise(affine, 0, values);
    EXPECT_THAT(values, ElementsAre(1, 1, 10, 10, 3, 3, 30, 30)) << axis;
    std::vector<double> tail = {4, 4};
    dequantise(affine, 6, tail);  // the same elements, read as a part
    EXPECT_THAT(tail, ElementsAre(30, 30)) << axis;
  }
  EXPECT_THAT(affine_of({{1, 10}, {7}, 0}, {2}, "y")->zero_point, ElementsAre(7, 7));
}

TEST(AffineOf, WhatDoesNotFitIsRefusedWithItsCause) {
  EXPECT_THAT(refusal({{}, {}, {}}, {2}), HasSubstr("tensor \"y\": its quantisation does not fit: it has no scale"));
  EXPECT_THAT(refusal({{1, 2}, {0, 0}, {}}, {2}), HasSubstr("2 scales, but no axis"));
  EXPECT_THAT(refusal({{1, 2}, {0, 0, 0}, 0}, {2}), HasSubstr("2 scales, 3 zero points"));
  EXPECT_THAT(refusal({{1, 2}, {0, 0}, 0}, {3}), HasSubstr("2 scales along axis 0 of the shape [3]"));
  for (const int axis : {1, -2}) EXPECT_THAT(refusal({{1, 2}, {0, 0}, axis}, {2}), HasSubstr("along axis")) << axis;
  for (const double scale : {0.0, -1.0, static_cast<double>(NAN), static_cast<double>(INFINITY)})
    EXPECT_THAT(refusal({{scale}, {0}, {}}, {2}), HasSubstr("not positive and finite")) << scale;
}

}  // namespace
}  // namespace paritas
