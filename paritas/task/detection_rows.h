// From the output tensors of one side to boxes per image.
#pragma once

#include "paritas/task/detection.h"

namespace paritas {

struct ImageRows {
  std::vector<DetectedBox> boxes;  // score over `lowest`, with an area; sort_by_content order
  BadRows bad;
};

struct SideRows {
  std::vector<ImageRows> images;
  uint64_t classes = 0;  // of per-class scores; 0: none
};

// `reference`: the side that must fit the declaration. There, scores beyond [0, 1], labels that are no class and
// coordinates of another unit are errors; on the device they are counted.
Result<SideRows> detection_rows(const DetectionSpec& spec, const Sample& sample, const RunInfo& info, bool reference,
                                double lowest);

}  // namespace paritas
