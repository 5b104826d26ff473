#include "paritas/image/geometry.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

namespace paritas {
namespace {

int64_t side(double exact, SizeRounding rounding) {
  const double whole = rounding == SizeRounding::kDown ? std::floor(exact) : std::nearbyint(exact);
  return static_cast<int64_t>(std::clamp(whole, 1.0, 1e9));
}

Result<CropBox> plan_crop(const CropStep& crop, int64_t width, int64_t height, const std::string& subject) {
  const auto w = static_cast<double>(width);
  const auto h = static_cast<double>(height);
  if (crop.box) {
    const auto& [left, top, right, bottom] = *crop.box;
    if (!(left >= 0 && top >= 0 && right <= w && bottom <= h))
      return input_error(subject,
                         fmt::format("the crop box [{}, {}, {}, {}] reaches beyond the image of {} x {} pixels", left,
                                     top, right, bottom, width, height),
                         "a box is left, top, right, bottom in pixels");
    return CropBox{static_cast<float>(left), static_cast<float>(top), static_cast<float>(right),
                   static_cast<float>(bottom)};
  }
  if (!crop.centre) return CropBox{0, 0, static_cast<float>(width), static_cast<float>(height)};
  const double exact = *crop.centre * static_cast<double>(std::min(width, height));
  if (crop.edges == CropEdges::kBeyond)
    return CropBox{static_cast<float>((w - exact) / 2), static_cast<float>((h - exact) / 2),
                   static_cast<float>((w + exact) / 2), static_cast<float>((h + exact) / 2)};
  const int64_t square = side(exact, SizeRounding::kDown);
  const int64_t left = (width - square + 1) / 2;
  const int64_t top = (height - square + 1) / 2;
  return CropBox{static_cast<float>(left), static_cast<float>(top), static_cast<float>(left + square),
                 static_cast<float>(top + square)};
}

void plan_letterbox(const ResizeStep& step, double crop_width, double crop_height, Geometry& plan) {
  const double ratio =
      std::min(static_cast<double>(step.height) / crop_height, static_cast<double>(step.width) / crop_width);
  plan.resized_width = std::min(side(crop_width * ratio, step.rounding), step.width);
  plan.resized_height = std::min(side(crop_height * ratio, step.rounding), step.height);
  const int64_t spare_x = step.width - plan.resized_width;
  const int64_t spare_y = step.height - plan.resized_height;
  if (step.placement == Placement::kCentre) {
    plan.pad_left = spare_x / 2;
    plan.pad_top = spare_y / 2;
  }
  plan.pad_right = spare_x - plan.pad_left;
  plan.pad_bottom = spare_y - plan.pad_top;
}

Status plan_short_side(const ResizeStep& step, double crop_width, double crop_height, const std::string& subject,
                       Geometry& plan) {
  const auto target = static_cast<double>(step.short_side);
  const bool upright = crop_width <= crop_height;
  const double longer = upright ? target * crop_height / crop_width : target * crop_width / crop_height;
  plan.resized_width = upright ? step.short_side : side(longer, step.rounding);
  plan.resized_height = upright ? side(longer, step.rounding) : step.short_side;
  if (plan.resized_width < step.width || plan.resized_height < step.height)
    return input_error(subject,
                       fmt::format("resized to {} x {} pixels it is smaller than the centre crop of {} x {}",
                                   plan.resized_width, plan.resized_height, step.width, step.height),
                       "make short_side larger or the crop smaller");
  plan.trim_left = static_cast<int64_t>(std::nearbyint(static_cast<double>(plan.resized_width - step.width) / 2));
  plan.trim_top = static_cast<int64_t>(std::nearbyint(static_cast<double>(plan.resized_height - step.height) / 2));
  return {};
}

bool is_whole(float value) { return value == std::floor(value); }

}  // namespace

Result<Geometry> plan_geometry(const CropStep& crop, const ResizeStep& step, int64_t width, int64_t height,
                               const std::string& subject) {
  Geometry plan;
  plan.edges = crop.edges;
  PARITAS_ASSIGN(plan.crop, plan_crop(crop, width, height, subject));
  const CropBox& box = plan.crop;
  if (!(box.left < box.right && box.top < box.bottom))
    return input_error(subject, "the crop leaves no pixel", "a box is left, top, right, bottom in pixels");
  if (crop.edges == CropEdges::kCut)
    for (const float border : {box.left, box.top, box.right, box.bottom})
      if (!is_whole(border))
        return usage_error(subject, fmt::format("the crop box has the border {}, not a whole pixel", border),
                           "only a crop with edges = \"beyond\" may have fractions");
  const double crop_width = double{box.right} - double{box.left};
  const double crop_height = double{box.bottom} - double{box.top};
  plan.width = step.width;
  plan.height = step.height;
  switch (step.mode) {
    case ResizeMode::kNone:
      if (crop.edges == CropEdges::kBeyond)
        return usage_error(subject, "a crop with edges = \"beyond\" needs a resize", "use edges = \"cut\"");
      plan.width = plan.resized_width = static_cast<int64_t>(crop_width);
      plan.height = plan.resized_height = static_cast<int64_t>(crop_height);
      break;
    case ResizeMode::kDirect:
      plan.resized_width = step.width;
      plan.resized_height = step.height;
      break;
    case ResizeMode::kLetterbox:
      plan_letterbox(step, crop_width, crop_height, plan);
      break;
    case ResizeMode::kShortSide:
      PARITAS_TRY(plan_short_side(step, crop_width, crop_height, subject, plan));
      break;
  }
  PARITAS_TRY(check_image_size(plan.resized_width, plan.resized_height, subject + ", resized"));
  PARITAS_TRY(check_image_size(plan.width, plan.height, subject + ", as a tensor"));
  plan.scale_x = static_cast<double>(plan.resized_width) / crop_width;
  plan.scale_y = static_cast<double>(plan.resized_height) / crop_height;
  return plan;
}

Result<Placed> apply_geometry(const Image& image, const Geometry& plan, const ResizeStep& step,
                              std::array<uint8_t, 3> pad) {
  const CropBox whole{0, 0, static_cast<float>(image.width), static_cast<float>(image.height)};
  std::optional<CropBox> box;
  std::optional<Image> part;
  if (plan.edges == CropEdges::kBeyond) {
    box = plan.crop;
  } else if (plan.crop != whole) {
    const auto left = static_cast<int64_t>(plan.crop.left);
    const auto top = static_cast<int64_t>(plan.crop.top);
    part = cut(image, left, top, static_cast<int64_t>(plan.crop.right) - left,
               static_cast<int64_t>(plan.crop.bottom) - top);
  }
  const Image& source = part ? *part : image;
  Placed placed;
  Image& picture = placed.image;
  PARITAS_ASSIGN(picture, resize(source, plan.resized_width, plan.resized_height, step.filter, box, step.passes));
  const bool both_change = picture.width != source.width && picture.height != source.height;
  placed.columns_first = step.passes == PassOrder::kPillow13 && step.filter != Filter::kNearest &&
                         (both_change || box) && columns_first(source, picture.width, picture.height);
  if (plan.width == picture.width && plan.height == picture.height) return placed;
  if (plan.width <= picture.width && plan.height <= picture.height) {
    picture = cut(picture, plan.trim_left, plan.trim_top, plan.width, plan.height);
    return placed;
  }
  Image padded = make_image(plan.width, plan.height);
  for (size_t i = 0; i < padded.pixels.size(); ++i) padded.pixels[i] = pad[i % 3];
  for (int64_t y = 0; y < picture.height; ++y)
    std::memcpy(padded.row(plan.pad_top + y) + plan.pad_left * 3, picture.row(y),
                static_cast<size_t>(picture.width) * 3);
  picture = std::move(padded);
  return placed;
}

}  // namespace paritas
