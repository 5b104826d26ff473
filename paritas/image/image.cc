#include "paritas/image/image.h"

#include <fmt/format.h>

namespace paritas {

Status check_image_size(int64_t width, int64_t height, const std::string& subject) {
  const auto refuse = [&](const std::string& limit, const char* remedy) -> Status {
    return input_error(subject, fmt::format("the image is said to have {} x {} pixels; {}", width, height, limit),
                       remedy);
  };
  if (width <= 0 || height <= 0) return refuse("both sides must be at least 1", "the file or declaration is damaged");
  if (width > kMaxImageSide || height > kMaxImageSide)
    return refuse(fmt::format("a side may have at most {}", kMaxImageSide), "make the image smaller");
  if (width * height > kMaxImagePixels)
    return refuse(fmt::format("at most {} in all are read", kMaxImagePixels), "make the image smaller");
  return {};
}

Image make_image(int64_t width, int64_t height) {
  return {width, height, std::vector<uint8_t>(static_cast<size_t>(width * height * 3))};
}

}  // namespace paritas
