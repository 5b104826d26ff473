#include "paritas/task/detection.h"

namespace paritas {
namespace {

Json box_json(const DetectionSpec& spec, const DetectedBox& box) {
  Json json = {{"row", box.row}, {"label", box.label}, {"score", json_number(box.score)}};
  if (box.label >= 0 && static_cast<size_t>(box.label) < spec.class_names.size())
    json["name"] = spec.class_names[static_cast<size_t>(box.label)];
  json["xyxy"] = {json_number(box.box.x1), json_number(box.box.y1), json_number(box.box.x2), json_number(box.box.y2)};
  return json;
}

Json boxes_json(const DetectionSpec& spec, const std::vector<DetectedBox>& boxes) {
  Json json = Json::array();
  for (const DetectedBox& box : boxes) json.push_back(box_json(spec, box));
  return json;
}

Json pairs_json(const DetectionImage& image, const std::vector<BoxPair>& pairs) {
  Json json = Json::array();
  for (const BoxPair& pair : pairs)
    json.push_back(
        {{"reference", pair.reference},
         {"device", pair.device},
         {"iou", json_number(pair.iou)},
         {"score_difference", json_number(image.device[pair.device].score - image.reference[pair.reference].score)}});
  return json;
}

Json unmatched_json(const std::vector<UnmatchedBox>& boxes) {
  Json json = Json::array();
  for (const UnmatchedBox& box : boxes)
    json.push_back({{"index", box.index},
                    {"best_iou", json_number(box.best_iou)},
                    {"crossing", box.crossing},
                    {"relabelled", box.relabelled}});
  return json;
}

Json bad_json(const BadRows& rows) {
  return {{"nonfinite_scores", rows.nonfinite_scores},
          {"scores_out_of_range", rows.scores_out_of_range},
          {"nonfinite_boxes", rows.nonfinite_boxes},
          {"nonfinite_boxes_over", rows.nonfinite_boxes_over},
          {"no_area", rows.no_area},
          {"bad_labels", rows.bad_labels},
          {"class_ties", rows.class_ties}};
}

Json sweep_json(const std::vector<SweepPoint>& sweep) {
  Json json = Json::array();
  for (const SweepPoint& p : sweep)
    json.push_back({{"threshold", json_number(p.threshold)},
                    {"reference", p.reference},
                    {"device", p.device},
                    {"matched", p.matched},
                    {"unmatched_reference", p.unmatched_reference},
                    {"unmatched_device", p.unmatched_device},
                    {"iou_min", p.iou_min ? json_number(*p.iou_min) : Json(nullptr)}});
  return json;
}

Json image_json(const DetectionSpec& spec, const DetectionImage& image) {
  Json json = {{"sample", image.sample},
               {"image", image.image},
               {"reference", boxes_json(spec, image.reference)},
               {"device", boxes_json(spec, image.device)},
               {"matched", pairs_json(image, image.matched)},
               {"unmatched_reference", unmatched_json(image.unmatched_reference)},
               {"unmatched_device", unmatched_json(image.unmatched_device)},
               {"label_changes", pairs_json(image, image.label_changes)}};
  json["crossings"] = Json::array();
  for (const ThresholdCrossing& c : image.crossings)
    json["crossings"].push_back({{"over", c.reference_over ? "reference" : "device"},
                                 {"reference", box_json(spec, c.reference)},
                                 {"device", box_json(spec, c.device)},
                                 {"iou", json_number(c.iou)}});
  json["near"] = Json::array();
  for (const NearBox& n : image.near)
    json["near"].push_back({{"side", n.of_reference ? "reference" : "device"}, {"box", box_json(spec, n.box)}});
  json["sweep"] = sweep_json(image.sweep);
  json["reference_top"] = image.reference_top;
  json["device_top"] = image.device_top;
  json["reference_first"] = image.reference_first;
  json["device_first"] = image.device_first;
  json["reference_bad"] = bad_json(image.reference_bad);
  json["device_bad"] = bad_json(image.device_bad);
  json["incomplete"] = image.incomplete;
  return json;
}

Json spec_json(const DetectionSpec& spec) {
  Json json = {{"boxes", spec.boxes},
               {"scores", spec.scores},
               {"labels", spec.labels.empty() ? Json(nullptr) : Json(spec.labels)},
               {"num_detections", spec.num_detections.empty() ? Json(nullptr) : Json(spec.num_detections)},
               {"format", name(spec.format)},
               {"box_layout", name(spec.box_layout)},
               {"score_layout", name(spec.score_layout)},
               {"units", name(spec.units)},
               {"score_values", name(spec.score_values)},
               {"threshold", json_number(spec.threshold)},
               {"min_iou", json_number(spec.min_iou)},
               {"near", json_number(spec.near)},
               {"top_tie", json_number(spec.top_tie)}};
  json["background"] = spec.background ? Json(*spec.background) : Json(nullptr);
  return json;
}

}  // namespace

Json to_json(const DetectionResult& result) {
  Json json = {{"type", "detection"},
               {"name", result.spec.name},
               {"declared", spec_json(result.spec)},
               {"samples", result.samples},
               {"reference_boxes", result.reference_boxes},
               {"device_boxes", result.device_boxes},
               {"matched", result.matched},
               {"unmatched_reference", result.unmatched_reference},
               {"unmatched_device", result.unmatched_device},
               {"label_changes", result.label_changes},
               {"crossings", result.crossings},
               {"sweep", sweep_json(result.sweep)},
               {"outcome", to_json(result.outcome)}};
  json["images"] = Json::array();
  for (const DetectionImage& image : result.images) json["images"].push_back(image_json(result.spec, image));
  return json;
}

}  // namespace paritas
