// What must hold for any boxes.
#include "paritas/task/matching.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "paritas/task/detection_testing.h"

namespace paritas {
namespace {

// Few different values, so that ties are common.
TestRow any_row() {
  const auto x = static_cast<float>(*rc::gen::inRange(0, 4)) * 10, y = static_cast<float>(*rc::gen::inRange(0, 4)) * 10;
  const auto w = static_cast<float>(*rc::gen::inRange(1, 4)) * 10, h = static_cast<float>(*rc::gen::inRange(1, 4)) * 10;
  const auto score = static_cast<float>(*rc::gen::inRange(0, 11)) / 10;
  return {{x, y, x + w, y + h}, score, *rc::gen::inRange<int64_t>(0, 2)};
}

std::vector<TestRow> any_rows() {
  std::vector<TestRow> rows(*rc::gen::inRange<size_t>(0, 9));
  for (TestRow& row : rows) row = any_row();
  return rows;
}

// The outcome without the places where rows stand.
std::string outcome(const DetectionResult& result) { return dump_json(to_json(result.outcome)); }

RC_GTEST_PROP(MatchingProperty, PermutingDeviceRowsChangesNothing, ()) {
  const auto x = any_rows(), y = any_rows();
  std::vector<TestRow> shuffled;
  std::vector<size_t> order(y.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[*rc::gen::inRange<size_t>(0, i)]);
  for (const size_t i : order) shuffled.push_back(y[i]);
  const auto a = check_rows(x, y), b = check_rows(x, shuffled);
  RC_ASSERT(outcome(a) == outcome(b));
  RC_ASSERT(a.images[0].matched.size() == b.images[0].matched.size());
  for (size_t i = 0; i < a.images[0].matched.size(); ++i)
    RC_ASSERT(a.images[0].matched[i].iou == b.images[0].matched[i].iou);
}

RC_GTEST_PROP(MatchingProperty, MatchingIsOneToOneWithinAClass, ()) {
  const auto result = check_rows(any_rows(), any_rows());
  const DetectionImage& image = result.images[0];
  std::set<uint32_t> x, y;
  for (const BoxPair& pair : image.matched) {
    RC_ASSERT(x.insert(pair.reference).second);
    RC_ASSERT(y.insert(pair.device).second);
    RC_ASSERT(image.reference[pair.reference].label == image.device[pair.device].label);
    RC_ASSERT(pair.iou >= 0.5);
  }
  RC_ASSERT(x.size() + image.unmatched_reference.size() == image.reference.size());
  RC_ASSERT(y.size() + image.unmatched_device.size() == image.device.size());
  // Greedy: no two left over could have been matched.
  for (const UnmatchedBox& r : image.unmatched_reference)
    for (const UnmatchedBox& d : image.unmatched_device)
      RC_ASSERT(image.reference[r.index].label != image.device[d.index].label ||
                iou(image.reference[r.index].box, image.device[d.index].box) < 0.5);
}

RC_GTEST_PROP(MatchingProperty, SwappingSidesSwapsUnmatched, ()) {
  const auto x = any_rows(), y = any_rows();
  const auto a = check_rows(x, y), b = check_rows(y, x);
  RC_ASSERT(a.matched == b.matched);
  RC_ASSERT(a.unmatched_reference == b.unmatched_device);
  RC_ASSERT(a.unmatched_device == b.unmatched_reference);
  RC_ASSERT(a.label_changes == b.label_changes);
  RC_ASSERT(a.crossings == b.crossings);
  for (size_t i = 0; i < a.matched; ++i) RC_ASSERT(a.images[0].matched[i].iou == b.images[0].matched[i].iou);
}

RC_GTEST_PROP(MatchingProperty, EqualSidesMatchUnlessDegenerate, ()) {
  const auto x = any_rows();
  const auto result = check_rows(x, x);
  RC_ASSERT(result.unmatched_reference == 0U);
  RC_ASSERT(result.unmatched_device == 0U);
  for (const BoxPair& pair : result.images[0].matched) RC_ASSERT(pair.iou == 1);
}

RC_GTEST_PROP(MatchingProperty, IouIsSymmetricAndBounded, ()) {
  const auto any = rc::gen::arbitrary<double>();
  const Box a{*any, *any, *any, *any}, b{*any, *any, *any, *any};
  const double value = iou(a, b);
  RC_ASSERT(value == iou(b, a));
  RC_ASSERT(value >= 0 && value <= 1);
}

TEST(Boxes, ExtremeValuesGiveNoOverlap) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(iou({0, 0, inf, 1}, {0, 0, 1, 1}), 0);
  EXPECT_EQ(iou({0, 0, nan, 1}, {0, 0, 1, 1}), 0);
  EXPECT_EQ(iou({0, 0, 1e200, 1e200}, {0, 0, 1e200, 1e200}), 0);
  EXPECT_EQ(iou({-1e308, 0, 1e308, 1}, {-1e308, 0, 1e308, 1}), 0);
  EXPECT_EQ(iou({0, 0, 1, 1}, {1, 0, 2, 1}), 0);  // they touch
  EXPECT_EQ(iou({0, 0, 0, 1}, {0, 0, 0, 1}), 0);  // no area
  EXPECT_EQ(iou({0, 0, 2, 2}, {1, 1, 3, 3}), 1.0 / 7);
}

}  // namespace
}  // namespace paritas
