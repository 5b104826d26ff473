#include "paritas/task/values.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace paritas {
namespace {

Result<std::vector<double>> load(const Tensor& tensor) {
  PARITAS_ASSIGN(const TensorView view, TensorView::of(tensor));
  std::vector<double> values(view.count());
  load_as_double(view.dtype(), view.bytes(), 0, values);
  return values;
}

Status check_quantisation(const Quantisation& q, const Shape& shape, const std::string& subject) {
  const std::string wrong = "the quantisation does not fit";
  for (const double scale : q.scale)
    if (!(scale > 0) || !std::isfinite(scale))
      return input_error(subject, wrong + ": a scale is not a positive number");
  if (q.scale.empty()) return input_error(subject, wrong + ": it has no scale");
  if (!q.zero_point.empty() && q.zero_point.size() != q.scale.size())
    return input_error(subject,
                       fmt::format("{}: {} scales, but {} zero points", wrong, q.scale.size(), q.zero_point.size()));
  if (!q.axis && q.scale.size() != 1)
    return input_error(subject, fmt::format("{}: {} scales, but no axis", wrong, q.scale.size()));
  if (!q.axis) return {};
  const int rank = static_cast<int>(shape.size());
  const int axis = *q.axis < 0 ? *q.axis + rank : *q.axis;
  if (axis < 0 || axis >= rank || static_cast<uint64_t>(shape[axis]) != q.scale.size())
    return input_error(
        subject, fmt::format("{}: {} scales along axis {} of {}", wrong, q.scale.size(), *q.axis, to_string(shape)));
  return {};
}

void dequantise(const Quantisation& q, const Shape& shape, std::vector<double>& values) {
  uint64_t inner = 1;
  if (q.axis) {
    const auto axis = static_cast<size_t>(*q.axis < 0 ? *q.axis + static_cast<int>(shape.size()) : *q.axis);
    for (size_t d = axis + 1; d < shape.size(); ++d) inner *= static_cast<uint64_t>(shape[d]);
  }
  for (uint64_t i = 0; i < values.size(); ++i) {
    const uint64_t entry = q.axis ? i / inner % q.scale.size() : 0;
    const double zero = q.zero_point.empty() ? 0.0 : static_cast<double>(q.zero_point[entry]);
    values[i] = (values[i] - zero) * q.scale[entry];
  }
}

}  // namespace

Result<RealValues> real_values(const Tensor& tensor, const TensorInfo* info,
                               const std::optional<Quantisation>& declared, const std::string& subject) {
  if (tensor.dtype == DType::kBool) return input_error(subject, "it is bool, which holds no scores");
  RealValues real;
  real.shape = tensor.shape;
  const Quantisation* q = nullptr;
  if (is_integer(tensor.dtype)) {
    if (info != nullptr && info->quantisation) q = &*info->quantisation;
    if (q == nullptr && declared) q = &*declared;
    if (q == nullptr)
      return input_error(subject, fmt::format("it is {} without scale and zero point", name(tensor.dtype)),
                         "declare its quantisation: scale and zero_point");
    PARITAS_TRY(check_quantisation(*q, tensor.shape, subject));
  }
  PARITAS_ASSIGN(real.values, load(tensor));
  if (q != nullptr) {
    dequantise(*q, tensor.shape, real.values);
    real.step = *std::max_element(q->scale.begin(), q->scale.end());
  }
  return real;
}

Result<std::vector<std::optional<int64_t>>> whole_values(const Tensor& tensor, const std::string& subject) {
  if (tensor.dtype == DType::kBool) return input_error(subject, "it is bool, which holds no class ids");
  PARITAS_ASSIGN(const std::vector<double> values, load(tensor));
  std::vector<std::optional<int64_t>> whole(values.size());
  constexpr double kExact = 9007199254740992.0;  // 2^53: every whole number below it is a double
  for (size_t i = 0; i < values.size(); ++i)
    if (std::abs(values[i]) <= kExact && values[i] == std::nearbyint(values[i]))
      whole[i] = static_cast<int64_t>(values[i]);
  return whole;
}

const Tensor* find_tensor(const NamedTensors& tensors, const std::string& name) {
  for (const auto& [other, tensor] : tensors)
    if (other == name) return &tensor;
  return nullptr;
}

std::string list_names(const NamedTensors& tensors) {
  std::string list;
  for (const auto& [name, tensor] : tensors) list += (list.empty() ? "" : ", ") + name;
  return list.empty() ? "it holds no tensor" : "it has " + list;
}

}  // namespace paritas
