#include "paritas/task/detection.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "paritas/task/detection_rows.h"

namespace paritas {
namespace {

// Overlapping pairs of one image that are kept (24 bytes each); a detector behind its non-maximum suppression has some
// hundreds.
constexpr uint64_t kMaxPairs = 4'000'000;
// Unmatched boxes of different class that overlap this much are one object with another name.
constexpr double kSameObject = 0.5;
constexpr int kSweepSteps = 19;  // 0.05, 0.10 ... 0.95

double sweep_threshold(int step) { return step / 20.0; }

double lowest_score(const DetectionSpec& spec) {
  return std::max(0.0, std::min(sweep_threshold(1), spec.threshold - spec.near));
}

uint64_t count_over(const std::vector<DetectedBox>& boxes, double threshold) {
  return static_cast<uint64_t>(
      std::partition_point(boxes.begin(), boxes.end(), [&](const DetectedBox& b) { return b.score > threshold; }) -
      boxes.begin());
}

// The pairs of all boxes over the lowest threshold for which there is room.
struct Candidates {
  std::vector<BoxPair> pairs;
  double lowest = 0;  // boxes with a score above it took part
};

using Boxes = std::vector<DetectedBox>;

Result<Candidates> find_candidates(const DetectionSpec& spec, const Boxes& x, const Boxes& y,
                                   const std::string& where) {
  for (const double lowest : {lowest_score(spec), std::max(0.0, spec.threshold - spec.near), spec.threshold}) {
    auto pairs = candidate_pairs(std::span(x).first(count_over(x, lowest)), std::span(y).first(count_over(y, lowest)),
                                 PairClasses::kSame, spec.min_iou, kMaxPairs);
    if (pairs) return Candidates{std::move(*pairs), lowest};
  }
  return usage_error(where,
                     fmt::format("{} and {} boxes over the threshold are too many to match: over {} pairs overlap, or "
                                 "over {} would have to be tried",
                                 count_over(x, spec.threshold), count_over(y, spec.threshold), kMaxPairs, kMaxOverlaps),
                     "raise the threshold, or compare behind the non-maximum suppression");
}

std::vector<uint32_t> left_over(const std::vector<BoxPair>& matched, uint64_t count, bool of_reference) {
  std::vector<bool> taken(count);
  for (const BoxPair& pair : matched) taken[of_reference ? pair.reference : pair.device] = true;
  std::vector<uint32_t> rest;
  for (uint32_t i = 0; i < count; ++i)
    if (!taken[i]) rest.push_back(i);
  return rest;
}

std::vector<UnmatchedBox> describe_unmatched(const std::vector<uint32_t>& indices, const Boxes& own,
                                             const Boxes& others) {
  std::vector<UnmatchedBox> unmatched;
  for (const uint32_t i : indices) {
    UnmatchedBox box;
    box.index = i;
    for (const DetectedBox& other : others)
      if (other.label == own[i].label) box.best_iou = std::max(box.best_iou, iou(own[i].box, other.box));
    unmatched.push_back(box);
  }
  return unmatched;
}

// The entry of each box, nullptr where it is matched.
std::vector<UnmatchedBox*> by_index(std::vector<UnmatchedBox>& list, uint64_t count) {
  std::vector<UnmatchedBox*> entries(count);
  for (UnmatchedBox& box : list) entries[box.index] = &box;
  return entries;
}

// Pairs of an unmatched box with one under the threshold on the other side, one to one.
void find_crossings(const DetectionSpec& spec, const Candidates& candidates, const Boxes& x, const Boxes& y,
                    DetectionImage& image) {
  const uint64_t nx = image.reference.size(), ny = image.device.size();
  const std::vector<UnmatchedBox*> x_free = by_index(image.unmatched_reference, nx);
  const std::vector<UnmatchedBox*> y_free = by_index(image.unmatched_device, ny);
  std::vector<bool> x_taken(x.size()), y_taken(y.size());
  for (const BoxPair& pair : candidates.pairs) {
    const bool x_over = pair.reference < nx, y_over = pair.device < ny;
    if (x_over == y_over || x_taken[pair.reference] || y_taken[pair.device]) continue;
    UnmatchedBox* box = x_over ? x_free[pair.reference] : y_free[pair.device];
    const DetectedBox &a = x[pair.reference], &b = y[pair.device];
    if (box == nullptr || std::abs(a.score - b.score) > spec.near) continue;
    box->crossing = true;
    x_taken[pair.reference] = y_taken[pair.device] = true;
    image.crossings.push_back({x_over, a, b, pair.iou});
  }
}

void find_label_changes(DetectionImage& image) {
  Boxes x, y;
  std::vector<uint32_t> x_index, y_index;
  for (const UnmatchedBox& box : image.unmatched_reference) {
    if (box.crossing) continue;
    x.push_back(image.reference[box.index]);
    x_index.push_back(box.index);
  }
  for (const UnmatchedBox& box : image.unmatched_device) {
    if (box.crossing) continue;
    y.push_back(image.device[box.index]);
    y_index.push_back(box.index);
  }
  const auto pairs = candidate_pairs(x, y, PairClasses::kDifferent, kSameObject, kMaxPairs);
  if (!pairs) {
    image.incomplete = true;
    return;
  }
  const std::vector<UnmatchedBox*> x_free = by_index(image.unmatched_reference, image.reference.size());
  const std::vector<UnmatchedBox*> y_free = by_index(image.unmatched_device, image.device.size());
  for (const BoxPair& pair : match_greedily(*pairs, x.size(), y.size())) {
    const uint32_t r = x_index[pair.reference], d = y_index[pair.device];
    x_free[r]->relabelled = y_free[d]->relabelled = true;
    image.label_changes.push_back({r, d, pair.iou});
  }
}

std::vector<SweepPoint> sweep(const Candidates& candidates, const Boxes& x, const Boxes& y) {
  std::vector<SweepPoint> points;
  for (int step = 1; step <= kSweepSteps; ++step) {
    SweepPoint point;
    point.threshold = sweep_threshold(step);
    if (point.threshold < candidates.lowest) continue;
    point.reference = count_over(x, point.threshold);
    point.device = count_over(y, point.threshold);
    const std::vector<BoxPair> matched = match_greedily(candidates.pairs, point.reference, point.device);
    point.matched = matched.size();
    point.unmatched_reference = point.reference - point.matched;
    point.unmatched_device = point.device - point.matched;
    if (!matched.empty()) point.iou_min = matched.back().iou;  // greedy order: the last one overlaps least
    points.push_back(point);
  }
  return points;
}

std::vector<int64_t> top_classes(const Boxes& boxes, double margin) {
  std::vector<int64_t> top;
  for (const DetectedBox& box : boxes)
    if (box.score >= boxes.front().score - margin) top.push_back(box.label);
  std::sort(top.begin(), top.end());
  top.erase(std::unique(top.begin(), top.end()), top.end());
  return top;
}

void list_near(const DetectionSpec& spec, const Boxes& boxes, bool of_reference, DetectionImage& image) {
  for (const DetectedBox& box : boxes)
    if (std::abs(box.score - spec.threshold) <= spec.near) image.near.push_back({of_reference, box});
}

Result<DetectionImage> detect_image(const DetectionSpec& spec, const ImageRows& x, const ImageRows& y,
                                    const std::string& where) {
  DetectionImage image;
  image.reference_bad = x.bad;
  image.device_bad = y.bad;
  PARITAS_ASSIGN(const Candidates candidates, find_candidates(spec, x.boxes, y.boxes, where));
  const uint64_t nx = count_over(x.boxes, spec.threshold), ny = count_over(y.boxes, spec.threshold);
  image.reference.assign(x.boxes.begin(), x.boxes.begin() + static_cast<int64_t>(nx));
  image.device.assign(y.boxes.begin(), y.boxes.begin() + static_cast<int64_t>(ny));
  image.matched = match_greedily(candidates.pairs, nx, ny);
  image.unmatched_reference = describe_unmatched(left_over(image.matched, nx, true), image.reference, image.device);
  image.unmatched_device = describe_unmatched(left_over(image.matched, ny, false), image.device, image.reference);
  image.incomplete = candidates.lowest > lowest_score(spec);
  find_crossings(spec, candidates, x.boxes, y.boxes, image);
  find_label_changes(image);
  list_near(spec, x.boxes, true, image);
  list_near(spec, y.boxes, false, image);
  image.sweep = sweep(candidates, x.boxes, y.boxes);
  image.reference_top = top_classes(image.reference, 0);
  image.device_top = top_classes(image.device, 0);
  image.reference_first = top_classes(image.reference, spec.top_tie);
  image.device_first = top_classes(image.device, spec.top_tie);
  return image;
}

}  // namespace

Result<DetectionSample> detect_sample(const DetectionSpec& spec, const Sample& reference, const RunInfo& reference_info,
                                      const Sample& device, const RunInfo& device_info) {
  const double lowest = lowest_score(spec);
  PARITAS_ASSIGN(const SideRows x, detection_rows(spec, reference, reference_info, true, lowest));
  DetectionSample result;
  auto y = detection_rows(spec, device, device_info, false, lowest);
  if (!y) {
    // The reference fits the declaration, so a device that does not has another output; what cannot be read is an
    // error.
    if (y.error().kind != ErrorKind::kUsage) return tl::make_unexpected(std::move(y).error());
    result.issues.push_back({Verdict::kDeviates, fmt::format("{}: {}", reference.id, y.error().message())});
    return result;
  }
  if (x.images.size() != y->images.size() || x.classes != y->classes) {
    result.issues.push_back(
        {Verdict::kDeviates, fmt::format("{}: the reference has {} images with {} score classes, the device {} with {}",
                                         reference.id, x.images.size(), x.classes, y->images.size(), y->classes)});
    return result;
  }
  const uint64_t scored = x.classes - (spec.background && x.classes > 0 ? 1 : 0);
  for (size_t i = 0; i < x.images.size(); ++i) {
    PARITAS_ASSIGN(DetectionImage image,
                   detect_image(spec, x.images[i], y->images[i], fmt::format("{} image {}", reference.id, i)));
    image.sample = reference.id;
    image.image = i;
    image.has_classes = !spec.labels.empty() || scored > 1;
    result.images.push_back(std::move(image));
  }
  return result;
}

Result<DetectionResult> check_detection(const DetectionSpec& spec, SampleStream& reference, SampleStream& device) {
  std::vector<DetectionSample> samples;
  const uint64_t count = std::min(reference.sample_count(), device.sample_count());
  for (uint64_t i = 0; i < count; ++i) {
    PARITAS_ASSIGN(const Sample x, reference.sample(i));
    PARITAS_ASSIGN(const Sample y, device.sample(i));
    PARITAS_ASSIGN(DetectionSample sample, detect_sample(spec, x, reference.info(), y, device.info()));
    samples.push_back(std::move(sample));
  }
  if (reference.sample_count() != device.sample_count()) {
    samples.emplace_back();
    samples.back().issues.push_back(
        {Verdict::kInvalid, fmt::format("the reference has {} samples, the device {}: they cannot be paired",
                                        reference.sample_count(), device.sample_count())});
  }
  DetectionResult result = conclude_detection(spec, std::move(samples));
  result.samples = count;
  return result;
}

}  // namespace paritas
