#include "paritas/task/boxes.h"

#include <algorithm>
#include <cmath>

namespace paritas {

std::string_view name(BoxFormat format) {
  switch (format) {
    case BoxFormat::kXyxy:
      return "xyxy";
    case BoxFormat::kXywh:
      return "xywh";
    case BoxFormat::kCxcywh:
      return "cxcywh";
    case BoxFormat::kYxyx:
      return "yxyx";
  }
  return "xyxy";
}

Box box_from(BoxFormat format, std::span<const double, 4> v) {
  switch (format) {
    case BoxFormat::kXyxy:
      return {v[0], v[1], v[2], v[3]};
    case BoxFormat::kXywh:
      // A negative width would come out as a box that ends before it begins: degenerate, as it should.
      return {v[0], v[1], v[0] + v[2], v[1] + v[3]};
    case BoxFormat::kCxcywh:
      return {v[0] - v[2] / 2, v[1] - v[3] / 2, v[0] + v[2] / 2, v[1] + v[3] / 2};
    case BoxFormat::kYxyx:
      return {v[1], v[0], v[3], v[2]};
  }
  return {};
}

bool finite(const Box& box) {
  return std::isfinite(box.x1) && std::isfinite(box.y1) && std::isfinite(box.x2) && std::isfinite(box.y2);
}

bool degenerate(const Box& box) { return !finite(box) || !(box.x2 > box.x1) || !(box.y2 > box.y1); }

double area(const Box& box) { return degenerate(box) ? 0 : (box.x2 - box.x1) * (box.y2 - box.y1); }

double iou(const Box& a, const Box& b) {
  if (degenerate(a) || degenerate(b)) return 0;
  const double width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
  const double height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1);
  if (!(width > 0) || !(height > 0)) return 0;
  const double common = width * height;
  const double all = area(a) + area(b) - common;
  // Areas beyond the range of a double, or below it, leave nothing to divide.
  if (!(all > 0) || !std::isfinite(all)) return 0;
  return std::min(1.0, common / all);
}

}  // namespace paritas
