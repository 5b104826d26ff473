#include "paritas/image/pipeline.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "paritas/base/sha256.h"

namespace paritas {
namespace {

// Pixels are bytes, so the arithmetic is done once for each byte and channel.
using ValueTable = std::array<std::array<float, 256>, 3>;

Result<ValueTable> make_values(const Arithmetic& steps, const std::string& subject) {
  ValueTable table{};
  for (size_t c = 0; c < 3; ++c)
    for (size_t pixel = 0; pixel < 256; ++pixel) {
      const auto p = static_cast<float>(pixel);
      float value = steps.divide_pixel ? p / steps.scale : p * steps.scale;
      value = value - steps.mean[c];
      value = steps.multiply_std ? value * steps.std[c] : value / steps.std[c];
      if (!std::isfinite(value))
        return usage_error(subject, fmt::format("the declared arithmetic makes {} of pixel value {}", value, pixel),
                           "check scale, mean and std");
      table[c][pixel] = value;
    }
  return table;
}

struct IntegerRange {
  int64_t lowest;
  int64_t highest;
};
IntegerRange range_of(DType dtype) {
  const int width = bits(dtype);
  if (is_signed_integer(dtype)) return {-(int64_t{1} << (width - 1)), (int64_t{1} << (width - 1)) - 1};
  return {0, (int64_t{1} << width) - 1};
}

int64_t quantise(float value, const ImageQuantisation& quantisation) {
  float steps = value / quantisation.scale;
  if (quantisation.zero_point_inside) steps = steps + static_cast<float>(quantisation.zero_point);
  double rounded = quantisation.ties_away ? std::round(steps) : std::nearbyint(steps);
  if (!quantisation.zero_point_inside) rounded += static_cast<double>(quantisation.zero_point);
  const auto [lowest, highest] = range_of(quantisation.dtype);
  return static_cast<int64_t>(std::clamp(rounded, static_cast<double>(lowest), static_cast<double>(highest)));
}

// T for every pixel from a table of 256 a channel, in the declared order and layout.
template <class T>
std::vector<std::byte> fill(const Image& image, const Pipeline& pipeline,
                            const std::array<std::array<T, 256>, 3>& table) {
  const auto count = static_cast<size_t>(image.width * image.height);
  std::vector<std::byte> bytes(count * 3 * sizeof(T));
  T* out = reinterpret_cast<T*>(bytes.data());
  const bool planes = pipeline.layout == Layout::kNchw;
  for (size_t c = 0; c < 3; ++c) {
    const size_t source = pipeline.colour == ColourOrder::kBgr ? 2 - c : c;
    const uint8_t* in = image.pixels.data() + source;
    T* to = planes ? out + c * count : out + c;
    const size_t step = planes ? 1 : 3;
    for (size_t i = 0; i < count; ++i, in += 3, to += step) *to = table[c][*in];
  }
  return bytes;
}

template <class T, class Value>
std::vector<std::byte> fill_with(const Image& image, const Pipeline& pipeline, Value value) {
  std::array<std::array<T, 256>, 3> table{};
  for (size_t c = 0; c < 3; ++c)
    for (size_t pixel = 0; pixel < 256; ++pixel) table[c][pixel] = static_cast<T>(value(c, pixel));
  return fill(image, pipeline, table);
}

Result<Tensor> to_tensor(const Image& image, const Pipeline& pipeline, const std::string& subject) {
  Shape shape{1, 3, image.height, image.width};
  if (pipeline.layout == Layout::kNhwc) shape = {1, image.height, image.width, 3};
  const auto make = [&](DType dtype, std::vector<std::byte> bytes) {
    return make_tensor(dtype, shape, Bytes::in_memory(std::move(bytes)), subject);
  };
  if (!pipeline.quantisation && pipeline.dtype == DType::kU8)
    return make(DType::kU8, fill_with<uint8_t>(image, pipeline, [](size_t, size_t pixel) { return pixel; }));
  PARITAS_ASSIGN(const ValueTable values, make_values(pipeline.arithmetic, subject));
  if (!pipeline.quantisation) return make(DType::kF32, fill(image, pipeline, values));
  const ImageQuantisation& quantisation = *pipeline.quantisation;
  const auto value = [&](size_t c, size_t pixel) { return quantise(values[c][pixel], quantisation); };
  switch (quantisation.dtype) {
    case DType::kI8:
      return make(DType::kI8, fill_with<int8_t>(image, pipeline, value));
    case DType::kU8:
      return make(DType::kU8, fill_with<uint8_t>(image, pipeline, value));
    case DType::kI16:
      return make(DType::kI16, fill_with<int16_t>(image, pipeline, value));
    case DType::kU16:
      return make(DType::kU16, fill_with<uint16_t>(image, pipeline, value));
    default:
      break;
  }
  return usage_error(subject, fmt::format("an image cannot be quantised to {}", name(quantisation.dtype)),
                     "use int8, uint8, int16 or uint16");
}

Result<Placed> place(const Image& image, const Pipeline& pipeline, const Geometry& plan, const std::string& subject) {
  auto pad = pipeline.pad_value;
  if (pipeline.colour == ColourOrder::kBgr) std::swap(pad[0], pad[2]);  // declared in the tensor's order, used in RGB
  auto placed = apply_geometry(image, plan, pipeline.resize, pad);
  if (!placed) {
    Error error = std::move(placed).error();
    error.subject = subject + ", " + error.subject;
    return tl::make_unexpected(std::move(error));
  }
  return placed;
}

}  // namespace

Result<Tensor> prepare_pixels(const Image& image, const Pipeline& pipeline, const std::string& subject) {
  PARITAS_ASSIGN(const Geometry plan,
                 plan_geometry(pipeline.crop, pipeline.resize, image.width, image.height, subject));
  PARITAS_ASSIGN(const Placed placed, place(image, pipeline, plan, subject));
  return to_tensor(placed.image, pipeline, subject);
}

Result<PreparedImage> prepare_image(const Path& path, const Pipeline& pipeline) {
  const std::string subject = path.string();
  PARITAS_ASSIGN(const auto bytes, read_image_file(path));
  PARITAS_ASSIGN(DecodedImage decoded, decode_image(bytes, subject));
  PreparedImage prepared;
  ImageRecord& record = prepared.record;
  record.file_sha256 = sha256_hex(bytes);
  record.format = decoded.format;
  record.mode = std::move(decoded.mode);
  record.decoder = std::move(decoded.decoder);
  record.width = decoded.image.width;
  record.height = decoded.image.height;
  record.orientation = decoded.orientation;
  record.notes = std::move(decoded.notes);
  PARITAS_ASSIGN(record.geometry, plan_geometry(pipeline.crop, pipeline.resize, record.width, record.height, subject));
  PARITAS_ASSIGN(const Placed placed, place(decoded.image, pipeline, record.geometry, subject));
  if (placed.columns_first)
    record.notes.emplace_back(
        "columns were scaled before rows, as Pillow 13 does for this size; Pillow 12 and older scale rows first, which "
        "differs in last bits (pass_order = \"horizontal_first\")");
  PARITAS_ASSIGN(prepared.tensor, to_tensor(placed.image, pipeline, subject));
  PARITAS_ASSIGN(const TensorView view, TensorView::of(prepared.tensor));
  record.tensor_sha256 = sha256_hex(view.bytes());
  return prepared;
}

Json to_json(const ImageRecord& record) {
  const Geometry& plan = record.geometry;
  Json json;
  json["file_sha256"] = record.file_sha256;
  json["tensor_sha256"] = record.tensor_sha256;
  json["format"] = std::string(name(record.format));
  json["mode"] = record.mode;
  json["decoder"] = record.decoder;
  json["width"] = record.width;
  json["height"] = record.height;
  json["orientation"] = record.orientation;
  json["crop"] = {{"box", {plan.crop.left, plan.crop.top, plan.crop.right, plan.crop.bottom}},
                  {"edges", plan.edges == CropEdges::kCut ? "cut" : "beyond"}};
  json["resized"] = {{"width", plan.resized_width}, {"height", plan.resized_height}};
  json["scale"] = {{"x", json_number(plan.scale_x)}, {"y", json_number(plan.scale_y)}};
  json["trim"] = {{"left", plan.trim_left}, {"top", plan.trim_top}};
  json["pad"] = {
      {"left", plan.pad_left}, {"top", plan.pad_top}, {"right", plan.pad_right}, {"bottom", plan.pad_bottom}};
  json["tensor"] = {{"width", plan.width}, {"height", plan.height}};
  json["notes"] = record.notes;
  return json;
}

}  // namespace paritas
