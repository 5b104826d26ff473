#include "paritas/task/matching.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace paritas {
namespace {

auto content(const DetectedBox& b) { return std::tuple(-b.score, b.box.x1, b.box.y1, b.box.x2, b.box.y2, b.label); }

}  // namespace

void sort_by_content(std::vector<DetectedBox>& boxes) {
  std::stable_sort(boxes.begin(), boxes.end(),
                   [](const DetectedBox& a, const DetectedBox& b) { return content(a) < content(b); });
}

std::optional<std::vector<BoxPair>> candidate_pairs(std::span<const DetectedBox> reference,
                                                    std::span<const DetectedBox> device, PairClasses classes,
                                                    double min_iou, uint64_t limit) {
  if (!device.empty() && reference.size() > kMaxOverlaps / device.size()) return std::nullopt;
  std::vector<BoxPair> pairs;
  for (uint32_t r = 0; r < reference.size(); ++r)
    for (uint32_t d = 0; d < device.size(); ++d) {
      if ((reference[r].label == device[d].label) != (classes == PairClasses::kSame)) continue;
      const double overlap = iou(reference[r].box, device[d].box);
      if (!(overlap > 0) || overlap < min_iou) continue;
      if (pairs.size() >= limit) return std::nullopt;
      pairs.push_back({r, d, overlap});
    }
  auto key = [&](const BoxPair& p) {
    return std::tuple(-p.iou, std::abs(reference[p.reference].score - device[p.device].score),
                      std::max(p.reference, p.device), std::min(p.reference, p.device), p.reference);
  };
  std::sort(pairs.begin(), pairs.end(), [&](const BoxPair& a, const BoxPair& b) { return key(a) < key(b); });
  return pairs;
}

std::vector<BoxPair> match_greedily(std::span<const BoxPair> candidates, uint64_t reference_count,
                                    uint64_t device_count) {
  std::vector<bool> reference_taken(reference_count), device_taken(device_count);
  std::vector<BoxPair> matched;
  for (const BoxPair& pair : candidates) {
    if (pair.reference >= reference_count || pair.device >= device_count) continue;
    if (reference_taken[pair.reference] || device_taken[pair.device]) continue;
    reference_taken[pair.reference] = device_taken[pair.device] = true;
    matched.push_back(pair);
  }
  return matched;
}

}  // namespace paritas
