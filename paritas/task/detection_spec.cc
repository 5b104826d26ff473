#include <fmt/format.h>

#include "paritas/task/detection.h"
#include "paritas/task/spec_reader.h"

namespace paritas {
namespace {

Status read_choices(SpecReader& reader, DetectionSpec& spec) {
  PARITAS_TRY(reader.choice<BoxFormat>("format",
                                       {{"xyxy", BoxFormat::kXyxy},
                                        {"xywh", BoxFormat::kXywh},
                                        {"cxcywh", BoxFormat::kCxcywh},
                                        {"yxyx", BoxFormat::kYxyx}},
                                       spec.format));
  const std::vector<std::pair<std::string, RowLayout>> layouts = {{"rows", RowLayout::kRows},
                                                                  {"columns", RowLayout::kColumns}};
  PARITAS_TRY(reader.choice<RowLayout>("box_layout", layouts, spec.box_layout));
  PARITAS_TRY(reader.choice<RowLayout>("score_layout", layouts, spec.score_layout));
  PARITAS_TRY(reader.choice<BoxUnits>("units", {{"pixels", BoxUnits::kPixels}, {"normalised", BoxUnits::kNormalised}},
                                      spec.units));
  return reader.choice<ScoreValues>("score_values",
                                    {{"confidence", ScoreValues::kConfidence},
                                     {"sigmoid_logits", ScoreValues::kSigmoidLogits},
                                     {"softmax_logits", ScoreValues::kSoftmaxLogits}},
                                    spec.score_values);
}

Status read_tensors(SpecReader& reader, DetectionSpec& spec) {
  // A wrong format gives overlaps that look plausible: it must be declared, not guessed.
  for (const char* key : {"boxes", "scores", "format"}) PARITAS_TRY(reader.require(key));
  PARITAS_TRY(reader.text("boxes", spec.boxes));
  PARITAS_TRY(reader.text("scores", spec.scores));
  PARITAS_TRY(reader.text("labels", spec.labels));
  PARITAS_TRY(reader.text("num_detections", spec.num_detections));
  PARITAS_TRY(reader.quantisation("boxes_quantisation", spec.boxes_quantisation));
  return reader.quantisation("scores_quantisation", spec.scores_quantisation);
}

Status read_numbers(SpecReader& reader, DetectionSpec& spec) {
  PARITAS_TRY(reader.optional_number("image_width", spec.image_width));
  PARITAS_TRY(reader.optional_number("image_height", spec.image_height));
  PARITAS_TRY(reader.number("threshold", spec.threshold));
  PARITAS_TRY(reader.number("min_iou", spec.min_iou));
  PARITAS_TRY(reader.number("near", spec.near));
  return reader.number("top_tie", spec.top_tie);
}

Status read_background(SpecReader& reader, DetectionSpec& spec) {
  const Json* json = reader.raw("background");
  if (json == nullptr) return {};
  if (json->is_string() && json->get_ref<const std::string&>() == "none") {
    spec.no_background = true;
    return {};
  }
  int64_t index = -1;
  if (json->is_number_integer()) PARITAS_TRY(reader.whole("background", index));
  if (index < 0) return usage_error(reader.subject(), "\"background\" must be the index of a class, or \"none\"");
  spec.background = index;
  return {};
}

Status check_ranges(const DetectionSpec& spec, const std::string& subject) {
  if (!(spec.threshold >= 0 && spec.threshold < 1))
    return usage_error(subject, fmt::format("threshold {} is not in [0, 1)", spec.threshold));
  if (!(spec.min_iou >= 0 && spec.min_iou <= 1))
    return usage_error(subject, fmt::format("min_iou {} is not in [0, 1]", spec.min_iou));
  if (!(spec.near >= 0 && spec.near < 1))
    return usage_error(subject, fmt::format("near {} is not in [0, 1)", spec.near));
  if (!(spec.top_tie >= 0 && spec.top_tie < 1))
    return usage_error(subject, fmt::format("top_tie {} is not in [0, 1)", spec.top_tie));
  if (spec.image_width.has_value() != spec.image_height.has_value())
    return usage_error(subject, "image_width and image_height belong together");
  if (spec.image_width && !(*spec.image_width > 0 && *spec.image_height > 0))
    return usage_error(subject, "image_width and image_height must be positive");
  return {};
}

}  // namespace

std::string_view name(BoxUnits units) { return units == BoxUnits::kPixels ? "pixels" : "normalised"; }

std::string_view name(RowLayout layout) { return layout == RowLayout::kRows ? "rows" : "columns"; }

std::string_view name(ScoreValues values) {
  switch (values) {
    case ScoreValues::kConfidence:
      return "confidence";
    case ScoreValues::kSigmoidLogits:
      return "sigmoid_logits";
    case ScoreValues::kSoftmaxLogits:
      return "softmax_logits";
  }
  return "confidence";
}

Result<DetectionSpec> detection_from_json(const Json& object, const std::string& subject) {
  PARITAS_ASSIGN(SpecReader reader, SpecReader::of(object, subject));
  DetectionSpec spec;
  std::string type = "detection";
  PARITAS_TRY(reader.text("type", type));
  if (type != "detection") return usage_error(subject, fmt::format("\"{}\" is not the type of a detection", type));
  PARITAS_TRY(reader.text("name", spec.name));
  PARITAS_TRY(read_tensors(reader, spec));
  PARITAS_TRY(read_choices(reader, spec));
  PARITAS_TRY(read_numbers(reader, spec));
  PARITAS_TRY(read_background(reader, spec));
  PARITAS_TRY(reader.texts("class_names", spec.class_names));
  PARITAS_TRY(reader.finish());
  PARITAS_TRY(check_ranges(spec, subject));
  return spec;
}

}  // namespace paritas
