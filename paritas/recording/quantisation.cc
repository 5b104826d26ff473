#include "paritas/recording/quantisation.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace paritas {

Result<Affine> affine_of(const Quantisation& q, const Shape& shape, const std::string& subject) {
  const auto refuse = [&](const std::string& cause) {
    return input_error(subject, "its quantisation does not fit: " + cause, "correct scale, zero point or axis");
  };
  Affine affine;
  affine.scale = q.scale;
  // Beyond, q - zero_point loses bits in double, and different codes become one value.
  constexpr int64_t kLargestZeroPoint = int64_t{1} << 31;
  for (const int64_t zero : q.zero_point)
    if (zero > kLargestZeroPoint || zero < -kLargestZeroPoint)
      return refuse(fmt::format("the zero point {} is beyond 32 bits", zero));
  for (const int64_t zero : q.zero_point) affine.zero_point.push_back(static_cast<double>(zero));
  if (affine.zero_point.size() <= 1)
    affine.zero_point.resize(affine.scale.size(), affine.zero_point.empty() ? 0 : affine.zero_point[0]);
  if (affine.scale.empty()) return refuse("it has no scale");
  if (affine.scale.size() != affine.zero_point.size())
    return refuse(fmt::format("{} scales, {} zero points", affine.scale.size(), q.zero_point.size()));
  for (const double scale : affine.scale)
    if (!(scale > 0) || !std::isfinite(scale)) return refuse("a scale is not positive and finite");
  if (affine.scale.size() == 1) return affine;
  if (!q.axis) return refuse(fmt::format("{} scales, but no axis", affine.scale.size()));
  const int rank = static_cast<int>(shape.size());
  const int axis = *q.axis < 0 ? *q.axis + rank : *q.axis;
  if (axis < 0 || axis >= rank || shape[static_cast<size_t>(axis)] != static_cast<int64_t>(affine.scale.size()))
    return refuse(
        fmt::format("{} scales along axis {} of the shape {}", affine.scale.size(), *q.axis, to_string(shape)));
  for (size_t i = static_cast<size_t>(axis) + 1; i < shape.size(); ++i)
    affine.inner *= static_cast<uint64_t>(std::max<int64_t>(1, shape[i]));
  return affine;
}

}  // namespace paritas
