#include "paritas/locate/nms_ties.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace paritas {
namespace {

// Which of them are kept, of one batch and class.
using Kept = std::set<size_t>;
using Selected = std::map<std::pair<size_t, size_t>, Kept>;

Result<std::vector<double>> doubles(const Tensor& tensor) {
  PARITAS_ASSIGN(const TensorView view, TensorView::of(tensor));
  std::vector<double> values(view.count());
  load_as_double(view.dtype(), view.bytes(), 0, values);
  return values;
}

Result<Selected> selected(const Tensor& indices, size_t batches, size_t classes, size_t boxes) {
  if (indices.shape.size() != 2 || indices.shape[1] != 3) return input_error("", "selected indices are not [n, 3]");
  PARITAS_ASSIGN(const auto values, doubles(indices));
  const auto at = [&](size_t i, size_t end) -> std::optional<size_t> {
    return values[i] >= 0 && values[i] < static_cast<double>(end) ? std::optional(static_cast<size_t>(values[i]))
                                                                  : std::nullopt;
  };
  Selected found;
  for (size_t i = 0; i < values.size(); i += 3) {
    const auto batch = at(i, batches), of_class = at(i + 1, classes), box = at(i + 2, boxes);
    if (!batch || !of_class || !box) return input_error("", "an index lies beyond the boxes");
    found[{*batch, *of_class}].insert(*box);
  }
  return found;
}

struct Span {
  double low, high;
};

Span axis_of(const double* box, size_t axis, bool center_point_box) {
  if (center_point_box) return {box[axis] - box[axis + 2] / 2, box[axis] + box[axis + 2] / 2};
  return {std::min(box[axis], box[axis + 2]), std::max(box[axis], box[axis + 2])};
}

// What would have to change for a box to fall the other way, and by how much.
struct Change {
  double by = INFINITY;
  std::string of;
  std::optional<size_t> competitor;
};

void smaller(Change& change, double by, const char* of, std::optional<size_t> competitor) {
  if (by < change.by) change = {by, of, competitor};
}

// One batch and class, by the reference's numbers.
class OneClass {
 public:
  OneClass(const NmsInputs& inputs, const double* boxes, const double* scores)
      : inputs_(inputs), boxes_(boxes), scores_(scores) {}

  SuppressedBox judge(size_t box, const Kept& reference, const Kept& device) const {
    SuppressedBox row;
    row.box = box;
    row.kept = reference.count(box) != 0;
    row.score = scores_[box];
    row.follows = kept_beside(box, device) != row.kept;
    if (row.follows) return row;
    const Change change = row.kept ? to_drop(box, device) : to_keep(box, reference, device);
    if (!std::isfinite(change.by)) return row;
    row.margin = change.by;
    row.margin_of = change.of;
    row.competitor = change.competitor;
    return row;
  }

 private:
  // The one that is looked at first: of equal scores the lower index.
  bool before(size_t a, size_t b) const { return scores_[a] != scores_[b] ? scores_[a] > scores_[b] : a < b; }
  double overlap(size_t a, size_t b) const {
    return intersection_over_union(boxes_ + 4 * a, boxes_ + 4 * b, inputs_.center_point_box);
  }
  bool passes_score(size_t box) const { return !inputs_.score_threshold || scores_[box] > *inputs_.score_threshold; }

  // Would the rule keep the box if the others were kept as in `kept`?
  bool kept_beside(size_t box, const Kept& kept) const {
    if (!passes_score(box)) return false;
    int64_t in_front = 0;
    for (const size_t other : kept) {
      if (other == box || !before(other, box)) continue;
      ++in_front;
      if (overlap(other, box) > inputs_.iou_threshold) return false;
    }
    return in_front < inputs_.most_per_class;
  }

  // The reference keeps it, the device does not.
  Change to_drop(size_t box, const Kept& device) const {
    Change change;
    if (inputs_.score_threshold) smaller(change, scores_[box] - *inputs_.score_threshold, "score threshold", {});
    const bool full = static_cast<int64_t>(device.size()) >= inputs_.most_per_class;
    for (const size_t other : device) {
      const double iou = overlap(other, box);
      const bool overlaps = iou > inputs_.iou_threshold;
      if (before(other, box))
        smaller(change, inputs_.iou_threshold - iou, "overlap", other);
      else if (overlaps || full)
        smaller(change, scores_[box] - scores_[other], "score", other);
    }
    return change;
  }

  // The device keeps it, the reference does not. All that stands against it must give way, so the largest counts.
  Change to_keep(size_t box, const Kept& reference, const Kept& device) const {
    Change all;
    all.by = -INFINITY;
    const auto needed = [&all](const Change& change) {
      if (change.by > all.by) all = change;
    };
    if (!passes_score(box)) needed({*inputs_.score_threshold - scores_[box], "score threshold", {}});
    int64_t in_front = 0;
    Change overtakes;  // the one of the reference that it would have to overtake where no more boxes are taken
    for (const size_t other : device) {
      if (other == box || !before(other, box)) continue;
      ++in_front;
      const double iou = overlap(other, box);
      if (iou <= inputs_.iou_threshold) continue;
      Change one;
      smaller(one, iou - inputs_.iou_threshold, "overlap", other);
      smaller(one, scores_[other] - scores_[box], "score", other);
      needed(one);
    }
    for (const size_t other : reference)
      if (before(other, box)) smaller(overtakes, scores_[other] - scores_[box], "score", other);
    if (in_front >= inputs_.most_per_class) needed(overtakes);
    return all;
  }

  const NmsInputs& inputs_;
  const double* boxes_;
  const double* scores_;
};

void take(SuppressedBox row, DecisionTie& tie) {
  if (row.margin) {
    ++tie.compared;
    if (!tie.margin || *row.margin > *tie.margin) {
      tie.margin = row.margin;
      tie.margin_of = row.margin_of;
      tie.at = std::abs(row.score);
    }
  }
  tie.boxes.push_back(std::move(row));
}

}  // namespace

double intersection_over_union(const double* a, const double* b, bool center_point_box) {
  double area_a = 1, area_b = 1, shared = 1;
  for (size_t axis = 0; axis < 2; ++axis) {
    const Span x = axis_of(a, axis, center_point_box), y = axis_of(b, axis, center_point_box);
    area_a *= x.high - x.low;
    area_b *= y.high - y.low;
    shared *= std::max(0.0, std::min(x.high, y.high) - std::max(x.low, y.low));
  }
  if (!(area_a > 0) || !(area_b > 0) || !(shared > 0)) return 0;
  return shared / (area_a + area_b - shared);
}

Result<DecisionTie> tie_of_suppression(const NmsInputs& inputs, const Tensor& reference, const Tensor& device) {
  const Shape& b = inputs.boxes.shape;
  const Shape& s = inputs.scores.shape;
  if (b.size() != 3 || s.size() != 3 || b[2] != 4 || b[0] != s[0] || b[1] != s[2])
    return input_error("", "boxes and scores do not fit each other");
  const auto batches = static_cast<size_t>(b[0]), boxes = static_cast<size_t>(b[1]),
             classes = static_cast<size_t>(s[1]);
  PARITAS_ASSIGN(const auto corners, doubles(inputs.boxes));
  PARITAS_ASSIGN(const auto scores, doubles(inputs.scores));
  PARITAS_ASSIGN(auto kept_by_reference, selected(reference, batches, classes, boxes));
  PARITAS_ASSIGN(auto kept_by_device, selected(device, batches, classes, boxes));
  DecisionTie tie;
  for (size_t batch = 0; batch < batches; ++batch)
    for (size_t of_class = 0; of_class < classes; ++of_class) {
      const Kept& r = kept_by_reference[{batch, of_class}];
      const Kept& d = kept_by_device[{batch, of_class}];
      const OneClass one(inputs, corners.data() + batch * boxes * 4,
                         scores.data() + (batch * classes + of_class) * boxes);
      Kept changed;
      std::set_symmetric_difference(r.begin(), r.end(), d.begin(), d.end(), std::inserter(changed, changed.end()));
      for (const size_t box : changed) {
        SuppressedBox row = one.judge(box, r, d);
        row.batch = batch;
        row.of_class = of_class;
        take(std::move(row), tie);
      }
    }
  if (!tie.boxes.empty() && !tie.margin) tie.not_taken = "no single score or overlap explains a box that changed";
  return tie;
}

}  // namespace paritas
