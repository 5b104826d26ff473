// An image in memory, and the limits that hold before any of it is allocated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "paritas/base/error.h"

namespace paritas {

// No image may claim more. Pillow warns above this number of pixels (its MAX_IMAGE_PIXELS); as RGB they take 256 MiB.
inline constexpr int64_t kMaxImagePixels = 89'478'485;
inline constexpr int64_t kMaxImageSide = 65'535;  // pixels; the JPEG format's own limit

struct Image {
  int64_t width = 0;
  int64_t height = 0;
  std::vector<uint8_t> pixels;  // interleaved RGB, 8 bits a channel, rows from the top, no padding

  const uint8_t* row(int64_t y) const { return pixels.data() + y * width * 3; }
  uint8_t* row(int64_t y) { return pixels.data() + y * width * 3; }
};

// An error when a side is 0 or over the limit, or there are too many pixels.
Status check_image_size(int64_t width, int64_t height, const std::string& subject);

// All pixels black. The size was checked.
Image make_image(int64_t width, int64_t height);

}  // namespace paritas
