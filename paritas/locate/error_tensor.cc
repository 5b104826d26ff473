#include "paritas/locate/error_tensor.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "paritas/tensor/float_formats.h"

namespace paritas {
namespace {

template <class T, class Convert>
Tensor narrowed(const Tensor& like, const std::vector<double>& values, Convert convert) {
  std::vector<T> out(values.size());
  std::transform(values.begin(), values.end(), out.begin(), convert);
  return tensor_from_values(like.dtype, like.shape, out);
}

Tensor in_type_of(const Tensor& like, const std::vector<double>& values) {
  switch (like.dtype) {
    case DType::kF64:
      return narrowed<double>(like, values, [](double v) { return v; });
    case DType::kF16:
      return narrowed<uint16_t>(like, values, [](double v) { return f16_from_float(static_cast<float>(v)); });
    case DType::kBF16:
      return narrowed<uint16_t>(like, values, [](double v) { return bf16_from_float(static_cast<float>(v)); });
    default:
      return narrowed<float>(like, values, [](double v) { return static_cast<float>(v); });
  }
}

Result<std::vector<double>> values_of(const Tensor& tensor) {
  PARITAS_ASSIGN(const TensorView view, TensorView::of(tensor));
  std::vector<double> values(view.count());
  load_as_double(view.dtype(), view.bytes(), 0, values);
  return values;
}

// other - reference, element by element.
void subtract(const std::vector<double>& reference, std::vector<double>& other, double factor) {
  for (size_t i = 0; i < other.size(); ++i)
    other[i] = reference[i] == other[i] || std::isnan(reference[i]) ? 0.0 : factor * (other[i] - reference[i]);
}

}  // namespace

Result<Tensor> error_of(const Tensor& reference, const Tensor& device, std::optional<DType> storage, double factor) {
  PARITAS_ASSIGN(const auto x, values_of(reference));
  PARITAS_ASSIGN(auto y, values_of(device));
  if (x.size() != y.size()) return runtime_error("", "the device's tensor has another number of elements");
  // Values beyond the type's range stay as the device gave them: it knows best how far its range reaches.
  if (storage)
    for (double& value : y)
      if (std::abs(value) <= max_finite(*storage)) value = round_to_format(value, *storage);
  subtract(x, y, factor);
  return in_type_of(reference, y);
}

Result<Tensor> rounding_error(const Tensor& reference, DType format) {
  PARITAS_ASSIGN(const auto x, values_of(reference));
  std::vector<double> y(x.size());
  round_to_format(std::span<const double>(x), std::span(y), format, Overflow::kInfinity);
  subtract(x, y, 1);
  return in_type_of(reference, y);
}

Result<Tensor> noise(const Tensor& reference, double nmse, uint64_t seed) {
  PARITAS_ASSIGN(auto values, values_of(reference));
  double energy = 0;
  size_t finite = 0;
  for (const double value : values)
    if (std::isfinite(value)) {
      energy += value * value;
      ++finite;
    }
  const double sigma = finite == 0 ? 0 : std::sqrt(nmse * energy / static_cast<double>(finite));
  std::mt19937_64 random(seed);
  const auto uniform = [&] { return (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53; };  // never 0
  for (size_t i = 0; i < values.size(); i += 2) {
    const double radius = sigma * std::sqrt(-2 * std::log(uniform()));
    const double angle = 2 * std::numbers::pi * uniform();
    values[i] = radius * std::cos(angle);
    if (i + 1 < values.size()) values[i + 1] = radius * std::sin(angle);
  }
  return in_type_of(reference, values);
}

Result<Tensor> offset(const Tensor& reference, double value) {
  return in_type_of(reference, std::vector<double>(reference.count(), value));
}

}  // namespace paritas
