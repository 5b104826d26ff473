// For images_pillow.py: decodes, resizes and prepares images as the library does. Reads one command a line from
// standard input and answers each with one line; pictures go to files as raw bytes.
//   decode IMAGE OUT                                        -> "ok WIDTH HEIGHT ORIENTATION" or "error SENTENCE"
//   resize WIDTH HEIGHT FILTER LEFT TOP RIGHT BOTTOM OUT    the image decoded last; all four -1: no box
//   prepare IMAGE PIPELINE.json OUT                         -> "ok DTYPE SHAPE SHA256 RECORD"
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "paritas/base/json.h"
#include "paritas/image/pipeline.h"

namespace paritas {
namespace {

template <class Bytes>
void save(const std::string& path, const Bytes& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

Result<std::string> decode(std::istream& arguments, Image& image) {
  std::string path, out;
  arguments >> path >> out;
  PARITAS_ASSIGN(const auto bytes, read_image_file(path));
  PARITAS_ASSIGN(DecodedImage decoded, decode_image(bytes, path));
  image = std::move(decoded.image);
  save(out, image.pixels);
  return std::to_string(image.width) + " " + std::to_string(image.height) + " " + std::to_string(decoded.orientation);
}

Result<std::string> resize_last(std::istream& arguments, const Image& image) {
  int64_t width = 0, height = 0;
  std::string filter, out;
  CropBox box;
  arguments >> width >> height >> filter >> box.left >> box.top >> box.right >> box.bottom >> out;
  std::optional<CropBox> part;
  if (box.left >= 0) part = box;
  PARITAS_ASSIGN(const Image scaled, resize(image, width, height, filter_from_name(filter).value(), part));
  save(out, scaled.pixels);
  return std::string();
}

Result<std::string> prepare(std::istream& arguments) {
  std::string path, declaration, out;
  arguments >> path >> declaration >> out;
  PARITAS_ASSIGN(const std::string text, read_text(declaration));
  PARITAS_ASSIGN(const Json json, parse_json(text, declaration));
  PARITAS_ASSIGN(const Pipeline pipeline, pipeline_from_json(json, declaration));
  PARITAS_ASSIGN(const PreparedImage prepared, prepare_image(path, pipeline));
  PARITAS_ASSIGN(const TensorView view, TensorView::of(prepared.tensor));
  save(out, view.bytes());
  return std::string(name(view.dtype())) + " " + to_string(view.shape()) + " " + prepared.record.tensor_sha256 + " " +
         dump_json(to_json(prepared.record), -1);
}

}  // namespace
}  // namespace paritas

int main() {
  paritas::Image image;
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream arguments(line);
    std::string command;
    arguments >> command;
    paritas::Result<std::string> answer = paritas::usage_error("image_tool", "unknown command " + command);
    if (command == "decode") answer = paritas::decode(arguments, image);
    if (command == "resize") answer = paritas::resize_last(arguments, image);
    if (command == "prepare") answer = paritas::prepare(arguments);
    std::cout << (answer ? "ok " + *answer : "error " + answer.error().message()) << std::endl;
  }
  return 0;
}
