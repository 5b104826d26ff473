#include "paritas/task/values.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "paritas/recording/quantisation.h"

namespace paritas {
namespace {

Result<std::vector<double>> load(const Tensor& tensor) {
  PARITAS_ASSIGN(const TensorView view, TensorView::of(tensor));
  std::vector<double> values(view.count());
  load_as_double(view.dtype(), view.bytes(), 0, values);
  return values;
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
  }
  if (q == nullptr) {
    PARITAS_ASSIGN(real.values, load(tensor));
    return real;
  }
  PARITAS_ASSIGN(const Affine affine, affine_of(*q, tensor.shape, subject));
  PARITAS_ASSIGN(real.values, load(tensor));
  dequantise(affine, 0, real.values);
  real.step = *std::max_element(affine.scale.begin(), affine.scale.end());
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
