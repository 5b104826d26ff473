#include "paritas/image/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include <fmt/format.h>

namespace paritas {
namespace {

constexpr std::string_view kNames[] = {"nearest", "box", "bilinear", "hamming", "bicubic", "lanczos"};

// 8 bits for the pixel and 2 for sums beyond 255 and below 0 leave this many for the fraction in 32.
constexpr int kFractionBits = 32 - 8 - 2;
constexpr int32_t kHalf = 1 << (kFractionBits - 1);

double sinc(double x) {
  if (x == 0) return 1;
  x *= std::numbers::pi;
  return std::sin(x) / x;
}

// Weight at a distance of x, in source pixels when enlarging. Each is 0 beyond reach().
double weight(Filter filter, double x) {
  switch (filter) {
    case Filter::kNearest:
      break;
    case Filter::kBox:
      return x > -0.5 && x <= 0.5 ? 1 : 0;
    case Filter::kBilinear:
      x = std::abs(x);
      return x < 1 ? 1 - x : 0;
    case Filter::kHamming:
      x = std::abs(x);
      if (x == 0) return 1;
      if (x >= 1) return 0;
      x *= std::numbers::pi;
      return std::sin(x) / x * (double{0.54F} + double{0.46F} * std::cos(x));  // the constants are floats in Pillow
    case Filter::kBicubic: {
      constexpr double kA = -0.5;  // Keys' parameter
      x = std::abs(x);
      if (x < 1) return ((kA + 2) * x - (kA + 3)) * x * x + 1;
      return x < 2 ? (((x - 5) * x + 8) * x - 4) * kA : 0;
    }
    case Filter::kLanczos:
      return x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0;
  }
  return 0;
}

double reach(Filter filter) {
  switch (filter) {
    case Filter::kNearest:
      break;
    case Filter::kBox:
      return 0.5;
    case Filter::kBilinear:
    case Filter::kHamming:
      return 1;
    case Filter::kBicubic:
      return 2;
    case Filter::kLanczos:
      return 3;
  }
  return 0;
}

// For each target position the source positions that it sums, and their weights.
struct Taps {
  struct Range {
    int64_t first = 0;
    int64_t count = 0;
  };
  std::vector<Range> ranges;
  std::vector<int32_t> weights;  // `stride` for each target position, as fractions of 2^22
  int64_t stride = 0;

  int64_t begin() const { return ranges.front().first; }  // source positions that any target needs
  int64_t end() const { return ranges.back().first + ranges.back().count; }
};

// The order of the operations, and float32 for the borders of the box, decide about last bits: they are Pillow's.
Taps make_taps(int64_t source, float from, float to, int64_t target, Filter filter) {
  const double scale = static_cast<double>(to - from) / static_cast<double>(target);
  const double stretch = std::max(scale, 1.0);
  const double support = reach(filter) * stretch;
  const double inverse = 1.0 / stretch;
  Taps taps;
  taps.stride = static_cast<int64_t>(std::ceil(support)) * 2 + 1;
  taps.ranges.resize(static_cast<size_t>(target));
  taps.weights.resize(static_cast<size_t>(target * taps.stride));
  std::vector<double> exact(static_cast<size_t>(taps.stride));
  for (int64_t i = 0; i < target; ++i) {
    const double centre = from + (static_cast<double>(i) + 0.5) * scale;
    const double lowest = centre - support + 0.5;  // cut towards 0, not rounded, as in Pillow
    const double highest = centre + support + 0.5;
    const auto first = std::max<int64_t>(static_cast<int64_t>(lowest), 0);
    const auto end = std::min<int64_t>(static_cast<int64_t>(highest), source);
    double total = 0;
    for (int64_t x = first; x < end; ++x) {
      const double value = weight(filter, (static_cast<double>(x) - centre + 0.5) * inverse);
      exact[static_cast<size_t>(x - first)] = value;
      total += value;
    }
    taps.ranges[static_cast<size_t>(i)] = {first, end - first};
    int32_t* out = taps.weights.data() + i * taps.stride;
    for (int64_t x = 0; x < end - first; ++x) {
      const double share = total != 0 ? exact[static_cast<size_t>(x)] / total : exact[static_cast<size_t>(x)];
      out[x] = static_cast<int32_t>((share < 0 ? -0.5 : 0.5) + share * (1 << kFractionBits));
    }
  }
  return taps;
}

uint8_t to_byte(int32_t sum) { return static_cast<uint8_t>(std::clamp(sum >> kFractionBits, 0, 255)); }

// Rows [first_row, first_row + rows) of `image`, each scaled to the width of `taps`.
Image scale_rows(const Image& image, const Taps& taps, int64_t first_row, int64_t rows) {
  const auto width = static_cast<int64_t>(taps.ranges.size());
  Image scaled = make_image(width, rows);
  for (int64_t y = 0; y < rows; ++y) {
    const uint8_t* in = image.row(first_row + y);
    uint8_t* out = scaled.row(y);
    for (int64_t x = 0; x < width; ++x, out += 3) {
      const auto [first, count] = taps.ranges[static_cast<size_t>(x)];
      const int32_t* weights = taps.weights.data() + x * taps.stride;
      const uint8_t* pixel = in + first * 3;
      int32_t red = kHalf, green = kHalf, blue = kHalf;
      for (int64_t i = 0; i < count; ++i, pixel += 3) {
        red += pixel[0] * weights[i];
        green += pixel[1] * weights[i];
        blue += pixel[2] * weights[i];
      }
      out[0] = to_byte(red);
      out[1] = to_byte(green);
      out[2] = to_byte(blue);
    }
  }
  return scaled;
}

// The columns of `image`, whose first row is row `first_row` of what `taps` were made for.
Image scale_columns(const Image& image, const Taps& taps, int64_t first_row) {
  const auto height = static_cast<int64_t>(taps.ranges.size());
  Image scaled = make_image(image.width, height);
  const auto length = static_cast<size_t>(image.width) * 3;
  std::vector<int32_t> sums(length);
  for (int64_t y = 0; y < height; ++y) {
    const auto [first, count] = taps.ranges[static_cast<size_t>(y)];
    const int32_t* weights = taps.weights.data() + y * taps.stride;
    std::fill(sums.begin(), sums.end(), kHalf);
    for (int64_t i = 0; i < count; ++i) {
      const uint8_t* in = image.row(first - first_row + i);
      const int32_t factor = weights[i];
      for (size_t x = 0; x < length; ++x) sums[x] += in[x] * factor;
    }
    uint8_t* out = scaled.row(y);
    for (size_t x = 0; x < length; ++x) out[x] = to_byte(sums[x]);
  }
  return scaled;
}

// Source position of each target position, -1 where rounding leads out of the image. The positions are summed up step
// by step, which decides about ties as in Pillow.
std::vector<int64_t> nearest_positions(int64_t source, float from, float to, int64_t target) {
  const double step = static_cast<double>(to - from) / static_cast<double>(target);
  std::vector<int64_t> positions(static_cast<size_t>(target), -1);
  double at = from + step * 0.5;
  for (int64_t& position : positions) {
    if (at >= 0 && static_cast<int64_t>(at) < source) position = static_cast<int64_t>(at);
    at += step;
  }
  return positions;
}

Image resize_nearest(const Image& image, int64_t width, int64_t height, const CropBox& box) {
  const auto columns = nearest_positions(image.width, box.left, box.right, width);
  const auto rows = nearest_positions(image.height, box.top, box.bottom, height);
  Image scaled = make_image(width, height);
  for (int64_t y = 0; y < height; ++y) {
    const int64_t row = rows[static_cast<size_t>(y)];
    if (row < 0) continue;
    uint8_t* out = scaled.row(y);
    for (const int64_t column : columns) {
      if (column >= 0) std::memcpy(out, image.row(row) + column * 3, 3);
      out += 3;
    }
  }
  return scaled;
}

Status check_box(const Image& image, const CropBox& box) {
  const auto width = static_cast<float>(image.width);
  const auto height = static_cast<float>(image.height);
  // Written so that NaN fails.
  if (!(box.left >= 0 && box.top >= 0 && box.right <= width && box.bottom <= height))
    return usage_error("resize",
                       fmt::format("the box [{}, {}, {}, {}] reaches beyond the image of {} x {} pixels", box.left,
                                   box.top, box.right, box.bottom, image.width, image.height),
                       "a box is left, top, right, bottom in pixels of the image");
  if (!(box.left < box.right && box.top < box.bottom))
    return usage_error("resize",
                       fmt::format("the box [{}, {}, {}, {}] is empty", box.left, box.top, box.right, box.bottom),
                       "a box is left, top, right, bottom in pixels of the image");
  return {};
}

}  // namespace

std::string_view name(Filter filter) { return kNames[static_cast<size_t>(filter)]; }

std::optional<Filter> filter_from_name(std::string_view text) {
  const auto* found = std::find(std::begin(kNames), std::end(kNames), text);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<Filter>(found - std::begin(kNames));
}

bool columns_first(const Image& image, int64_t width, int64_t height) {
  return height < image.height && image.height - height > 2 * (image.width - width);
}

Result<Image> resize(const Image& image, int64_t width, int64_t height, Filter filter,
                     const std::optional<CropBox>& part, PassOrder order) {
  const CropBox whole{0, 0, static_cast<float>(image.width), static_cast<float>(image.height)};
  const CropBox box = part.value_or(whole);
  PARITAS_TRY(check_image_size(width, height, "resize"));
  PARITAS_TRY(check_box(image, box));
  if (box == whole && width == image.width && height == image.height) return image;
  if (filter == Filter::kNearest) return resize_nearest(image, width, height, box);

  const bool rows_change = width != image.width || box.left != 0 || box.right != whole.right;
  const bool columns_change = height != image.height || box.top != 0 || box.bottom != whole.bottom;
  const Taps vertical = make_taps(image.height, box.top, box.bottom, height, filter);
  if (!rows_change) return scale_columns(image, vertical, 0);
  const Taps horizontal = make_taps(image.width, box.left, box.right, width, filter);
  if (!columns_change) return scale_rows(image, horizontal, 0, image.height);
  if (order == PassOrder::kPillow13 && columns_first(image, width, height))
    return scale_rows(scale_columns(image, vertical, 0), horizontal, 0, height);
  // Of the rows only those that the columns will need.
  const int64_t first_row = vertical.begin();
  const int64_t rows = vertical.end() - first_row;
  PARITAS_TRY(check_image_size(width, rows, "resize, after its first pass"));
  return scale_columns(scale_rows(image, horizontal, first_row, rows), vertical, first_row);
}

Image cut(const Image& image, int64_t left, int64_t top, int64_t width, int64_t height) {
  Image part = make_image(width, height);
  for (int64_t y = 0; y < height; ++y)
    std::memcpy(part.row(y), image.row(top + y) + left * 3, static_cast<size_t>(width) * 3);
  return part;
}

}  // namespace paritas
