// Helpers of the tests in this folder.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "paritas/metrics/pair_metrics.h"
#include "paritas/tensor/float_formats.h"

namespace paritas::metrics {

template <class T>
Tensor vector_tensor(DType dtype, const std::vector<T>& values) {
  return tensor_from_values(dtype, {static_cast<int64_t>(values.size())}, values);
}

inline Tensor floats(const std::vector<float>& values) { return vector_tensor(DType::kF32, values); }
inline Tensor doubles(const std::vector<double>& values) { return vector_tensor(DType::kF64, values); }
inline Tensor halves(const std::vector<float>& values) {
  std::vector<uint16_t> bits;
  for (float v : values) bits.push_back(f16_from_float(v));
  return vector_tensor(DType::kF16, bits);
}

// Every figure, bit by bit.
inline std::string exact_text(const PairMetrics& m) {
  const NonfiniteCounts& n = m.nonfinite;
  std::string text =
      fmt::format("{} {} {} {} {} {} {} {} {} {} {}", m.count, m.finite, m.differing, n.nan_nan, n.nan_other,
                  n.same_inf, n.opposite_inf, n.inf_finite, n.device_only, n.reference_nan, m.max_abs_index);
  for (double v :
       {m.max_abs,        m.max_abs_reference, m.max_abs_device,    m.mean_abs,   m.mse,         m.rmse,
        m.nmse,           m.sqnr_db,           m.cosine_distance,   m.cosine,     m.scale_ratio, m.max_rel,
        m.reference_min,  m.reference_max,     m.reference_max_abs, m.device_min, m.device_max,  m.device_max_abs,
        m.reference_norm, m.error_norm,        m.worst_outside})
    text += fmt::format(" {:a}", v);
  text += fmt::format(" {} {} {} {}", m.zero_norm, m.max_ulp.value_or(77), m.max_integer_difference.value_or(77),
                      m.outside.value_or(77));
  if (m.abs_quantiles)
    for (double q : *m.abs_quantiles) text += fmt::format(" {:a}", q);
  if (m.storage)
    text += fmt::format(" {:a} {:a} {} {:a} {} {} {:a}", m.storage->max_abs, m.storage->rms, m.storage->overflowed,
                        m.storage->max_over_limit, m.storage->subnormal, m.storage->flushed, m.storage->lost_energy);
  return text;
}

}  // namespace paritas::metrics
