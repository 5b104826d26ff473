// Resampling as Pillow's Image.resize does it for 8-bit RGB, to the byte. All filters but nearest are antialiased: when
// an image shrinks, the filter is stretched to cover every source pixel. (OpenCV's cv2.resize is not; it gives other
// pixels.)
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "paritas/image/image.h"

namespace paritas {

enum class Filter { kNearest, kBox, kBilinear, kHamming, kBicubic, kLanczos };
std::string_view name(Filter filter);  // "nearest", "box", ...
std::optional<Filter> filter_from_name(std::string_view name);

// Part of an image, in pixels from its left top corner; pixel (0, 0) covers 0 to 1. float32, as in Pillow.
struct CropBox {
  float left = 0;
  float top = 0;
  float right = 0;
  float bottom = 0;

  bool operator==(const CropBox&) const = default;
};

// Which direction is scaled first. The pixels in between are rounded to bytes, so the order shows in last bits.
enum class PassOrder {
  kPillow13,         // Pillow 13: see columns_first()
  kHorizontalFirst,  // Pillow 12 and older
};

// Pillow 13 scales the columns first where the image loses more than twice as many rows as columns. A box does not
// count. Found by trial, with every filter, size and box of tests/interop/images_pillow.py.
bool columns_first(const Image& image, int64_t width, int64_t height);

// Scales `box` (the whole image by default) to width x height. The filter sees pixels beyond the box where there are
// any, so this is not the same as cutting the box out first. Errors: a box that is empty or reaches beyond the image,
// a size over the limits.
Result<Image> resize(const Image& image, int64_t width, int64_t height, Filter filter,
                     const std::optional<CropBox>& box = std::nullopt, PassOrder order = PassOrder::kPillow13);

// The pixels of [left, left + width) x [top, top + height), which lie within the image.
Image cut(const Image& image, int64_t left, int64_t top, int64_t width, int64_t height);

}  // namespace paritas
