#include "paritas/metrics/figures.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "paritas/tensor/float_formats.h"

namespace paritas::metrics {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Between these no square of a value, nor of a difference down to its last place, leaves the range of doubles, and sums
// of 2^59 of them do not either. float32 and 64-bit integers always lie between.
constexpr double kLargest = 0x1p300;
constexpr double kSmallest = 0x1p-300;

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
void fill_norms(const BlockSums& sums, double scale, PairMetrics& m) {
  const double norm_x = std::sqrt(sums.reference2);
  const double norm_y = std::sqrt(sums.device2);
  const double n = static_cast<double>(m.finite);
  m.mean_abs = sums.abs / n / scale;
  m.mse = sums.difference2 / n / scale / scale;
  m.rmse = std::sqrt(sums.difference2 / n) / scale;
  m.reference_norm = norm_x / scale;
  m.error_norm = std::sqrt(sums.difference2) / scale;
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

// Doubles lose differences of long integers, and squares of tiny ones vanish: what differs must not read as 0.
void never_below_a_difference(PairMetrics& m) {
  if (m.max_integer_difference) m.max_abs = std::max(m.max_abs, static_cast<double>(*m.max_integer_difference));
  if (m.max_abs > 0 && m.mean_abs == 0) {  // lost in rounding: not known
    m.mean_abs = m.mse = m.rmse = m.nmse = m.sqnr_db = m.cosine_distance = m.cosine = kNaN;
    if (m.abs_quantiles) m.abs_quantiles->fill(m.max_abs);
  }
  if (m.max_abs > 0 && m.mse == 0) m.mse = std::numeric_limits<double>::denorm_min();
  if (m.abs_quantiles && m.max_abs < std::numeric_limits<double>::min()) m.abs_quantiles->fill(m.max_abs);
}

}  // namespace

double scale_for_sums(const Totals& totals) {
  const double largest = std::max(totals.reference.max_abs(), totals.device.max_abs());
  if (largest == 0 || (largest >= kSmallest && largest <= kLargest)) return 1;
  // Close to 1 / largest; its own reciprocal must be a normal number too.
  return std::ldexp(1.0, std::clamp(-std::ilogb(largest), -1021, 1021));
}

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
    m.storage = finish_storage(*options.storage_type, sums.storage, totals.storage, options.scale);
  if (totals.histogram) m.abs_quantiles = totals.histogram->quantiles(totals.max_abs);

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
  fill_norms(sums, options.scale, m);
  never_below_a_difference(m);
  return m;
}

}  // namespace paritas::metrics
