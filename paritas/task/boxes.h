// Boxes and their overlap, in double precision.
#pragma once

#include <span>
#include <string_view>

namespace paritas {

enum class BoxFormat {
  kXyxy,    // left, top, right, bottom
  kXywh,    // left, top, width, height
  kCxcywh,  // centre x, centre y, width, height
  kYxyx,    // top, left, bottom, right
};
std::string_view name(BoxFormat format);

struct Box {
  double x1 = 0, y1 = 0, x2 = 0, y2 = 0;  // left, top, right, bottom
};
inline bool operator==(const Box& a, const Box& b) {
  return a.x1 == b.x1 && a.y1 == b.y1 && a.x2 == b.x2 && a.y2 == b.y2;
}

Box box_from(BoxFormat format, std::span<const double, 4> values);
bool finite(const Box& box);
// No area: right <= left or bottom <= top, or a coordinate that is not finite.
bool degenerate(const Box& box);
double area(const Box& box);  // 0 when degenerate

// Intersection over union, in [0, 1]; 0 when either box is degenerate. Symmetric to the bit.
double iou(const Box& a, const Box& b);

}  // namespace paritas
