// From an image file to the input tensor of a network, in declared steps. Their order is fixed:
//
//   decode -> crop -> resize (and pad or centre crop) -> colour order -> arithmetic -> quantisation -> layout
//
// Every list of three is in the order of the tensor's channels, so after the colour order. docs/images.md has the
// rounding rules and what equals Pillow, torchvision and numpy to the bit.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "paritas/base/json.h"
#include "paritas/image/decode.h"
#include "paritas/image/geometry.h"
#include "paritas/tensor/tensor.h"

namespace paritas {

enum class ColourOrder { kRgb, kBgr };
enum class Layout { kNchw, kNhwc };

// float32, each operation rounded once:  v = pixel * scale;  v = v - mean;  v = v / std
struct Arithmetic {
  bool divide_pixel = false;  // v = pixel / scale instead: x / 255 and x * (1/255) differ in last bits
  float scale = 1;
  std::array<float, 3> mean = {0, 0, 0};
  bool multiply_std = false;  // v = v * std instead, for a declared 1/std
  std::array<float, 3> std = {1, 1, 1};

  bool operator==(const Arithmetic&) const = default;
};

// q = clamp(round(v / scale) + zero_point), in float32 up to the rounding.
struct ImageQuantisation {
  DType dtype = DType::kU8;  // int8, uint8, int16 or uint16
  float scale = 1;
  int64_t zero_point = 0;
  bool ties_away = false;          // 0.5 -> 1 and 2.5 -> 3; else ties to even: 0.5 -> 0, 2.5 -> 2
  bool zero_point_inside = false;  // round(v / scale + zero_point)

  bool operator==(const ImageQuantisation&) const = default;
};

struct Pipeline {
  CropStep crop;
  ResizeStep resize;
  std::array<uint8_t, 3> pad_value = {114, 114, 114};  // of a letterbox
  ColourOrder colour = ColourOrder::kRgb;
  DType dtype = DType::kF32;  // or kU8: the pixels themselves, without arithmetic
  Arithmetic arithmetic;
  std::optional<ImageQuantisation> quantisation;  // its dtype is then the tensor's
  Layout layout = Layout::kNchw;

  bool operator==(const Pipeline&) const = default;
};

// Refuses unknown keys, wrong types and values that cannot be meant. `subject` names the source in errors.
Result<Pipeline> pipeline_from_json(const Json& json, const std::string& subject);
// With every default written out; pipeline_from_json() reads it back.
Json to_json(const Pipeline& pipeline);

// How a tensor was made of a file: what a reader needs to repeat it, and to map boxes back to the picture.
struct ImageRecord {
  std::string file_sha256;
  std::string tensor_sha256;  // of the tensor's bytes
  ImageFormat format = ImageFormat::kPng;
  std::string mode;               // DecodedImage::mode
  std::string decoder;            // DecodedImage::decoder
  int64_t width = 0, height = 0;  // of the file, pixels
  int orientation = 1;            // EXIF, not applied
  Geometry geometry;
  std::vector<std::string> notes;
};
Json to_json(const ImageRecord& record);

struct PreparedImage {
  Tensor tensor;  // in memory, batch 1
  ImageRecord record;
};

Result<PreparedImage> prepare_image(const Path& path, const Pipeline& pipeline);
// Pixels that are at hand already; `subject` names them in errors.
Result<Tensor> prepare_pixels(const Image& image, const Pipeline& pipeline, const std::string& subject);

}  // namespace paritas
