#include "paritas/weights/compare_weights.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "paritas/base/sha256.h"
#include "paritas/recording/quantisation.h"

namespace paritas {
namespace {

constexpr size_t kChunk = 65536;

std::string type_text(const Weight& weight) {
  std::string text(name(weight.tensor.dtype));
  if (!weight.quantisation) return text;
  if (weight.quantisation->scale.size() == 1) return text + " per tensor";
  return text + fmt::format(" per channel ({}, axis {})", weight.quantisation->scale.size(),
                            weight.quantisation->axis.value_or(0));
}

// Codes of the type, for saturation.
std::pair<double, double> limits(DType dtype) {
  const int n = bits(dtype);
  if (is_signed_integer(dtype)) return {-std::ldexp(1.0, n - 1), std::ldexp(1.0, n - 1) - 1};
  return {0, std::ldexp(1.0, n) - 1};
}

// One side, element by element: real value, and the quantisation of its channel.
class Reader {
 public:
  static Result<Reader> of(const Weight& weight) {
    Reader reader;
    PARITAS_ASSIGN(reader.view_, TensorView::of(weight.tensor));
    reader.dtype_ = weight.tensor.dtype;
    if (weight.quantisation) {
      PARITAS_ASSIGN(reader.affine_, affine_of(*weight.quantisation, weight.tensor.shape, weight.name));
    }
    return reader;
  }

  void load(uint64_t first, size_t count) {
    raw_.resize(count);
    load_as_double(view_->dtype(), view_->bytes(), first, raw_);
    first_ = first;
  }
  bool quantised() const { return affine_.has_value(); }
  size_t channel(size_t i) const {
    return affine_->scale.size() == 1 ? 0 : static_cast<size_t>((first_ + i) / affine_->inner % affine_->scale.size());
  }
  double scale(size_t i) const { return affine_->scale[channel(i)]; }
  double value(size_t i) const {
    return affine_ ? (raw_[i] - affine_->zero_point[channel(i)]) * affine_->scale[channel(i)] : raw_[i];
  }
  bool at_limit(size_t i, double wanted) const {
    const auto [low, high] = limits(dtype_);
    return (raw_[i] <= low && wanted < value(i)) || (raw_[i] >= high && wanted > value(i));
  }

 private:
  std::optional<TensorView> view_;
  DType dtype_ = DType::kF32;
  std::optional<Affine> affine_;
  std::vector<double> raw_;
  uint64_t first_ = 0;
};

// NaN against NaN is no difference: both files say the same.
bool equal(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

Status add_figures(const Weight& first, const Weight& second, WeightComparison& row) {
  PARITAS_ASSIGN(Reader a, Reader::of(first));
  PARITAS_ASSIGN(Reader b, Reader::of(second));
  // Two quantised files must hold the same values; rounding explains a difference only to a float one.
  const Reader* codes = a.quantised() == b.quantised() ? nullptr : a.quantised() ? &a : &b;
  double energy = 0, error = 0;
  for (uint64_t at = 0; at < row.elements; at += kChunk) {
    const size_t count = static_cast<size_t>(std::min<uint64_t>(kChunk, row.elements - at));
    a.load(at, count);
    b.load(at, count);
    for (size_t i = 0; i < count; ++i) {
      const double x = a.value(i), y = b.value(i), d = std::abs(x - y);
      energy += x * x;
      if (equal(x, y)) continue;
      ++row.differing;
      error += d * d;
      row.max_abs = std::isnan(d) ? std::numeric_limits<double>::infinity() : std::max(row.max_abs, d);
      const double steps = codes == nullptr ? std::numeric_limits<double>::infinity() : d / codes->scale(i);
      if (codes != nullptr && steps > row.max_steps) {
        row.max_steps = steps;
        if (row.second_type.find("per channel") != std::string::npos ||
            row.first_type.find("per channel") != std::string::npos)
          row.worst_channel = static_cast<int64_t>(codes->channel(i));
      }
      if (steps <= kHalfStep) continue;
      ++row.beyond;
      row.saturated += codes != nullptr && codes->at_limit(i, codes == &a ? y : x);
    }
  }
  row.sqnr_db = error == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(energy / error);
  row.status = row.differing == 0 ? WeightStatus::kEqual
               : row.beyond == 0  ? WeightStatus::kWithinHalfStep
                                  : WeightStatus::kDiffers;
  return {};
}

Result<WeightComparison> compare_pair(const Weight& first, const Weight& second) {
  WeightComparison row;
  row.name = first.name;
  row.shape = first.tensor.shape;
  row.first_type = type_text(first);
  row.second_type = type_text(second);
  row.reader = first.reader;
  row.elements = first.tensor.count();
  if (first.tensor.shape != second.tensor.shape) {
    row.status = WeightStatus::kShapeDiffers;
    return row;
  }
  PARITAS_TRY(add_figures(first, second, row));
  return row;
}

using Index = std::unordered_map<std::string, const Weight*>;
Result<Index> by_name(const Weights& weights) {
  Index index;
  for (const Weight& weight : weights.weights)
    if (!index.emplace(weight.name, &weight).second)
      return input_error(weights.subject, fmt::format("has two weights \"{}\"", weight.name));
  return index;
}

std::string sentence(const WeightsComparison& result) {
  std::map<WeightStatus, size_t> counts;
  for (const WeightComparison& row : result.weights) ++counts[row.status];
  uint64_t elements = 0, beyond = 0;
  for (const WeightComparison& row : result.weights) {
    elements += row.elements;
    beyond += row.beyond;
  }
  std::string text = fmt::format("{} weight{}: ", result.weights.size(), result.weights.size() == 1 ? "" : "s");
  bool first = true;
  for (const auto& [status, count] : counts) {
    text += fmt::format("{}{} {}", first ? "" : ", ", count, name(status));
    first = false;
  }
  if (beyond > 0) text += fmt::format("; {} of {} values are further away than half a step", beyond, elements);
  if (result.bounds > 0) text += fmt::format("; {} bounds of Clip are no weights and were not compared", result.bounds);
  if (!result.unread.empty()) text += fmt::format("; {} could not be read", result.unread.size());
  return text;
}

}  // namespace

std::string_view name(WeightStatus status) {
  switch (status) {
    case WeightStatus::kEqual:
      return "equal";
    case WeightStatus::kWithinHalfStep:
      return "within half a step";
    case WeightStatus::kDiffers:
      return "differ";
    case WeightStatus::kShapeDiffers:
      return "differ in shape";
    case WeightStatus::kOnlyFirst:
      return "only in the first";
    case WeightStatus::kOnlySecond:
      return "only in the second";
  }
  return "";
}

Result<WeightsComparison> compare_weights(const Path& first, const Path& second) {
  PARITAS_ASSIGN(const Weights a, weights_of(first));
  PARITAS_ASSIGN(const Weights b, weights_of(second));
  PARITAS_TRY(by_name(a));
  PARITAS_ASSIGN(Index left, by_name(b));
  WeightsComparison result;
  result.first = first.string();
  result.second = second.string();
  PARITAS_ASSIGN(result.first_sha256, sha256_of_file(first));
  PARITAS_ASSIGN(result.second_sha256, sha256_of_file(second));
  result.unread = a.unread;
  result.bounds = a.bounds.size() + b.bounds.size();
  result.unread.insert(result.unread.end(), b.unread.begin(), b.unread.end());
  for (const Weight& weight : a.weights) {
    const auto found = left.find(weight.name);
    if (found == left.end()) {
      result.weights.push_back({weight.name, WeightStatus::kOnlyFirst, weight.tensor.shape, type_text(weight), "",
                                weight.reader, weight.tensor.count()});
      continue;
    }
    PARITAS_ASSIGN(WeightComparison row, compare_pair(weight, *found->second));
    result.weights.push_back(std::move(row));
    left.erase(found);
  }
  for (const Weight& weight : b.weights)
    if (left.count(weight.name) != 0)
      result.weights.push_back({weight.name, WeightStatus::kOnlySecond, weight.tensor.shape, "", type_text(weight),
                                weight.reader, weight.tensor.count()});
  result.same = !result.weights.empty() && result.unread.empty() &&
                std::all_of(result.weights.begin(), result.weights.end(), [](const WeightComparison& row) {
                  return row.status == WeightStatus::kEqual || row.status == WeightStatus::kWithinHalfStep;
                });
  result.text = sentence(result);
  return result;
}

}  // namespace paritas
