#include "paritas/task/intervals.h"

#include <algorithm>
#include <cmath>

namespace paritas {
namespace {

constexpr double kZ = 1.959963984540054;  // 97.5 % quantile of the normal distribution

}  // namespace

Json to_json(const Interval& interval) { return {json_number(interval.low), json_number(interval.high)}; }

Interval wilson(uint64_t successes, uint64_t trials) {
  if (trials == 0) return {};
  const double n = static_cast<double>(trials);
  const double p = static_cast<double>(successes) / n;
  const double scale = 1 + kZ * kZ / n;
  const double centre = (p + kZ * kZ / (2 * n)) / scale;
  const double half = kZ * std::sqrt(p * (1 - p) / n + kZ * kZ / (4 * n * n)) / scale;
  // At the ends the formula gives 0 and 1 up to rounding.
  return {successes == 0 ? 0.0 : std::max(0.0, centre - half),
          successes == trials ? 1.0 : std::min(1.0, centre + half)};
}

Interval paired_difference(uint64_t lost, uint64_t gained, uint64_t rows) {
  if (rows == 0) return {-1, 1};
  const double n = static_cast<double>(rows) + 2;
  const double b = static_cast<double>(lost) + 0.5, c = static_cast<double>(gained) + 0.5;
  const double difference = (b - c) / n;
  const double half = kZ * std::sqrt(std::max(0.0, (b + c) - (b - c) * (b - c) / n)) / n;
  return {std::max(-1.0, difference - half), std::min(1.0, difference + half)};
}

}  // namespace paritas
