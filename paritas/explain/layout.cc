#include "paritas/explain/layout.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paritas {
namespace {

constexpr size_t kMostAxes = 5;  // 120 orders

Shape permuted(const Shape& shape, const std::vector<int>& order) {
  Shape result;
  for (const int axis : order) result.push_back(shape[static_cast<size_t>(axis)]);
  return result;
}

// NMSE of the reference against the device's values, where walking the reference in the order of its axes moves
// through the device by `strides` (of the reference's axes).
double nmse(const std::vector<double>& reference, const std::vector<double>& device, const Shape& shape,
            const std::vector<uint64_t>& strides) {
  std::vector<int64_t> at(shape.size(), 0);
  uint64_t offset = 0;
  double error = 0, energy = 0;
  for (const double x : reference) {
    const double y = device[static_cast<size_t>(offset)], d = x - y;
    energy += x * x;
    error += d * d;
    for (size_t axis = shape.size(); axis-- > 0;) {
      offset += strides[axis];
      if (++at[axis] < shape[axis]) break;
      offset -= strides[axis] * static_cast<uint64_t>(shape[axis]);
      at[axis] = 0;
    }
  }
  if (error == 0) return 0;
  return energy == 0 ? std::numeric_limits<double>::infinity() : error / energy;
}

std::vector<uint64_t> strides_of(const Shape& shape) {
  std::vector<uint64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * static_cast<uint64_t>(shape[i]);
  return strides;
}

// The device's data lies in the order `order` of the reference's axes: strides by the reference's axes.
std::vector<uint64_t> strides_in_order(const Shape& shape, const std::vector<int>& order) {
  const auto inner = strides_of(permuted(shape, order));
  std::vector<uint64_t> strides(shape.size());
  for (size_t i = 0; i < order.size(); ++i) strides[static_cast<size_t>(order[i])] = inner[i];
  return strides;
}

void consider(LayoutFigures& best, double value, const std::vector<int>& order, bool reread) {
  if (!std::isnan(best.best) && !(value < best.best)) return;
  best.best = value;
  best.permutation = order;
  best.reread = reread;
}

}  // namespace

LayoutFigures layout_of(const std::vector<double>& reference, const Shape& shape, const std::vector<double>& device,
                        const Shape& device_shape) {
  LayoutFigures f;
  f.in_place = f.best = std::numeric_limits<double>::quiet_NaN();
  if (reference.size() != device.size() || reference.empty()) {
    f.text = "not looked at: the numbers of elements differ";
    return f;
  }
  const bool same = shape == device_shape;
  f.in_place = same ? nmse(reference, device, shape, strides_of(shape)) : std::numeric_limits<double>::infinity();
  if (std::isnan(f.in_place)) {
    f.text = "not looked at: values that are not finite";
    return f;
  }
  if (f.in_place <= kLayoutSuspects) {
    f.state = LayoutState::kRuledOut;
    f.text = fmt::format("ruled out: values match in place (NMSE {:.2g})", f.in_place);
    return f;
  }
  if (shape.size() > kMostAxes || reference.size() > kLayoutElements) {
    f.text = "not looked at: too many axes or elements";
    return f;
  }
  // Data in the order of permuted axes, whatever shape it bears. Two orders of one axis that are equal in memory
  // (axes of length 1) give the same figure; the first stays.
  std::vector<int> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  const std::vector<uint64_t> identity = strides_of(shape);
  do {
    const Shape lies = permuted(shape, order);
    const bool bears_it = lies == device_shape, bears_other = same;
    if (!bears_it && !bears_other) continue;
    const auto strides = strides_in_order(shape, order);
    if (same && strides == identity) continue;
    consider(f, nmse(reference, device, shape, strides), order, !bears_it);
  } while (std::next_permutation(order.begin(), order.end()));
  if (std::isnan(f.best)) {
    f.text = "not looked at: no order of axes gives the device's shape";
    return f;
  }
  const bool explains = f.best <= kLayoutMatches && f.best * kLayoutFactor <= f.in_place;
  // Different shapes: an order that matches is how names were paired, and how a converter stores it; the shape says so.
  f.state = explains && same ? LayoutState::kConvicted : LayoutState::kRuledOut;
  if (explains && !same)
    f.text = fmt::format("ruled out: the axes [{}] are the device's declared order, and match (NMSE {:.2g})",
                         fmt::join(f.permutation, ", "), f.best);
  else if (explains)
    f.text = fmt::format("axes [{}] match with NMSE {:.2g}, in place it is {:.2g}", fmt::join(f.permutation, ", "),
                         f.best, f.in_place);
  else
    f.text =
        fmt::format("ruled out: no order of axes is better than NMSE {:.2g} (in place {:.2g})", f.best, f.in_place);
  return f;
}

}  // namespace paritas
