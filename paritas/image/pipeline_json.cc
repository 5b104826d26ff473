// Pipelines as JSON: {"crop": {...}, "resize": {...}, "colour": "rgb", "scale": 0.0039, "mean": [...], "std": [...],
// ...}
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paritas/image/pipeline.h"

namespace paritas {
namespace {

// Words and what they stand for; the first is the default.
template <class T>
using Words = std::vector<std::pair<std::string_view, T>>;

const Words<ColourOrder> kColours = {{"rgb", ColourOrder::kRgb}, {"bgr", ColourOrder::kBgr}};
const Words<Layout> kLayouts = {{"NCHW", Layout::kNchw}, {"NHWC", Layout::kNhwc}};
const Words<CropEdges> kEdges = {{"cut", CropEdges::kCut}, {"beyond", CropEdges::kBeyond}};
const Words<ResizeMode> kModes = {{"direct", ResizeMode::kDirect},
                                  {"letterbox", ResizeMode::kLetterbox},
                                  {"short_side", ResizeMode::kShortSide},
                                  {"none", ResizeMode::kNone}};
const Words<Filter> kFilters = {{"nearest", Filter::kNearest},   {"box", Filter::kBox},
                                {"bilinear", Filter::kBilinear}, {"hamming", Filter::kHamming},
                                {"bicubic", Filter::kBicubic},   {"lanczos", Filter::kLanczos}};
const Words<Placement> kPlacements = {{"centre", Placement::kCentre}, {"top_left", Placement::kTopLeft}};
const Words<SizeRounding> kRoundings = {{"half_even", SizeRounding::kHalfEven}, {"down", SizeRounding::kDown}};
const Words<PassOrder> kPasses = {{"pillow_13", PassOrder::kPillow13},
                                  {"horizontal_first", PassOrder::kHorizontalFirst}};
const Words<bool> kTies = {{"half_even", false}, {"half_away", true}};
const Words<bool> kZeroPoints = {{"outside", false}, {"inside", true}};
const Words<DType> kTypes = {{"float32", DType::kF32}, {"uint8", DType::kU8}};
const Words<DType> kQuantisedTypes = {
    {"int8", DType::kI8}, {"uint8", DType::kU8}, {"int16", DType::kI16}, {"uint16", DType::kU16}};

template <class T>
std::string word(const Words<T>& words, T value) {
  for (const auto& [text, meaning] : words)
    if (meaning == value) return std::string(text);
  return {};
}

// One object of the declaration. Errors say where: "paritas.toml: resize: "filter" ...".
class Fields {
 public:
  static Result<Fields> of(const Json& json, std::string where, const std::string& subject,
                           std::initializer_list<std::string_view> known) {
    Fields fields(json, std::move(where), subject);
    if (!json.is_object()) return fields.refuse("the image steps must be a table");
    for (const auto& [key, value] : json.items())
      if (std::find(known.begin(), known.end(), key) == known.end())
        return fields.refuse(fmt::format("unknown key \"{}\"", key),
                             fmt::format("keys are {}", fmt::join(known, ", ")));
    return fields;
  }

  Unexpected refuse(const std::string& cause, std::string remedy = {}) const {
    return usage_error(subject_, where_ + cause, std::move(remedy));
  }
  bool has(const char* key) const { return json_.contains(key); }
  const Json& at(const char* key) const { return json_.at(key); }

  // The word's meaning into `value`, which keeps its default when the key is absent.
  template <class T>
  Status choose(const char* key, const Words<T>& words, T& value) const {
    if (!has(key)) return {};
    const Json& given = at(key);
    std::vector<std::string_view> known;
    for (const auto& [text, meaning] : words) {
      if (given.is_string() && given.get_ref<const std::string&>() == text) {
        value = meaning;
        return {};
      }
      known.push_back(text);
    }
    return refuse(fmt::format("\"{}\" is {}", key, dump_json(given, -1)),
                  fmt::format("use one of: {}", fmt::join(known, ", ")));
  }

  Status whole(const char* key, int64_t lowest, int64_t highest, int64_t& value) const {
    if (!has(key)) return refuse(fmt::format("\"{}\" is missing", key));
    const Json& given = at(key);
    // Unsigned values over int64's range turn negative, which is below every `lowest` that matters here.
    const bool fits = given.is_number_integer() && (!given.is_number_unsigned() || given.get<uint64_t>() <= INT64_MAX);
    if (!fits || given.get<int64_t>() < lowest || given.get<int64_t>() > highest)
      return refuse(fmt::format("\"{}\" is {}", key, dump_json(given, -1)),
                    fmt::format("it must be a whole number from {} to {}", lowest, highest));
    value = given.get<int64_t>();
    return {};
  }

  // A number that is finite in float32; with `not_zero` a divisor or factor, which 0 would make meaningless.
  Result<float> number(const std::string& key, const Json& given, bool not_zero) const {
    const float value = given.is_number() ? static_cast<float>(given.get<double>()) : NAN;
    if (!std::isfinite(value))
      return refuse(fmt::format("\"{}\" holds {}", key, dump_json(given, -1)), "it must be a number within float32");
    if (not_zero && value == 0)
      return refuse(fmt::format("\"{}\" holds {}, which is 0 in float32", key, dump_json(given, -1)),
                    "it must not be 0");
    return value;
  }

  // One number for all channels, or a list of three.
  Status channels(const char* key, bool not_zero, std::array<float, 3>& values) const {
    if (!has(key)) return {};
    const Json& given = at(key);
    if (given.is_array() && given.size() != 3)
      return refuse(fmt::format("\"{}\" has {} numbers", key, given.size()), "give one, or one for each of 3 channels");
    for (size_t c = 0; c < 3; ++c) {
      PARITAS_ASSIGN(values[c], number(key, given.is_array() ? given[c] : given, not_zero));
    }
    return {};
  }

  // Of two ways to say something at most one.
  Status not_both(const char* one, const char* other) const {
    if (has(one) && has(other)) return refuse(fmt::format("both \"{}\" and \"{}\" are given", one, other), "keep one");
    return {};
  }

 private:
  Fields(const Json& json, std::string where, const std::string& subject)
      : json_(json), where_(where.empty() ? std::string() : std::move(where) + ": "), subject_(subject) {}
  const Json& json_;
  std::string where_;
  const std::string& subject_;
};

Result<CropStep> crop_from_json(const Json& json, const std::string& subject) {
  PARITAS_ASSIGN(const Fields fields, Fields::of(json, "crop", subject, {"box", "centre", "edges"}));
  CropStep crop;
  PARITAS_TRY(fields.not_both("box", "centre"));
  PARITAS_TRY(fields.choose("edges", kEdges, crop.edges));
  if (fields.has("centre")) {
    const Json& given = fields.at("centre");
    const double share = given.is_number() ? given.get<double>() : 0;
    if (!(share > 0 && share <= 1))
      return fields.refuse(fmt::format("\"centre\" is {}", dump_json(given, -1)),
                           "it is a share of the shorter side: above 0, at most 1");
    crop.centre = share;
    return crop;
  }
  if (!fields.has("box")) return fields.refuse("neither \"box\" nor \"centre\" is given");
  const Json& given = fields.at("box");
  std::array<double, 4> box{};
  bool lawful = given.is_array() && given.size() == 4;
  for (size_t i = 0; lawful && i < 4; ++i) {
    lawful = given[i].is_number();
    if (lawful) box[i] = given[i].get<double>();
  }
  if (!lawful || !(box[0] >= 0 && box[1] >= 0 && box[0] < box[2] && box[1] < box[3] && box[2] <= kMaxImageSide &&
                   box[3] <= kMaxImageSide))
    return fields.refuse(fmt::format("\"box\" is {}", dump_json(given, -1)),
                         "it is [left, top, right, bottom] in pixels, with left < right and top < bottom");
  if (crop.edges == CropEdges::kCut && std::any_of(box.begin(), box.end(), [](double b) { return b != std::floor(b); }))
    return fields.refuse(fmt::format("\"box\" is {}, not in whole pixels", dump_json(given, -1)),
                         "only edges = \"beyond\" takes fractions");
  crop.box = box;
  return crop;
}

Status pad_from_json(const Fields& fields, std::array<uint8_t, 3>& pad) {
  std::array<float, 3> values{};
  PARITAS_TRY(fields.channels("pad_value", /*not_zero=*/false, values));
  for (size_t c = 0; c < 3; ++c) {
    if (!(values[c] >= 0 && values[c] <= 255 && values[c] == std::floor(values[c])))
      return fields.refuse(fmt::format("\"pad_value\" is {}", dump_json(fields.at("pad_value"), -1)),
                           "it must be whole numbers from 0 to 255");
    pad[c] = static_cast<uint8_t>(values[c]);
  }
  return {};
}

// Keys that the mode does not use would be ignored in silence: refused.
Status check_resize_keys(const Fields& fields, ResizeMode mode) {
  const auto refuse = [&](const char* key, ResizeMode only) -> Status {
    return fields.refuse(fmt::format("\"{}\" has no meaning with mode \"{}\"", key, word(kModes, mode)),
                         fmt::format("it belongs to mode \"{}\"", word(kModes, only)));
  };
  for (const char* key : {"placement", "pad_value"})
    if (fields.has(key) && mode != ResizeMode::kLetterbox) return refuse(key, ResizeMode::kLetterbox);
  if (fields.has("short_side") && mode != ResizeMode::kShortSide) return refuse("short_side", ResizeMode::kShortSide);
  if (fields.has("rounding") && mode != ResizeMode::kShortSide && mode != ResizeMode::kLetterbox)
    return refuse("rounding", ResizeMode::kLetterbox);
  if (mode == ResizeMode::kNone)
    for (const char* key : {"width", "height", "filter", "pass_order"})
      if (fields.has(key)) return refuse(key, ResizeMode::kDirect);
  return {};
}

Status resize_from_json(const Json& json, const std::string& subject, Pipeline& pipeline) {
  PARITAS_ASSIGN(const Fields fields, Fields::of(json, "resize", subject,
                                                 {"mode", "width", "height", "short_side", "filter", "placement",
                                                  "rounding", "pad_value", "pass_order"}));
  ResizeStep& step = pipeline.resize;
  step.mode = ResizeMode::kDirect;
  PARITAS_TRY(fields.choose("mode", kModes, step.mode));
  PARITAS_TRY(check_resize_keys(fields, step.mode));
  if (step.mode == ResizeMode::kNone) return {};
  PARITAS_TRY(fields.whole("width", 1, kMaxImageSide, step.width));
  PARITAS_TRY(fields.whole("height", 1, kMaxImageSide, step.height));
  if (step.width * step.height > kMaxImagePixels)
    return fields.refuse(fmt::format("{} x {} pixels are too many", step.width, step.height),
                         fmt::format("at most {} are made", kMaxImagePixels));
  // There is no default that would be right for most: frameworks differ.
  if (!fields.has("filter")) return fields.refuse("\"filter\" is missing", "for example: filter = \"bilinear\"");
  PARITAS_TRY(fields.choose("filter", kFilters, step.filter));
  PARITAS_TRY(fields.choose("pass_order", kPasses, step.passes));
  PARITAS_TRY(fields.choose("placement", kPlacements, step.placement));
  step.rounding = step.mode == ResizeMode::kShortSide ? SizeRounding::kDown : SizeRounding::kHalfEven;
  PARITAS_TRY(fields.choose("rounding", kRoundings, step.rounding));
  if (step.mode == ResizeMode::kShortSide) {
    PARITAS_TRY(fields.whole("short_side", 1, kMaxImageSide, step.short_side));
    if (step.short_side < std::min(step.width, step.height))
      return fields.refuse(
          fmt::format("\"short_side\" is {}, smaller than both sides of the centre crop", step.short_side),
          "make short_side larger or the crop smaller");
  }
  if (fields.has("pad_value")) return pad_from_json(fields, pipeline.pad_value);
  return {};
}

Result<ImageQuantisation> quantisation_from_json(const Json& json, const std::string& subject) {
  PARITAS_ASSIGN(const Fields fields, Fields::of(json, "quantise", subject,
                                                 {"dtype", "scale", "zero_point", "rounding", "zero_point_order"}));
  ImageQuantisation quantisation;
  for (const char* key : {"dtype", "scale"})
    if (!fields.has(key)) return fields.refuse(fmt::format("\"{}\" is missing", key));
  PARITAS_TRY(fields.choose("dtype", kQuantisedTypes, quantisation.dtype));
  PARITAS_ASSIGN(quantisation.scale, fields.number("scale", fields.at("scale"), /*not_zero=*/true));
  if (quantisation.scale < 0) return fields.refuse("\"scale\" is negative", "a step is above 0");
  const int width = bits(quantisation.dtype);
  const bool negative = is_signed_integer(quantisation.dtype);
  const int64_t lowest = negative ? -(int64_t{1} << (width - 1)) : 0;
  PARITAS_TRY(fields.whole("zero_point", lowest, lowest + (int64_t{1} << width) - 1, quantisation.zero_point));
  PARITAS_TRY(fields.choose("rounding", kTies, quantisation.ties_away));
  PARITAS_TRY(fields.choose("zero_point_order", kZeroPoints, quantisation.zero_point_inside));
  return quantisation;
}

Status arithmetic_from_json(const Fields& fields, Arithmetic& arithmetic) {
  PARITAS_TRY(fields.not_both("scale", "divide_by"));
  PARITAS_TRY(fields.not_both("std", "inverse_std"));
  for (const char* key : {"scale", "divide_by"})
    if (fields.has(key)) {
      PARITAS_ASSIGN(arithmetic.scale, fields.number(key, fields.at(key), /*not_zero=*/true));
    }
  arithmetic.divide_pixel = fields.has("divide_by");
  PARITAS_TRY(fields.channels("mean", /*not_zero=*/false, arithmetic.mean));
  PARITAS_TRY(fields.channels("std", /*not_zero=*/true, arithmetic.std));
  PARITAS_TRY(fields.channels("inverse_std", /*not_zero=*/true, arithmetic.std));
  arithmetic.multiply_std = fields.has("inverse_std");
  return {};
}

Json crop_json(const CropStep& crop) {
  Json json;
  if (crop.box) json["box"] = *crop.box;
  if (crop.centre) json["centre"] = *crop.centre;
  json["edges"] = word(kEdges, crop.edges);
  return json;
}

Json resize_json(const Pipeline& pipeline) {
  const ResizeStep& step = pipeline.resize;
  Json json;
  json["mode"] = word(kModes, step.mode);
  if (step.mode == ResizeMode::kNone) return json;
  json["width"] = step.width;
  json["height"] = step.height;
  if (step.mode == ResizeMode::kShortSide) json["short_side"] = step.short_side;
  json["filter"] = word(kFilters, step.filter);
  json["pass_order"] = word(kPasses, step.passes);
  if (step.mode != ResizeMode::kDirect) json["rounding"] = word(kRoundings, step.rounding);
  if (step.mode == ResizeMode::kLetterbox) {
    json["placement"] = word(kPlacements, step.placement);
    json["pad_value"] = pipeline.pad_value;
  }
  return json;
}

}  // namespace

Result<Pipeline> pipeline_from_json(const Json& json, const std::string& subject) {
  PARITAS_ASSIGN(const Fields fields, Fields::of(json, "", subject,
                                                 {"crop", "resize", "colour", "scale", "divide_by", "mean", "std",
                                                  "inverse_std", "dtype", "quantise", "layout"}));
  Pipeline pipeline;
  if (fields.has("crop")) {
    PARITAS_ASSIGN(pipeline.crop, crop_from_json(fields.at("crop"), subject));
  }
  if (fields.has("resize")) PARITAS_TRY(resize_from_json(fields.at("resize"), subject, pipeline));
  if (pipeline.crop.edges == CropEdges::kBeyond && pipeline.resize.mode == ResizeMode::kNone)
    return fields.refuse("a crop with edges \"beyond\" needs a resize", "declare one, or use edges = \"cut\"");
  PARITAS_TRY(fields.choose("colour", kColours, pipeline.colour));
  PARITAS_TRY(fields.choose("layout", kLayouts, pipeline.layout));
  PARITAS_TRY(fields.choose("dtype", kTypes, pipeline.dtype));
  PARITAS_TRY(arithmetic_from_json(fields, pipeline.arithmetic));
  if (fields.has("quantise")) {
    if (fields.has("dtype"))
      return fields.refuse("both \"dtype\" and \"quantise\" are given", "the type is that of \"quantise\"");
    PARITAS_ASSIGN(pipeline.quantisation, quantisation_from_json(fields.at("quantise"), subject));
  }
  if (pipeline.dtype == DType::kU8 && pipeline.arithmetic != Arithmetic{})
    return fields.refuse("dtype \"uint8\" takes the pixels as they are, yet scale, mean or std is given",
                         "leave them out, or declare \"quantise\" instead of dtype");
  return pipeline;
}

Json to_json(const Pipeline& pipeline) {
  Json json;
  if (pipeline.crop != CropStep{}) json["crop"] = crop_json(pipeline.crop);
  json["resize"] = resize_json(pipeline);
  json["colour"] = word(kColours, pipeline.colour);
  const Arithmetic& arithmetic = pipeline.arithmetic;
  if (pipeline.quantisation || pipeline.dtype != DType::kU8) {
    json[arithmetic.divide_pixel ? "divide_by" : "scale"] = arithmetic.scale;
    json["mean"] = arithmetic.mean;
    json[arithmetic.multiply_std ? "inverse_std" : "std"] = arithmetic.std;
  }
  if (pipeline.quantisation) {
    const ImageQuantisation& quantisation = *pipeline.quantisation;
    json["quantise"] = {{"dtype", word(kQuantisedTypes, quantisation.dtype)},
                        {"scale", quantisation.scale},
                        {"zero_point", quantisation.zero_point},
                        {"rounding", word(kTies, quantisation.ties_away)},
                        {"zero_point_order", word(kZeroPoints, quantisation.zero_point_inside)}};
  } else {
    json["dtype"] = word(kTypes, pipeline.dtype);
  }
  json["layout"] = word(kLayouts, pipeline.layout);
  return json;
}

}  // namespace paritas
