#include "paritas/task/classification.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "paritas/task/portable_math.h"
#include "paritas/task/values.h"

namespace paritas {
namespace {

// How far the sum of a row of probabilities may be from 1. Softmax kernels of accelerators are off by up to 2e-3; no
// row of logits comes this close by chance and without a negative value.
constexpr double kSumTolerance = 0.01;
// A float row that should be logits and sums to 1 this closely is softmax output.
constexpr double kLooksLikeProbabilities = 1e-3;

struct Layout {
  uint64_t rows = 0;
  uint64_t classes = 0;
};

Result<Layout> layout_of(const ClassificationSpec& spec, const Shape& shape, const std::string& subject) {
  const int64_t rank = static_cast<int64_t>(shape.size());
  const int64_t axis = spec.axis < 0 ? spec.axis + rank : spec.axis;
  if (axis < 0 || axis >= rank)
    return usage_error(subject, fmt::format("axis {} is not a dimension of {}", spec.axis, to_string(shape)),
                       "declare the dimension of the classes");
  Layout layout{1, static_cast<uint64_t>(shape[static_cast<size_t>(axis)])};
  for (int64_t d = 0; d < axis; ++d) layout.rows *= static_cast<uint64_t>(shape[static_cast<size_t>(d)]);
  for (int64_t d = axis + 1; d < rank; ++d)
    if (shape[static_cast<size_t>(d)] != 1)
      return usage_error(subject, fmt::format("the classes of {} are not along its last dimension", to_string(shape)),
                         "only dimensions of 1 may follow \"axis\"");
  if (layout.classes < 2)
    return usage_error(subject,
                       fmt::format("{} has {} class along axis {}: its probability is always the same",
                                   to_string(shape), layout.classes, spec.axis),
                       "declare the dimension of the classes as \"axis\"");
  if (!spec.class_names.empty() && spec.class_names.size() != layout.classes)
    return usage_error(subject, fmt::format("{} class names are declared, but {} has {} classes",
                                            spec.class_names.size(), to_string(shape), layout.classes));
  return layout;
}

uint64_t digest(std::span<const double> values) {
  uint64_t hash = 14695981039346656037U;  // FNV-1a over 64-bit words
  for (const double value : values) hash = (hash ^ std::bit_cast<uint64_t>(value)) * 1099511628211U;
  return hash;
}

struct Distribution {
  RowFault fault = RowFault::kNone;
  std::vector<double> probability;
  std::vector<double> log_probability;  // -inf where the probability is 0
};

Distribution softmax(std::span<const double> logits) {
  Distribution d;
  double highest = -INFINITY;
  for (const double value : logits) {
    if (std::isnan(value) || value == INFINITY) d.fault = RowFault::kNonfinite;
    highest = std::max(highest, value);
  }
  if (highest == -INFINITY) d.fault = RowFault::kNonfinite;
  if (d.fault != RowFault::kNone) return d;
  double sum = 0;
  for (const double value : logits) {
    d.probability.push_back(portable_exp(value - highest));
    sum += d.probability.back();
  }
  const double log_sum = portable_log(sum);
  for (size_t i = 0; i < logits.size(); ++i) {
    d.probability[i] /= sum;
    d.log_probability.push_back(logits[i] - highest - log_sum);
  }
  return d;
}

Distribution as_probabilities(std::span<const double> values, double step) {
  Distribution d;
  double sum = 0;
  bool in_range = true;
  for (const double value : values) {
    if (!std::isfinite(value)) d.fault = RowFault::kNonfinite;
    sum += value;
    in_range &= value >= -std::max(1e-6, step / 2) && value <= 1 + kSumTolerance + step / 2;
  }
  if (d.fault != RowFault::kNone) return d;
  // Each quantised value may be off by half a step.
  const double tolerance = kSumTolerance + step / 2 * static_cast<double>(values.size());
  if (!in_range || std::abs(sum - 1) > tolerance) {
    d.fault = RowFault::kNoDistribution;
    return d;
  }
  d.probability.assign(values.begin(), values.end());
  for (const double value : values) d.log_probability.push_back(value > 0 ? portable_log(value) : -INFINITY);
  return d;
}

Distribution distribution(const ClassificationSpec& spec, std::span<const double> values, double step) {
  return spec.values == ClassValues::kLogits ? softmax(values) : as_probabilities(values, step);
}

bool looks_like_probabilities(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) {
    if (!(value >= 0 && value <= 1)) return false;
    sum += value;
  }
  return std::abs(sum - 1) <= kLooksLikeProbabilities;
}

// Sum of p ln(p/q) - p + q: the usual divergence where both sum to 1, and never negative where they do not quite.
double kl_divergence(const Distribution& reference, const Distribution& device) {
  double sum = 0;
  for (size_t i = 0; i < reference.probability.size(); ++i) {
    const double p = reference.probability[i], q = device.probability[i];
    if (p > 0) sum += p * (reference.log_probability[i] - device.log_probability[i]) - p;
    sum += q;
  }
  return std::max(0.0, sum);
}

void fill_side(std::span<const double> values, const Distribution& d, uint64_t k, std::optional<int64_t> label,
               ClassificationSide& side, RankGroups& first, RankGroups& groups) {
  side.fault = d.fault;
  side.digest = digest(values);
  if (label) side.hit = LabelHit::kWrong;
  if (d.fault != RowFault::kNone) return;
  first = rank_groups(values, 1);
  groups = rank_groups(values, k);
  side.constant = first[0].size() == values.size();
  side.first = first[0];
  for (const auto& group : groups)
    for (const int64_t c : group)
      if (side.top.size() < k) side.top.push_back({c, d.probability[static_cast<size_t>(c)]});
  if (side.constant) {
    side.first.resize(1);
    return;  // it answers nothing, so it is not right either
  }
  if (label && std::find(side.first.begin(), side.first.end(), *label) != side.first.end())
    side.hit = side.first.size() == 1 ? LabelHit::kRight : LabelHit::kTied;
}

void compare_distributions(const Distribution& reference, const Distribution& device, ClassificationRow& row) {
  double sum = 0;
  for (size_t i = 0; i < reference.probability.size(); ++i) {
    const double difference = std::abs(device.probability[i] - reference.probability[i]);
    sum += difference;
    if (difference > row.max_probability_difference) {
      row.max_probability_difference = difference;
      row.max_probability_difference_class = static_cast<int64_t>(i);
    }
  }
  row.mean_probability_difference = sum / static_cast<double>(row.classes);
  const auto top = static_cast<size_t>(row.reference.top.front().class_index);
  row.first_probability_difference = std::abs(device.probability[top] - reference.probability[top]);
  row.kl_divergence = kl_divergence(reference, device);
}

struct Sides {
  RealValues reference, device;
};

ClassificationRow classify_row(const ClassificationSpec& spec, const Sides& sides, uint64_t index, uint64_t classes,
                               std::optional<int64_t> label) {
  const std::span<const double> x(sides.reference.values.data() + index * classes, classes);
  const std::span<const double> y(sides.device.values.data() + index * classes, classes);
  ClassificationRow row;
  row.row = index;
  row.classes = classes;
  row.label = label;
  const auto k = static_cast<uint64_t>(spec.k);
  const Distribution reference = distribution(spec, x, sides.reference.step);
  const Distribution device = distribution(spec, y, sides.device.step);
  RankGroups first_x, first_y, groups_x, groups_y;
  fill_side(x, reference, k, label, row.reference, first_x, groups_x);
  fill_side(y, device, k, label, row.device, first_y, groups_y);
  for (uint64_t i = 0; i < classes; ++i) row.device_only_infinite += std::isfinite(x[i]) && y[i] == -INFINITY;
  if (reference.fault != RowFault::kNone || device.fault != RowFault::kNone) return row;
  if (row.reference.constant && row.device.constant) {
    row.top1 = row.topk = Agreement::kUndecided;  // two outputs that say nothing do not agree
  } else {
    row.top1 = same_top_set(first_x, first_y, 1);
    row.topk = same_top_set(groups_x, groups_y, k);
    row.same_order = groups_x == groups_y;
  }
  compare_distributions(reference, device, row);
  return row;
}

Status check_declaration(const ClassificationSpec& spec, const RealValues& reference, const Layout& layout,
                         const std::string& subject) {
  bool probabilities = true, fractions = false;
  for (uint64_t r = 0; r < layout.rows; ++r) {
    const std::span<const double> row(reference.values.data() + r * layout.classes, layout.classes);
    probabilities &= looks_like_probabilities(row);
    for (const double value : row) fractions |= value > 0 && value < 1;
    if (spec.values == ClassValues::kProbabilities &&
        as_probabilities(row, reference.step).fault == RowFault::kNoDistribution)
      return usage_error(subject,
                         fmt::format("row {} does not hold probabilities: they are negative, or do not sum to 1", r),
                         "declare values = \"logits\" if no softmax was applied");
  }
  // A second softmax would flatten every difference. Rows of zeros with a single one may well be logits.
  if (spec.values == ClassValues::kLogits && probabilities && fractions)
    return usage_error(subject, "it is declared as logits, but every row is already a distribution that sums to 1",
                       "declare values = \"probabilities\"");
  return {};
}

std::string output_subject(const ClassificationSpec& spec, std::string_view side) {
  return fmt::format("{} output \"{}\"", side, spec.output);
}

}  // namespace

std::string_view name(LabelHit hit) {
  switch (hit) {
    case LabelHit::kRight:
      return "right";
    case LabelHit::kTied:
      return "tied";
    case LabelHit::kWrong:
      return "wrong";
  }
  return "wrong";
}

Result<ClassificationSample> classify_sample(const ClassificationSpec& spec, const Sample& reference,
                                             const RunInfo& reference_info, const Sample& device,
                                             const RunInfo& device_info, std::span<const int64_t> labels) {
  const std::string subject = output_subject(spec, "reference");
  const Tensor* x = find_tensor(reference.tensors, spec.output);
  if (x == nullptr)
    return usage_error(subject, fmt::format("{} does not hold it", reference.id), list_names(reference.tensors));
  Sides sides;
  PARITAS_ASSIGN(sides.reference, real_values(*x, reference_info.find(spec.output), spec.quantisation, subject));
  PARITAS_ASSIGN(const Layout layout, layout_of(spec, x->shape, subject));
  PARITAS_TRY(check_declaration(spec, sides.reference, layout, subject));
  if (!labels.empty() && labels.size() != layout.rows)
    return usage_error(subject, fmt::format("{} labels for {} rows of {}", labels.size(), layout.rows, reference.id));
  for (const int64_t label : labels)
    if (label < 0 || static_cast<uint64_t>(label) >= layout.classes)
      return usage_error(subject, fmt::format("label {} is not one of {} classes", label, layout.classes));

  ClassificationSample result;
  const Tensor* y = find_tensor(device.tensors, spec.output);
  if (y == nullptr || y->shape != x->shape) {
    result.issues.push_back(
        {Verdict::kDeviates, y == nullptr
                                 ? fmt::format("{}: the device has no output \"{}\"", reference.id, spec.output)
                                 : fmt::format("{}: \"{}\" is {} on the reference, {} on the device", reference.id,
                                               spec.output, to_string(x->shape), to_string(y->shape))});
    return result;
  }
  PARITAS_ASSIGN(sides.device,
                 real_values(*y, device_info.find(spec.output), spec.quantisation, output_subject(spec, "device")));
  for (uint64_t r = 0; r < layout.rows; ++r) {
    const std::optional<int64_t> label = labels.empty() ? std::nullopt : std::optional<int64_t>(labels[r]);
    result.rows.push_back(classify_row(spec, sides, r, layout.classes, label));
    result.rows.back().sample = reference.id;
  }
  return result;
}

Result<ClassificationResult> check_classification(const ClassificationSpec& spec, SampleStream& reference,
                                                  SampleStream& device, std::span<const int64_t> labels) {
  std::vector<ClassificationSample> samples;
  size_t used = 0;
  for (uint64_t i = 0; i < std::min(reference.sample_count(), device.sample_count()); ++i) {
    PARITAS_ASSIGN(const Sample x, reference.sample(i));
    PARITAS_ASSIGN(const Sample y, device.sample(i));
    std::span<const int64_t> own;
    if (!labels.empty()) {
      const Tensor* tensor = find_tensor(x.tensors, spec.output);
      uint64_t rows = 0;
      if (tensor != nullptr) {
        PARITAS_ASSIGN(const Layout layout, layout_of(spec, tensor->shape, output_subject(spec, "reference")));
        rows = layout.rows;
      }
      if (labels.size() - used < rows)
        return usage_error(output_subject(spec, "reference"), fmt::format("{} labels are too few", labels.size()),
                           "give one label for each row of each sample");
      own = labels.subspan(used, rows);
      used += rows;
    }
    PARITAS_ASSIGN(ClassificationSample sample, classify_sample(spec, x, reference.info(), y, device.info(), own));
    samples.push_back(std::move(sample));
  }
  const bool unpaired = reference.sample_count() != device.sample_count();
  if (used != labels.size() && !unpaired)
    return usage_error(output_subject(spec, "reference"),
                       fmt::format("{} labels were given, but the samples have {} rows", labels.size(), used),
                       "give one label for each row of each sample");
  if (unpaired) {
    samples.emplace_back();
    samples.back().issues.push_back(
        {Verdict::kInvalid, fmt::format("the reference has {} samples, the device {}: they cannot be paired",
                                        reference.sample_count(), device.sample_count())});
  }
  ClassificationResult result = conclude_classification(spec, std::move(samples));
  result.samples = std::min(reference.sample_count(), device.sample_count());
  return result;
}

}  // namespace paritas
