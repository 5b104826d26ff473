#include "paritas/metrics/figures.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "paritas/tensor/float_formats.h"

namespace paritas::metrics {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Differences of long integers that doubles lost are in the lowest bin of the histogram, beside those that are zero;
// they read as this until fill_wide adds what they can be.
constexpr double kLost = 0x1p-149;
double ratio(double numerator, double denominator, double both_zero) {
  if (denominator != 0) return numerator / denominator;
  return numerator == 0 ? both_zero : kInfinity;
}

// Two forms of one figure. The difference form keeps all digits of a small angle, where the other leaves 1 - (1 -
// 1e-16). But its error is that of d^2 relative to 2 |x| |y|, which is unbounded when one side is much longer than the
// other.
double cosine_distance(const BlockSums& sums, double norm_x, double norm_y) {
  const double product = norm_x * norm_y;
  const double apart = norm_x - norm_y;
  const double distance =
      sums.difference2 <= 2 * product ? (sums.difference2 - apart * apart) / (2 * product) : 1 - sums.product / product;
  return std::clamp(distance, 0.0, 2.0);
}

// Distances and angles between the two sides from the sums of squares.
void fill_norms(const BlockSums& sums, PairMetrics& m) {
  const double norm_x = std::sqrt(sums.reference2);
  const double norm_y = std::sqrt(sums.device2);
  const double n = static_cast<double>(m.finite);
  m.mean_abs = sums.abs / n;
  m.mse = sums.difference2 / n;
  m.rmse = std::sqrt(m.mse);
  m.reference_norm = norm_x;
  m.error_norm = std::sqrt(sums.difference2);
  m.nmse = ratio(sums.difference2, sums.reference2, 0);
  m.sqnr_db = -10 * std::log10(m.nmse);
  m.scale_ratio = ratio(norm_y, norm_x, 1);
  if (norm_x == 0 || norm_y == 0) {
    m.zero_norm = norm_x != norm_y;
    m.cosine_distance = m.zero_norm ? 1 : 0;
  } else {
    m.cosine_distance = cosine_distance(sums, norm_x, norm_y);
  }
  m.cosine = 1 - m.cosine_distance;
}

// Nothing was compared: no figure may look like a good one.
void fill_nothing_finite(PairMetrics& m) {
  for (double* figure :
       {&m.max_abs, &m.max_abs_reference, &m.max_abs_device, &m.mean_abs, &m.mse, &m.rmse, &m.nmse, &m.sqnr_db,
        &m.cosine_distance, &m.cosine, &m.scale_ratio, &m.max_rel, &m.reference_norm, &m.error_norm})
    *figure = kNaN;
}

void fill_range(const Range& range, double& min, double& max, double& max_abs) {
  if (!range.any) return;
  min = range.min + 0.0;  // -0 becomes 0, which the fast way reports
  max = range.max + 0.0;
  max_abs = range.max_abs();
}

// A figure that is not zero never reads as zero.
double to_double(Scaled s) {
  const double value = std::ldexp(s.value, s.exponent);
  return value == 0 && s.value > 0 ? std::numeric_limits<double>::denorm_min() : value;
}

Scaled over(Scaled numerator, double n) { return {numerator.value / n, numerator.exponent}; }

// Exponents of sums of squares are even.
Scaled root(Scaled s) { return {std::sqrt(s.value), s.exponent / 2}; }

double ratio(Scaled numerator, Scaled denominator, double both_zero) {
  if (denominator.value == 0) return numerator.value == 0 ? both_zero : kInfinity;
  return to_double({numerator.value / denominator.value, numerator.exponent - denominator.exponent});
}

double sqnr_db(Scaled difference2, Scaled reference2) {
  if (difference2.value == 0) return kInfinity;
  if (reference2.value == 0) return -kInfinity;
  const int exponent = difference2.exponent - reference2.exponent;
  return -10 * (std::log10(difference2.value / reference2.value) + exponent * std::log10(2.0));
}

// Both forms of cosine_distance, with everything in units of 2^exponent of |x| |y|.
double wide_cosine_distance(const WideSums& sums, Scaled norm_x, Scaled norm_y) {
  const int exponent = norm_x.exponent + norm_y.exponent;
  const double product = norm_x.value * norm_y.value;
  const auto in_units = [&](Scaled s) { return std::ldexp(s.value, s.exponent - exponent); };
  const double difference2 = in_units(sums.difference2.total());
  double distance = 1 - in_units(sums.product.total()) / product;
  if (difference2 <= 2 * product) {  // the norms are of about one size
    const int half = (norm_x.exponent - norm_y.exponent) / 2;
    const double apart = std::ldexp(norm_x.value, half) - std::ldexp(norm_y.value, -half);
    distance = (difference2 - apart * apart) / (2 * product);
  }
  return std::clamp(distance, 0.0, 2.0);
}

void fill_wide_norms(const WideSums& sums, PairMetrics& m) {
  const double n = static_cast<double>(m.finite);
  const Scaled difference2 = sums.difference2.total(), reference2 = sums.reference2.total();
  const Scaled norm_x = root(reference2), norm_y = root(sums.device2.total());
  m.mean_abs = to_double(over(sums.abs.total(), n));
  m.mse = to_double(over(difference2, n));
  m.rmse = to_double(root(over(difference2, n)));
  m.reference_norm = to_double(norm_x);
  m.error_norm = to_double(root(difference2));
  m.nmse = ratio(difference2, reference2, 0);
  m.sqnr_db = sqnr_db(difference2, reference2);
  m.scale_ratio = ratio(norm_y, norm_x, 1);
  const bool zero_x = norm_x.value == 0, zero_y = norm_y.value == 0;
  m.zero_norm = zero_x != zero_y;
  m.cosine_distance = zero_x || zero_y ? (m.zero_norm ? 1 : 0) : wide_cosine_distance(sums, norm_x, norm_y);
  m.cosine = 1 - m.cosine_distance;
}

// Differing finite pairs; the others have a difference of zero.
uint64_t zero_differences(const Totals& totals) {
  const NonfiniteCounts& n = totals.nonfinite;
  return totals.finite + n.nan_other + n.opposite_inf + n.inf_finite - totals.differing;
}

}  // namespace

PairMetrics figures(DType reference, DType device, uint64_t count, const PassOptions& options, const BlockSums& sums,
                    const Totals& totals) {
  PairMetrics m;
  m.count = count;
  m.finite = totals.finite;
  m.differing = totals.differing;
  m.nonfinite = totals.nonfinite;
  fill_range(totals.reference, m.reference_min, m.reference_max, m.reference_max_abs);
  fill_range(totals.device, m.device_min, m.device_max, m.device_max_abs);
  const bool real = options.reference_affine || options.device_affine;
  m.reference_zeros = totals.reference_zeros;
  m.device_zeros = totals.device_zeros;
  if (!is_float(reference) && !is_float(device) && !real) m.max_integer_difference = totals.max_integer_difference;
  if (options.count_outside) {
    m.outside = totals.outside;
    m.worst_outside = totals.worst_outside;
    m.outside_atol = options.atol;
    m.outside_rtol = options.rtol;
  }
  if (options.storage_type && is_float(reference))
    m.storage = finish_storage(*options.storage_type, sums.storage, totals.storage);
  if (totals.histogram) {
    const double most = std::max(totals.max_abs, exact_integers(reference, device, options) ? kLost : 0);
    m.abs_quantiles = totals.histogram->quantiles(most, zero_differences(totals));
  }

  const bool floats = is_float(reference) && is_float(device);
  if (floats) m.epsilon = epsilon(coarser(reference, device));
  if (floats && (totals.finite > 0 || count == 0)) m.max_ulp = totals.max_ulp;
  if (totals.finite == 0) {
    if (count > 0) fill_nothing_finite(m);
    return m;
  }
  m.max_abs = totals.max_abs;
  m.max_abs_index = totals.max_abs_index;
  m.max_abs_reference = totals.max_abs_reference;
  m.max_abs_device = totals.max_abs_device;
  m.max_rel = totals.max_rel;
  fill_norms(sums, m);
  return m;
}

void fill_wide(DType reference, DType device, const PassOptions& options, const WideSums& sums, const WideTotals& wide,
               const Totals& totals, PairMetrics& m) {
  if (m.storage) {
    const Scaled error2 = sums.storage.error2.total();
    m.storage->rms =
        totals.storage.held == 0 ? 0 : to_double(root(over(error2, static_cast<double>(totals.storage.held))));
    m.storage->lost_energy = ratio(sums.storage.lost2.total(), sums.storage.reference2.total(), 0);
  }
  if (m.finite == 0) return;
  m.max_abs = wide.max_abs * wide.max_abs_unit;
  m.max_abs_index = wide.max_abs_index;
  m.max_abs_reference = wide.max_abs_reference;
  m.max_abs_device = wide.max_abs_device;
  m.max_rel = wide.max_rel;
  if (m.outside && !exact_integers(reference, device, options)) {
    m.outside = wide.outside;
    m.worst_outside = wide.worst_outside;
  }
  fill_wide_norms(sums, m);
  // The histogram holds differences of rounded integers, each off by half a last place of either value.
  if (m.abs_quantiles && exact_integers(reference, device, options)) {
    const double largest = std::max(m.reference_max_abs, m.device_max_abs);
    const double off = std::ldexp(1.0, std::ilogb(largest) - (std::numeric_limits<double>::digits - 1));
    for (double& quantile : *m.abs_quantiles)
      if (quantile > 0) quantile = std::min(quantile + off, m.max_abs);
  }
}

}  // namespace paritas::metrics
