#include "paritas/image/decode.h"

#include <cstring>

#include <fmt/format.h>

#include "paritas/image/decode_jpeg.h"
#include "paritas/image/decode_png.h"

namespace paritas {
namespace {

bool starts_with(std::span<const std::byte> bytes, size_t at, std::string_view text) {
  return bytes.size() >= at + text.size() && std::memcmp(bytes.data() + at, text.data(), text.size()) == 0;
}

struct Signature {
  size_t at;
  std::string_view text;
  const char* format;
};
// Formats that are not read but often given, to be named in the error.
constexpr Signature kOthers[] = {
    {0, "GIF8", "a GIF image"},
    {0, "BM", "a BMP image"},
    {8, "WEBP", "a WebP image"},
    {0, std::string_view("II*\0", 4), "a TIFF image"},
    {0, std::string_view("MM\0*", 4), "a TIFF image"},
    {4, "ftypheic", "a HEIC image"},
    {4, "ftypavif", "an AVIF image"},
    {4, "ftypmif1", "a HEIF image"},
    {0, std::string_view("\0\0\0\x0cjP  ", 8), "a JPEG 2000 image"},
    {0, "\xff\x0a", "a JPEG XL image"},
    {0, "\x93NUMPY", "a .npy file"},
};

std::string_view orientation_text(int orientation) {
  constexpr std::string_view kTexts[] = {"mirrored left to right",         "turned by 180 degrees",
                                         "mirrored top to bottom",         "mirrored and turned by 90 degrees",
                                         "turned by 90 degrees clockwise", "mirrored and turned by 270 degrees",
                                         "turned by 270 degrees clockwise"};
  return kTexts[orientation - 2];
}

}  // namespace

std::string_view name(ImageFormat format) { return format == ImageFormat::kJpeg ? "JPEG" : "PNG"; }

Result<DecodedImage> decode_image(std::span<const std::byte> bytes, const std::string& subject) {
  DecodedImage decoded;
  if (starts_with(bytes, 0, "\x89PNG\r\n\x1a\n")) {
    PARITAS_ASSIGN(decoded, decode_png(bytes, subject));
  } else if (starts_with(bytes, 0, "\xff\xd8\xff")) {
    PARITAS_ASSIGN(decoded, decode_jpeg(bytes, subject));
  } else {
    if (bytes.empty()) return input_error(subject, "the file is empty", "JPEG and PNG images are read");
    for (const Signature& other : kOthers)
      if (starts_with(bytes, other.at, other.text))
        return input_error(subject, fmt::format("is {}; JPEG and PNG are read", other.format),
                           "convert it to PNG, which loses nothing");
    return input_error(subject, "is neither a JPEG nor a PNG image", "convert it to PNG, which loses nothing");
  }
  if (decoded.orientation != 1)
    decoded.notes.push_back(
        fmt::format("EXIF orientation {} (to be shown {}) is not applied: the pixels are used as they are stored",
                    decoded.orientation, orientation_text(decoded.orientation)));
  return decoded;
}

Result<std::vector<std::byte>> read_image_file(const Path& path) {
  PARITAS_ASSIGN(const auto file, File::open(path));
  if (file->size() > kMaxImageFile)
    return input_error(path.string(),
                       fmt::format("has {} bytes, an image file may have at most {}", file->size(), kMaxImageFile),
                       "make the image smaller");
  std::vector<std::byte> bytes(file->size());
  PARITAS_TRY(file->read(0, bytes));
  return bytes;
}

}  // namespace paritas
