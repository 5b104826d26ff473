#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "paritas/task/detection.h"

namespace paritas {
namespace {

// Below this many boxes of the reference the sample is called thin.
constexpr uint64_t kThinBoxes = 20;
// A box is called outside of its image when it leaves it by more than this share of its size.
constexpr double kOutside = 0.1;
// A box that covers this share of the image overlaps with any other that does.
constexpr double kHuge = 0.9;

// "1 box has", "2 boxes have"
std::string boxes_text(uint64_t count) { return fmt::format("{} box{}", count, count == 1 ? "" : "es"); }
std::string is_are(uint64_t count) { return count == 1 ? "is" : "are"; }
std::string has_have(uint64_t count) { return count == 1 ? "has" : "have"; }

struct Facts {
  BadRows reference, device;
  uint64_t lost = 0;            // unmatched boxes that are no threshold crossing
  uint64_t equal_images = 0;    // two or more reference boxes, all the same
  uint64_t several_images = 0;  // two or more reference boxes
  uint64_t outside = 0, huge = 0;
  double largest_coordinate = 0;
  uint64_t with_boxes = 0, same_top = 0, near_ties = 0;  // images
  bool one_label = true, has_classes = false;
  double iou_min = INFINITY, iou_sum = 0, score_max = 0, score_sum = 0, top_score = 0;
  bool incomplete = false;
};

void add(const BadRows& rows, BadRows& sum) {
  sum.nonfinite_scores += rows.nonfinite_scores;
  sum.scores_out_of_range += rows.scores_out_of_range;
  sum.nonfinite_boxes += rows.nonfinite_boxes;
  sum.nonfinite_boxes_over += rows.nonfinite_boxes_over;
  sum.no_area += rows.no_area;
  sum.bad_labels += rows.bad_labels;
  sum.class_ties += rows.class_ties;
}

struct ImageSize {
  double width = 0, height = 0;  // 0: not known
};

ImageSize image_size(const DetectionSpec& spec) {
  if (spec.units == BoxUnits::kNormalised) return {1, 1};
  return spec.image_width ? ImageSize{*spec.image_width, *spec.image_height} : ImageSize{};
}

void look_at_box(const DetectedBox& detected, const ImageSize& size, Facts& f) {
  const Box& b = detected.box;
  for (const double c : {b.x1, b.y1, b.x2, b.y2}) f.largest_coordinate = std::max(f.largest_coordinate, std::abs(c));
  if (size.width == 0) return;
  const double mx = kOutside * size.width, my = kOutside * size.height;
  f.outside += b.x1 < -mx || b.y1 < -my || b.x2 > size.width + mx || b.y2 > size.height + my;
  f.huge += area(b) >= kHuge * size.width * size.height;
}

// What is first on one side is first, or shares the first place, on the other.
bool same_top_class(const DetectionImage& image) {
  if (image.reference.empty() || image.device.empty()) return false;
  const auto holds = [](const std::vector<int64_t>& set, const std::vector<int64_t>& part) {
    return std::includes(set.begin(), set.end(), part.begin(), part.end());
  };
  return holds(image.device_first, image.reference_top) && holds(image.reference_first, image.device_top);
}

void gather_image(const DetectionSpec& spec, const DetectionImage& image, Facts& f) {
  add(image.reference_bad, f.reference);
  add(image.device_bad, f.device);
  f.incomplete |= image.incomplete;
  f.has_classes |= image.has_classes;
  for (const auto* list : {&image.unmatched_reference, &image.unmatched_device})
    for (const UnmatchedBox& box : *list) f.lost += !box.crossing;
  for (const DetectedBox& box : image.reference) look_at_box(box, image_size(spec), f);
  if (image.reference.size() > 1) {
    ++f.several_images;
    f.equal_images += std::all_of(image.reference.begin(), image.reference.end(),
                                  [&](const DetectedBox& b) { return b.box == image.reference.front().box; });
  }
  for (const BoxPair& pair : image.matched) {
    const double difference = std::abs(image.reference[pair.reference].score - image.device[pair.device].score);
    f.iou_min = std::min(f.iou_min, pair.iou);
    f.iou_sum += pair.iou;
    f.score_max = std::max(f.score_max, difference);
    f.score_sum += difference;
  }
  for (const ThresholdCrossing& c : image.crossings) {
    f.iou_min = std::min(f.iou_min, c.iou);
    f.score_max = std::max(f.score_max, std::abs(c.reference.score - c.device.score));
  }
  if (image.reference.empty() && image.device.empty()) return;
  ++f.with_boxes;
  const bool same = same_top_class(image);
  f.same_top += same;
  f.near_ties += same && image.reference_top != image.device_top;
  const double x = image.reference.empty() ? 0 : image.reference.front().score;
  const double y = image.device.empty() ? 0 : image.device.front().score;
  f.top_score = std::max(f.top_score, std::abs(x - y));
}

void count(DetectionResult& result) {
  for (const DetectionImage& image : result.images) {
    result.reference_boxes += image.reference.size();
    result.device_boxes += image.device.size();
    result.matched += image.matched.size();
    result.label_changes += image.label_changes.size();
    result.crossings += image.crossings.size();
    result.unmatched_reference += image.unmatched_reference.size();
    result.unmatched_device += image.unmatched_device.size();
    for (const SweepPoint& p : image.sweep) {
      auto it = std::find_if(result.sweep.begin(), result.sweep.end(),
                             [&](const SweepPoint& sum) { return sum.threshold == p.threshold; });
      if (it == result.sweep.end()) {
        result.sweep.push_back(p);
        continue;
      }
      it->reference += p.reference;
      it->device += p.device;
      it->matched += p.matched;
      it->unmatched_reference += p.unmatched_reference;
      it->unmatched_device += p.unmatched_device;
      if (p.iou_min) it->iou_min = std::min(it->iou_min.value_or(INFINITY), *p.iou_min);
    }
  }
  std::stable_sort(result.sweep.begin(), result.sweep.end(),
                   [](const SweepPoint& a, const SweepPoint& b) { return a.threshold < b.threshold; });
}

void add_declaration_issues(const DetectionResult& result, const Facts& f, TaskOutcome& out) {
  const uint64_t boxes = result.reference_boxes;
  if (f.reference.no_area > boxes)
    out.issue(Verdict::kInvalid,
              fmt::format("{} of {} reference rows over the threshold have no area: is the box format "
                          "{} right?",
                          f.reference.no_area, boxes + f.reference.no_area, name(result.spec.format)));
  if (boxes == 0) return;
  const bool normalised = result.spec.units == BoxUnits::kNormalised;
  if (normalised && f.largest_coordinate > 2)
    out.issue(Verdict::kInvalid,
              fmt::format("the boxes are declared as normalised, but reach {:.4g}", f.largest_coordinate));
  if (!normalised && f.largest_coordinate <= 1.5)
    out.issue(Verdict::kInvalid, fmt::format("the boxes are declared in pixels, but reach {:.4g} only: normalised?",
                                             f.largest_coordinate));
  if (2 * f.outside > boxes && !(normalised && f.largest_coordinate > 2))
    out.issue(Verdict::kInvalid,
              fmt::format("{} of {} reference boxes leave the image: are the box format {} and the image size right?",
                          f.outside, boxes, name(result.spec.format)));
}

void add_issues(const DetectionResult& result, const Facts& f, TaskOutcome& out) {
  if (result.images.empty()) return out.issue(Verdict::kInvalid, "no image was compared");
  if (f.reference.nonfinite_scores + f.reference.nonfinite_boxes_over > 0)
    out.issue(Verdict::kInvalid, fmt::format("the reference has {} scores and {} boxes over the threshold that are NaN "
                                             "or infinite",
                                             f.reference.nonfinite_scores, f.reference.nonfinite_boxes_over));
  if (f.device.nonfinite_scores > 0)
    out.issue(Verdict::kDeviates,
              fmt::format("{} scores are NaN or infinite on the device", f.device.nonfinite_scores));
  // Rows under the threshold are often padding, which a reference may fill with NaN: that excuses none above it.
  if (f.device.nonfinite_boxes_over > 0)
    out.issue(Verdict::kDeviates,
              fmt::format("{} over the threshold {} NaN or infinite on the device",
                          boxes_text(f.device.nonfinite_boxes_over), is_are(f.device.nonfinite_boxes_over)));
  else if (f.device.nonfinite_boxes > f.reference.nonfinite_boxes)
    out.issue(Verdict::kDeviates, fmt::format("{} {} NaN or infinite on the device, {} on the reference",
                                              boxes_text(f.device.nonfinite_boxes), is_are(f.device.nonfinite_boxes),
                                              f.reference.nonfinite_boxes));
  if (f.device.scores_out_of_range > 0)
    out.issue(Verdict::kDeviates,
              fmt::format("{} scores of the device are not in [0, 1]", f.device.scores_out_of_range));
  if (f.device.bad_labels > 0)
    out.issue(Verdict::kDeviates,
              fmt::format("{} labels of the device are no class, over the threshold", f.device.bad_labels));
  if (f.device.no_area > f.reference.no_area)
    out.issue(Verdict::kDeviates,
              fmt::format("{} over the threshold {} no area on the device, {} on the "
                          "reference",
                          boxes_text(f.device.no_area), has_have(f.device.no_area), f.reference.no_area));
  add_declaration_issues(result, f, out);
  if (result.reference_boxes + result.device_boxes == 0)
    out.issue(Verdict::kNotJudged, fmt::format("no box is over the threshold {} on either side: nothing was compared",
                                               result.spec.threshold));
  if (f.several_images > 0 && f.equal_images == f.several_images)
    out.issue(Verdict::kNotJudged, "all boxes that the reference gives for one image are the same box");
}

// Why the figures of pairs cannot be taken; empty when they can.
struct Missing {
  std::string reason;
  Verdict verdict = Verdict::kNotJudged;
};

Missing missing_pairs(const DetectionResult& result, const Facts& f) {
  if (result.images.empty()) return {"no image was compared", Verdict::kInvalid};
  if (result.reference_boxes + result.device_boxes == 0)
    return {"no box is over the threshold on either side", Verdict::kNotJudged};
  if (f.lost > 0)
    return {fmt::format("{} {} no partner, so the matched ones do not tell the whole", boxes_text(f.lost),
                        has_have(f.lost)),
            Verdict::kDeviates};
  if (result.matched == 0) return {"no box is over the threshold on both sides", Verdict::kNotJudged};
  return {};
}

void add_pair_figures(const DetectionResult& result, const Facts& f, TaskOutcome& out) {
  const Missing missing = missing_pairs(result, f);
  const auto n = static_cast<double>(result.matched);
  const std::pair<const char*, double> figures[] = {{"matched_iou_min", f.iou_min},
                                                    {"matched_iou_mean", f.iou_sum / n},
                                                    {"max_score_difference", f.score_max},
                                                    {"mean_score_difference", f.score_sum / n}};
  for (const auto& [figure, value] : figures) {
    if (missing.reason.empty())
      out.add(figure, "1", value);
    else
      out.leave_out(figure, missing.reason, missing.verdict);
  }
}

void add_figures(const DetectionResult& result, const Facts& f, TaskOutcome& out) {
  const auto number = [](uint64_t n) { return static_cast<double>(n); };
  out.add("images", "images", number(result.images.size()));
  out.add("valid_boxes", "boxes", number(result.reference_boxes));
  out.add("device_boxes", "boxes", number(result.device_boxes));
  add_pair_figures(result, f, out);
  const std::pair<const char*, uint64_t> counts[] = {
      {"matched", result.matched},
      {"unmatched", result.unmatched_reference + result.unmatched_device},
      {"unmatched_reference", result.unmatched_reference},
      {"unmatched_device", result.unmatched_device},
      {"unmatched_beyond_near", f.lost},
      {"threshold_crossings", result.crossings},
      {"label_changes", result.label_changes}};
  if (f.with_boxes == 0) {
    const Missing missing = missing_pairs(result, f);
    for (const auto& entry : counts) out.leave_out(entry.first, missing.reason, missing.verdict);
    out.leave_out("same_top_class", missing.reason, missing.verdict);
    out.leave_out("top_score_difference", missing.reason, missing.verdict);
  } else {
    for (const auto& [figure, value] : counts) out.add(figure, "boxes", number(value));
    if (f.has_classes)
      out.add("same_top_class", "1", f.same_top == f.with_boxes ? 1 : 0);
    else
      out.leave_out("same_top_class", "the detector has no classes to tell apart", Verdict::kNotJudged);
    out.add("top_score_difference", "1", f.top_score);
  }
  const BadRows& d = f.device;
  out.add("invalid_device_rows", "rows",
          number(d.nonfinite_scores + d.nonfinite_boxes + d.no_area + d.bad_labels + d.scores_out_of_range));
}

void add_claims(const DetectionResult& result, const Facts& f, TaskOutcome& out) {
  const uint64_t boxes = result.reference_boxes;
  out.does_not_show.push_back("average precision: the boxes are held against the reference, not against the truth");
  if (boxes + result.device_boxes == 0) return;
  out.shows.push_back(
      fmt::format("{} of {} over {} on the reference {} a partner of the same class on the device with "
                  "IoU >= {}; {} of the device {} none",
                  result.matched, boxes_text(boxes), result.spec.threshold, has_have(boxes), result.spec.min_iou,
                  boxes_text(result.unmatched_device), has_have(result.unmatched_device)));
  if (result.crossings > 0)
    out.notes.push_back(
        fmt::format("{} without a partner {} one just under the threshold on the other side; "
                    "matched_iou_min and max_score_difference cover {}",
                    boxes_text(result.crossings), has_have(result.crossings), result.crossings == 1 ? "it" : "them"));
  if (result.label_changes > 0)
    out.notes.push_back(fmt::format("{} pair{} of unmatched boxes {} one object with another class (IoU >= 0.5)",
                                    result.label_changes, result.label_changes == 1 ? "" : "s",
                                    is_are(result.label_changes)));
  if (f.near_ties > 0 && f.has_classes)
    out.notes.push_back(
        fmt::format("in {} images the class with the best score is another one, but it shares the first "
                    "place on the other side (scores within {}); same_top_class accepts that",
                    f.near_ties, result.spec.top_tie));
  if (f.reference.no_area + f.device.no_area > 0)
    out.notes.push_back(fmt::format("{} reference and {} device rows over the threshold have no area and were left out",
                                    f.reference.no_area, f.device.no_area));
  if (f.reference.class_ties + f.device.class_ties > 0)
    out.notes.push_back(
        fmt::format("in {} reference and {} device rows two classes share the best score; the first "
                    "one was taken",
                    f.reference.class_ties, f.device.class_ties));
  if (f.incomplete)
    out.notes.push_back(
        "so many boxes overlap that threshold crossings, label changes or low thresholds were left out");
  if (result.images.size() == 1) out.does_not_show.push_back("a rate: this is one image");
  if (boxes < kThinBoxes)
    out.does_not_show.push_back(fmt::format("crowded scenes, low confidence or confused classes: {} {} a thin sample",
                                            boxes_text(boxes), is_are(boxes)));
  if (f.one_label && boxes > 0)
    out.does_not_show.push_back("that the device tells classes apart: all reference boxes have one class");
  if (boxes > 0 && 2 * f.huge > boxes)
    out.does_not_show.push_back(
        fmt::format("where the boxes are: {} of {} cover nearly the whole image, and any two such "
                    "overlap",
                    f.huge, boxes));
}

bool one_label(const std::vector<DetectionImage>& images) {
  std::optional<int64_t> label;
  for (const DetectionImage& image : images)
    for (const DetectedBox& box : image.reference) {
      if (!label) label = box.label;
      if (box.label != *label) return false;
    }
  return true;
}

}  // namespace

DetectionResult conclude_detection(const DetectionSpec& spec, std::vector<DetectionSample> samples) {
  DetectionResult result;
  result.spec = spec;
  result.samples = samples.size();
  for (DetectionSample& sample : samples) {
    for (DetectionImage& image : sample.images) result.images.push_back(std::move(image));
    for (TaskIssue& issue : sample.issues) result.outcome.issues.push_back(std::move(issue));
  }
  count(result);
  Facts facts;
  for (const DetectionImage& image : result.images) gather_image(spec, image, facts);
  facts.one_label = one_label(result.images);
  TaskOutcome& out = result.outcome;
  add_issues(result, facts, out);
  add_figures(result, facts, out);
  add_claims(result, facts, out);
  return result;
}

}  // namespace paritas
