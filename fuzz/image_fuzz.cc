// Any bytes as an image file: refused with a cause, or a whole picture that can be prepared.
#include "fuzz/memory_file.h"
#include "paritas/image/pipeline.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace paritas;
  const auto decoded = decode_image(std::as_bytes(std::span(data, size)), "input");
  if (!decoded) {
    require(!decoded.error().cause.empty() && !decoded.error().subject.empty() && !decoded.error().remedy.empty());
    return 0;
  }
  const Image& image = decoded->image;
  require(image.width > 0 && image.height > 0 && image.width * image.height <= kMaxImagePixels);
  require(image.pixels.size() == static_cast<size_t>(image.width * image.height * 3));
  require(decoded->orientation >= 1 && decoded->orientation <= 8 && !decoded->mode.empty());
  Pipeline pipeline;
  pipeline.resize.mode = ResizeMode::kLetterbox;
  pipeline.resize.width = 7;
  pipeline.resize.height = 5;
  pipeline.resize.filter = Filter::kLanczos;
  const auto tensor = prepare_pixels(image, pipeline, "input");
  require(tensor.has_value() && tensor->shape == Shape{1, 3, 5, 7});
  return 0;
}
