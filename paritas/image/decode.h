// JPEG and PNG files as 8-bit RGB, to the byte what Pillow's Image.open(file).convert("RGB") gives. Differences: what
// Pillow accepts with a part of the picture missing or made up is an error here (docs/images.md lists the cases).
// Colour profiles, gamma and the EXIF orientation are not applied, as in Pillow.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "paritas/base/files.h"
#include "paritas/image/image.h"

namespace paritas {

enum class ImageFormat { kJpeg, kPng };
std::string_view name(ImageFormat format);  // "JPEG", "PNG"

struct DecodedImage {
  Image image;
  ImageFormat format = ImageFormat::kPng;
  std::string mode;     // what the file holds: "RGB, 8 bits", "palette of 16 colours, 4 bits", "YCbCr, progressive"
  std::string decoder;  // library and version that this was built with: "libjpeg-turbo 2.1.5"
  int orientation = 1;  // EXIF, 1 to 8; 1 when the file says nothing. Not applied
  std::vector<std::string> notes;
};

// `subject` names the file in errors.
Result<DecodedImage> decode_image(std::span<const std::byte> bytes, const std::string& subject);

inline constexpr uint64_t kMaxImageFile = uint64_t{1} << 29;  // bytes; an image of the most pixels fits uncompressed

// The bytes of an image file, not yet decoded.
Result<std::vector<std::byte>> read_image_file(const Path& path);

}  // namespace paritas
