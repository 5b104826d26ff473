// Where the pixels of the tensor come from: crop, sizes, padding. Numbers only, no pixels.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "paritas/image/resize.h"

namespace paritas {

enum class CropEdges {
  kCut,     // the part is cut out first, in whole pixels (Pillow: image.crop(box).resize(size))
  kBeyond,  // the filter sees pixels beyond the box, fractions allowed (Pillow: image.resize(size, box=box))
};

// Nothing is cropped while both are absent; at most one is given.
struct CropStep {
  std::optional<std::array<double, 4>> box;  // left, top, right, bottom in pixels
  std::optional<double> centre;              // side of a centred square, as a share of the shorter side: (0, 1]
  CropEdges edges = CropEdges::kCut;

  bool operator==(const CropStep&) const = default;
};

enum class ResizeMode {
  kNone,
  kDirect,     // to width x height, whatever the aspect ratio
  kLetterbox,  // to fit within width x height with its aspect ratio; the rest is padded
  kShortSide,  // the shorter side to short_side, then the centre width x height is cut out
};
enum class Placement { kCentre, kTopLeft };    // of the picture in a letterbox
enum class SizeRounding { kHalfEven, kDown };  // of the side that follows from the aspect ratio; at least 1

struct ResizeStep {
  ResizeMode mode = ResizeMode::kNone;
  int64_t width = 0;  // of the tensor, pixels
  int64_t height = 0;
  int64_t short_side = 0;
  Filter filter = Filter::kBilinear;
  Placement placement = Placement::kCentre;
  SizeRounding rounding = SizeRounding::kHalfEven;
  PassOrder passes = PassOrder::kPillow13;

  bool operator==(const ResizeStep&) const = default;
};

// A position x of the tensor comes from crop.left + (x - pad_left + trim_left) / scale_x of the file's picture.
struct Geometry {
  CropBox crop;  // part of the picture that is used, pixels
  CropEdges edges = CropEdges::kCut;
  int64_t resized_width = 0;  // after resampling, pixels
  int64_t resized_height = 0;
  double scale_x = 1;  // resized pixels for each pixel of the crop
  double scale_y = 1;
  int64_t trim_left = 0, trim_top = 0;  // cut off after resampling (short side)
  int64_t pad_left = 0, pad_top = 0, pad_right = 0, pad_bottom = 0;
  int64_t width = 0, height = 0;  // of the tensor
};

// For a picture of width x height. Errors: a crop beyond the picture, sizes over the limits.
Result<Geometry> plan_geometry(const CropStep& crop, const ResizeStep& step, int64_t width, int64_t height,
                               const std::string& subject);

struct Placed {
  Image image;                 // RGB, of the tensor's size
  bool columns_first = false;  // scaled in an order that Pillow 12 and older do not use
};

// The planned pixels; `pad` is the colour around a letterbox, in RGB.
Result<Placed> apply_geometry(const Image& image, const Geometry& plan, const ResizeStep& step,
                              std::array<uint8_t, 3> pad);

}  // namespace paritas
