// Figures of one pair of tensors, with what is known about their quantisation.
#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "paritas/compare/compare.h"
#include "paritas/recording/quantisation.h"

namespace paritas {
namespace {

// nullopt: the tensor counts as it is.
Result<std::optional<Affine>> known_affine(const std::optional<Quantisation>& q, const Tensor& tensor,
                                           const std::string& name) {
  if (!q || !is_integer(tensor.dtype)) return std::nullopt;
  return affine_of(*q, tensor.shape, name);
}

// Real values of 64-bit codes beyond 2^53 lose their last bits in double: a difference could vanish.
Status refuse_inexact(const Tensor& x, const std::optional<Affine>& a, const Tensor& y, const std::optional<Affine>& b,
                      const std::string& name) {
  const auto wide = [](const Tensor& t) { return t.dtype == DType::kI64 || t.dtype == DType::kU64; };
  if (!a && !b) return {};
  for (const Tensor* tensor : {&x, &y}) {
    if (!wide(*tensor)) continue;
    PARITAS_ASSIGN(const PairMetrics m, compare_tensors(*tensor, *tensor, {}));
    if (m.reference_max_abs >= 0x1p53)
      return input_error(name,
                         "holds quantised 64-bit integers beyond 2^53, which cannot be compared exactly as real values",
                         "compare the codes: leave the quantisation out");
  }
  return {};
}

bool same_codes(const Tensor& x, const Tensor& y, const std::optional<Affine>& a, const std::optional<Affine>& b) {
  if (x.dtype != y.dtype || !is_integer(x.dtype) || a.has_value() != b.has_value()) return false;
  return !a || (a->scale == b->scale && a->zero_point == b->zero_point && a->inner == b->inner);
}

// Float sides carry dequantised values that were rounded to float32: what is a whole number of steps but for that
// rounding counts as whole.
double snapped(double steps) {
  const double whole = std::nearbyint(steps);
  return std::fabs(steps - whole) <= 1e-4 ? whole : steps;
}

void fill_steps(const MetricOptions& options, PairMetrics& m) {
  const auto& a = options.reference_affine;
  const auto& b = options.device_affine;
  if (options.codes) {
    if (!m.codes) return;
    const double size = !a ? 1.0 : a->scale.size() == 1 ? a->scale[0] : NAN;  // per channel there is no one size
    m.steps = StepFigures{size, static_cast<double>(m.codes->max_step), m.codes->mean_step};
    return;
  }
  const auto& known = a ? a : b;
  if (!known || known->scale.size() != 1 || m.finite == 0) return;
  const double size = known->scale[0];
  m.steps = StepFigures{size, snapped(m.max_abs / size), m.mean_abs / size};
}

}  // namespace

Result<TensorComparison> compare_pair(const std::string& name, Role role, const Tensor& reference, const Tensor& device,
                                      MetricOptions options, const std::optional<Quantisation>& reference_quantisation,
                                      const std::optional<Quantisation>& device_quantisation) {
  TensorComparison pair;
  pair.name = name;
  pair.role = role;
  pair.pairing = "exact";
  pair.reference = SideInfo{reference.dtype, reference.shape};
  pair.device = SideInfo{device.dtype, device.shape};
  if (reference.shape != device.shape) {
    pair.status = PairStatus::kShapeDiffers;
    return pair;
  }
  PARITAS_ASSIGN(options.reference_affine, known_affine(reference_quantisation, reference, name));
  PARITAS_ASSIGN(options.device_affine, known_affine(device_quantisation, device, name));
  PARITAS_TRY(refuse_inexact(reference, options.reference_affine, device, options.device_affine, name));
  options.codes = same_codes(reference, device, options.reference_affine, options.device_affine);
  PARITAS_ASSIGN(pair.metrics, compare_tensors(reference, device, options));
  fill_steps(options, *pair.metrics);
  pair.notes = mistrust(*pair.metrics);
  return pair;
}

Result<TensorComparison> compare_pair(const std::string& name, Role role, const Tensor& reference, const Tensor& device,
                                      MetricOptions options) {
  return compare_pair(name, role, reference, device, std::move(options), std::nullopt, std::nullopt);
}

Result<bool> equal_bytes(const Tensor& a, const Tensor& b) {
  if (a.dtype != b.dtype || a.shape != b.shape || a.bytes.size() != b.bytes.size()) return false;
  std::vector<std::byte> x(1 << 20), y(1 << 20);
  for (uint64_t at = 0; at < a.bytes.size(); at += x.size()) {
    const auto n = static_cast<size_t>(std::min<uint64_t>(x.size(), a.bytes.size() - at));
    PARITAS_TRY(a.bytes.read(at, std::span(x).first(n)));
    PARITAS_TRY(b.bytes.read(at, std::span(y).first(n)));
    if (std::memcmp(x.data(), y.data(), n) != 0) return false;
  }
  return true;
}

}  // namespace paritas
