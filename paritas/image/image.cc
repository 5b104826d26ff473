#include "paritas/image/image.h"

#include <fmt/format.h>

namespace paritas {

Status check_image_size(int64_t width, int64_t height, const std::string& subject) {
  if (width <= 0 || height <= 0)
    return input_error(subject, fmt::format("the image would be {} x {} pixels", width, height),
                       "both sides must be at least 1");
  if (width > kMaxImageSide || height > kMaxImageSide)
    return input_error(subject,
                       fmt::format("claims {} x {} pixels, a side may have at most {}", width, height, kMaxImageSide),
                       "make the image smaller");
  if (width * height > kMaxImagePixels)
    return input_error(
        subject,
        fmt::format("claims {} x {} = {} pixels, at most {} are read", width, height, width * height, kMaxImagePixels),
        "make the image smaller");
  return {};
}

Image make_image(int64_t width, int64_t height) {
  return {width, height, std::vector<uint8_t>(static_cast<size_t>(width * height * 3))};
}

}  // namespace paritas
