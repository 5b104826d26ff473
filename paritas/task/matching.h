// One-to-one matching of boxes, greedily by overlap from high to low.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "paritas/task/boxes.h"

namespace paritas {

// Overlaps that are computed for one image at most; 4e8 take some ten seconds.
inline constexpr uint64_t kMaxOverlaps = 400'000'000;

struct DetectedBox {
  uint64_t row = 0;   // in its tensor
  int64_t label = 0;  // 0 for all when the detector has no classes
  double score = 0;   // confidence
  Box box;
};

// Best score first; equal scores by box and label, so that the order depends on what the rows hold and not on where
// they stand. Rows that hold the same keep their order.
void sort_by_content(std::vector<DetectedBox>& boxes);

struct BoxPair {
  uint32_t reference = 0;  // indices into the two lists
  uint32_t device = 0;
  double iou = 0;
};

enum class PairClasses { kSame, kDifferent };

// All pairs of the two sorted lists with IoU >= min_iou (and > 0) and equal or different labels, in greedy order:
// highest IoU first, then the smaller score difference, then the boxes that stand first in the lists; the order is the
// same when the sides change places. nullopt when there are more than `limit` pairs, or too many to look at.
std::optional<std::vector<BoxPair>> candidate_pairs(std::span<const DetectedBox> reference,
                                                    std::span<const DetectedBox> device, PairClasses classes,
                                                    double min_iou, uint64_t limit);

// Takes pairs in order as long as neither box is taken; only the first `reference_count` and `device_count` boxes of
// the lists take part.
std::vector<BoxPair> match_greedily(std::span<const BoxPair> candidates, uint64_t reference_count,
                                    uint64_t device_count);

}  // namespace paritas
