#include "paritas/task/detection_rows.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "paritas/task/portable_math.h"
#include "paritas/task/values.h"

namespace paritas {
namespace {

// Rounding of a sigmoid or softmax kernel may pass 1 by a little.
constexpr double kScoreSlack = 1e-3;

struct Layout {
  uint64_t images = 0;
  uint64_t rows = 0;     // per image
  uint64_t classes = 0;  // of per-class scores; 0: one score per row
};

// Rows of all images, one after the other, without those that num_detections calls padding.
struct Values {
  Layout layout;
  std::vector<uint64_t> counts;  // rows of each image
  RealValues boxes, scores;
  std::vector<std::optional<int64_t>> labels;  // empty: none declared
};

struct Score {
  double value = 0;  // NaN: not finite
  int64_t label = 0;
  bool tie = false;
};

std::string subject_of(bool reference, const std::string& tensor) {
  return fmt::format("{} output \"{}\"", reference ? "reference" : "device", tensor);
}

uint64_t dim(const Shape& shape, size_t d) { return static_cast<uint64_t>(shape[d]); }

Result<Layout> layout_of_boxes(const Shape& shape, const std::string& subject) {
  const size_t rank = shape.size();
  const bool four = rank > 0 && shape.back() == 4;
  if (four && rank == 2) return Layout{1, dim(shape, 0), 0};
  if (four && rank == 3) return Layout{dim(shape, 0), dim(shape, 1), 0};
  if (four && rank == 4 && (shape[1] == 1 || shape[2] == 1))
    return Layout{dim(shape, 0), dim(shape, shape[1] == 1 ? 2 : 1), 0};
  return usage_error(subject, fmt::format("boxes cannot be read from {}", to_string(shape)),
                     "boxes are [N,4] or [batch,N,4]; [batch,4,N] needs box_layout = \"columns\"");
}

// The shape once columns have become rows. `name` is "box" or "score".
Result<Shape> as_rows(RowLayout layout, const std::string& name, Shape shape, const std::string& subject) {
  if (layout == RowLayout::kRows) return shape;
  if (shape.size() < 2)
    return usage_error(subject, fmt::format("{} has no columns", to_string(shape)),
                       fmt::format("declare {}_layout = \"rows\"", name));
  std::swap(shape[shape.size() - 2], shape[shape.size() - 1]);
  return shape;
}

// Exchanges the last two dimensions of the values; `shape` is as_rows.
void exchange_columns(const Shape& shape, RealValues& v) {
  const uint64_t width = dim(shape, shape.size() - 1), n = dim(shape, shape.size() - 2), size = width * n;
  std::vector<double> rows(v.values.size());
  for (uint64_t i = 0; i < rows.size(); ++i) {
    const uint64_t at = i % size;
    rows[i - at + at % n * width + at / n] = v.values[i];
  }
  v.values = std::move(rows);
  v.shape = shape;
}

// True when `shape` is one value per row; dimensions of 1 in front or behind do not matter.
bool one_per_row(const Shape& shape, const Layout& layout) {
  if (shape == Shape{static_cast<int64_t>(layout.rows)}) return layout.images == 1;
  Shape two = shape;
  while (two.size() > 2 && two.back() == 1) two.pop_back();
  while (two.size() > 2 && two[1] == 1) two.erase(two.begin() + 1);
  if (two.size() != 2) return false;
  if (dim(two, 0) == layout.images && dim(two, 1) == layout.rows) return true;
  return layout.images == 1 && dim(two, 0) == layout.rows && two[1] == 1;
}

// The number of classes when `shape` is one value per row and class, else 0.
uint64_t classes_per_row(const Shape& shape, const Layout& layout) {
  if (shape.size() == 2 && layout.images == 1 && dim(shape, 0) == layout.rows) return dim(shape, 1);
  if (shape.size() == 3 && dim(shape, 0) == layout.images && dim(shape, 1) == layout.rows) return dim(shape, 2);
  return 0;
}

Result<const Tensor*> needed(const Sample& sample, const std::string& name, bool reference) {
  const Tensor* tensor = find_tensor(sample.tensors, name);
  if (tensor != nullptr) return tensor;
  return usage_error(subject_of(reference, name), fmt::format("{} does not hold it", sample.id),
                     list_names(sample.tensors));
}

Status read_layout(const DetectionSpec& spec, const std::string& subject, Values& v) {
  if (one_per_row(v.scores.shape, v.layout)) {
    if (spec.score_values == ScoreValues::kSoftmaxLogits || spec.background)
      return usage_error(subject, fmt::format("{} has no classes to choose from", to_string(v.scores.shape)),
                         "softmax_logits and background belong to scores per class");
    return {};
  }
  v.layout.classes = classes_per_row(v.scores.shape, v.layout);
  if (v.layout.classes == 0)
    return usage_error(subject,
                       fmt::format("{} does not fit boxes of {}", to_string(v.scores.shape), to_string(v.boxes.shape)),
                       "scores are [N], [batch,N], or per class [N,C], [batch,N,C]; [batch,C,N] needs score_layout = "
                       "\"columns\"");
  if (!spec.labels.empty())
    return usage_error(
        subject, fmt::format("{} holds a score per class, and labels are declared too", to_string(v.scores.shape)),
        "leave out \"labels\", or declare the scores that belong to them");
  if (spec.background && *spec.background >= static_cast<int64_t>(v.layout.classes))
    return usage_error(subject,
                       fmt::format("background class {} is not one of {}", *spec.background, v.layout.classes));
  if (spec.background && v.layout.classes == 1) return usage_error(subject, "its only class is declared as background");
  if (!spec.class_names.empty() && spec.class_names.size() != v.layout.classes)
    return usage_error(subject, fmt::format("{} class names are declared, but it has {} classes",
                                            spec.class_names.size(), v.layout.classes));
  return {};
}

Status read_labels(const DetectionSpec& spec, const Sample& sample, bool reference, Values& v) {
  if (spec.labels.empty()) return {};
  PARITAS_ASSIGN(const Tensor* labels, needed(sample, spec.labels, reference));
  const std::string subject = subject_of(reference, spec.labels);
  if (!one_per_row(labels->shape, v.layout))
    return usage_error(subject,
                       fmt::format("{} does not fit boxes of {}", to_string(labels->shape), to_string(v.boxes.shape)),
                       "labels are [N] or [batch,N]");
  PARITAS_ASSIGN(v.labels, whole_values(*labels, subject));
  return {};
}

Status read_counts(const DetectionSpec& spec, const Sample& sample, bool reference, Values& v) {
  v.counts.assign(v.layout.images, v.layout.rows);
  if (spec.num_detections.empty()) return {};
  PARITAS_ASSIGN(const Tensor* tensor, needed(sample, spec.num_detections, reference));
  const std::string subject = subject_of(reference, spec.num_detections);
  if (tensor->count() != v.layout.images)
    return usage_error(subject, fmt::format("{} is not one number for each of {} image{}", to_string(tensor->shape),
                                            v.layout.images, v.layout.images == 1 ? "" : "s"));
  PARITAS_ASSIGN(const auto counts, whole_values(*tensor, subject));
  for (uint64_t i = 0; i < v.layout.images; ++i) {
    if (!counts[i]) return usage_error(subject, fmt::format("the count of image {} is no whole number", i));
    if (*counts[i] < 0 || static_cast<uint64_t>(*counts[i]) > v.layout.rows)
      return usage_error(subject, fmt::format("image {} has {} detections in {} rows", i, *counts[i], v.layout.rows));
    v.counts[i] = static_cast<uint64_t>(*counts[i]);
  }
  return {};
}

// Keeps the first counts[i] rows of each image, `width` values each.
template <class T>
void drop_padding(const Values& v, uint64_t width, std::vector<T>& values) {
  if (values.empty()) return;
  uint64_t kept = 0;
  for (uint64_t i = 0; i < v.layout.images; ++i) {
    const auto begin = values.begin() + static_cast<int64_t>(i * v.layout.rows * width);
    std::copy_n(begin, v.counts[i] * width, values.begin() + static_cast<int64_t>(kept));
    kept += v.counts[i] * width;
  }
  values.resize(kept);
}

Result<Values> read_values(const DetectionSpec& spec, const Sample& sample, const RunInfo& info, bool reference) {
  Values v;
  PARITAS_ASSIGN(const Tensor* boxes, needed(sample, spec.boxes, reference));
  PARITAS_ASSIGN(const Tensor* scores, needed(sample, spec.scores, reference));
  // Shapes in errors are then those of rows.
  const auto with_layout = [](const std::string& subject, RowLayout layout) {
    return layout == RowLayout::kRows ? subject : subject + ", its columns taken as rows";
  };
  const std::string box_subject = with_layout(subject_of(reference, spec.boxes), spec.box_layout);
  const std::string score_subject = with_layout(subject_of(reference, spec.scores), spec.score_layout);
  PARITAS_ASSIGN(const Shape box_shape, as_rows(spec.box_layout, "box", boxes->shape, box_subject));
  PARITAS_ASSIGN(const Shape score_shape, as_rows(spec.score_layout, "score", scores->shape, score_subject));
  PARITAS_ASSIGN(v.layout, layout_of_boxes(box_shape, box_subject));
  PARITAS_ASSIGN(v.boxes, real_values(*boxes, info.find(spec.boxes), spec.boxes_quantisation, box_subject));
  PARITAS_ASSIGN(v.scores, real_values(*scores, info.find(spec.scores), spec.scores_quantisation, score_subject));
  if (spec.box_layout == RowLayout::kColumns) exchange_columns(box_shape, v.boxes);
  if (spec.score_layout == RowLayout::kColumns) exchange_columns(score_shape, v.scores);
  PARITAS_TRY(read_layout(spec, score_subject, v));
  PARITAS_TRY(read_labels(spec, sample, reference, v));
  PARITAS_TRY(read_counts(spec, sample, reference, v));
  drop_padding(v, 4, v.boxes.values);
  drop_padding(v, std::max<uint64_t>(1, v.layout.classes), v.scores.values);
  drop_padding(v, 1, v.labels);
  return v;
}

// Replaces logits by confidences.
void to_confidences(ScoreValues values, uint64_t classes, std::vector<double>& scores) {
  if (values == ScoreValues::kSigmoidLogits)
    for (double& s : scores) s = std::isnan(s) || s == INFINITY ? NAN : 1 / (1 + portable_exp(-s));
  if (values != ScoreValues::kSoftmaxLogits) return;
  for (uint64_t begin = 0; begin + classes <= scores.size(); begin += classes) {
    const std::span<double> row(scores.data() + begin, classes);
    const double highest = *std::max_element(row.begin(), row.end());
    double sum = 0;
    for (double& s : row) sum += s = portable_exp(s - highest);  // NaN and inf - inf spread to the sum
    for (double& s : row) s /= sum;
  }
}

bool in_unit_interval(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return v >= 0 && v <= 1; });
}

bool rows_sum_to_one(const Values& v) {
  const uint64_t classes = v.layout.classes;
  if (classes < 2 || v.scores.values.empty()) return false;
  for (uint64_t begin = 0; begin < v.scores.values.size(); begin += classes) {
    double sum = 0;
    for (uint64_t c = 0; c < classes; ++c) sum += v.scores.values[begin + c];
    if (!(std::abs(sum - 1) <= 1e-3 + v.scores.step * static_cast<double>(classes) / 2)) return false;
  }
  return true;
}

bool out_of_range(double score) { return score > 1 + kScoreSlack || (score < -1e-6 && score != -1); }

// What the reference's scores say against the declaration.
Status check_scores(const DetectionSpec& spec, const Values& v, const std::string& subject) {
  const bool logits = spec.score_values != ScoreValues::kConfidence;
  if (logits) {
    const bool zero_or_one =
        std::all_of(v.scores.values.begin(), v.scores.values.end(), [](double s) { return s == 0 || s == 1; });
    if (in_unit_interval(v.scores.values) && !zero_or_one)
      return usage_error(subject, "it is declared as logits, but every value is in [0, 1]",
                         "declare score_values = \"confidence\"");
    return {};
  }
  for (const double score : v.scores.values)
    if (out_of_range(score) && std::isfinite(score))
      return usage_error(subject, fmt::format("it holds {}, which is no confidence in [0, 1]", score),
                         "declare score_values = \"sigmoid_logits\" or \"softmax_logits\"");
  return {};
}

// Else rows of background, nearly all there are, would be matched as boxes.
Status check_background(const DetectionSpec& spec, const Values& v, const std::string& subject) {
  if (v.layout.classes == 0 || spec.background || spec.no_background || !rows_sum_to_one(v)) return {};
  return usage_error(subject, "the scores of each row sum to 1, as where one class means that there is no object",
                     "declare background = INDEX, or \"none\"");
}

Score score_of(const DetectionSpec& spec, const Values& v, uint64_t row) {
  const uint64_t classes = v.layout.classes;
  if (classes == 0) return {std::isfinite(v.scores.values[row]) ? v.scores.values[row] : NAN, 0, false};
  Score best{-INFINITY, -1, false};
  for (uint64_t c = 0; c < classes; ++c) {
    const double s = v.scores.values[row * classes + c];
    if (!std::isfinite(s)) return {NAN, -1, false};
    if (spec.background && *spec.background == static_cast<int64_t>(c)) continue;
    if (s == best.value) best.tie = true;
    if (s > best.value) best = {s, static_cast<int64_t>(c), false};
  }
  return best;
}

bool lawful_label(const DetectionSpec& spec, const std::optional<int64_t>& label) {
  if (!label) return false;
  return spec.class_names.empty() || (*label >= 0 && *label < static_cast<int64_t>(spec.class_names.size()));
}

Status read_row(const DetectionSpec& spec, const Values& v, uint64_t index, uint64_t row, bool reference, double lowest,
                ImageRows& image) {
  const Box box = box_from(spec.format, std::span<const double, 4>(v.boxes.values.data() + index * 4, 4));
  Score score = score_of(spec, v, index);
  const bool over = score.value > spec.threshold;
  image.bad.nonfinite_scores += std::isnan(score.value);
  image.bad.scores_out_of_range += out_of_range(score.value);
  image.bad.nonfinite_boxes += !finite(box);
  image.bad.nonfinite_boxes_over += over && !finite(box);
  image.bad.no_area += over && finite(box) && degenerate(box);
  image.bad.class_ties += over && score.tie;
  if (!(score.value > lowest)) return {};  // NaN as well
  if (!v.labels.empty()) {
    if (!lawful_label(spec, v.labels[index])) {
      image.bad.bad_labels += over;
      if (over && reference)
        return usage_error(subject_of(true, spec.labels),
                           v.labels[index] ? fmt::format("label {} of row {} has no class name", *v.labels[index], row)
                                           : fmt::format("the label of row {} is no whole number", row),
                           "declare the output that holds class ids, and all class names");
      return {};
    }
    score.label = *v.labels[index];
  }
  if (!degenerate(box)) image.boxes.push_back({row, score.label, score.value, box});
  return {};
}

}  // namespace

Result<SideRows> detection_rows(const DetectionSpec& spec, const Sample& sample, const RunInfo& info, bool reference,
                                double lowest) {
  PARITAS_ASSIGN(Values v, read_values(spec, sample, info, reference));
  const std::string score_subject = subject_of(reference, spec.scores);
  if (reference) PARITAS_TRY(check_scores(spec, v, score_subject));
  to_confidences(spec.score_values, v.layout.classes, v.scores.values);
  if (reference) PARITAS_TRY(check_background(spec, v, score_subject));
  SideRows side;
  side.classes = v.layout.classes;
  uint64_t first = 0;
  for (const uint64_t count : v.counts) {
    ImageRows image;
    for (uint64_t row = 0; row < count; ++row)
      PARITAS_TRY(read_row(spec, v, first + row, row, reference, lowest, image));
    first += count;
    sort_by_content(image.boxes);
    side.images.push_back(std::move(image));
  }
  return side;
}

}  // namespace paritas
