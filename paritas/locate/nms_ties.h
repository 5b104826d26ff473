// How near NonMaxSuppression was to keeping, or dropping, the boxes that the device dropped, or kept.
#pragma once

#include "paritas/base/error.h"
#include "paritas/locate/types.h"
#include "paritas/tensor/tensor.h"

namespace paritas {

// Inputs of the node on the reference. Absent ones are as ONNX says: 0 boxes a class, overlap 0, every score.
struct NmsInputs {
  Tensor boxes;   // [batches, boxes, 4]
  Tensor scores;  // [batches, classes, boxes]
  int64_t most_per_class = 0;
  double iou_threshold = 0;
  std::optional<double> score_threshold;
  bool center_point_box = false;  // [x, y, width, height] instead of two opposite corners
};

// Intersection over union as ONNX Runtime's CPU kernel has it: 0 where a box has no area.
double intersection_over_union(const double* a, const double* b, bool center_point_box);

// `reference`, `device`: [n, 3] selected (batch, class, box), where n may differ. Fills boxes and margin; the margin is
// the largest of those boxes that do not follow from others.
Result<DecisionTie> tie_of_suppression(const NmsInputs& inputs, const Tensor& reference, const Tensor& device);

}  // namespace paritas
