#include "paritas/task/portable_math.h"

#include <cmath>
#include <limits>

namespace paritas {
namespace {

// ln 2 in two parts: the upper one has 33 significant bits, so that its product with any exponent is exact.
constexpr double kLn2High = 0x1.62e42feep-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;

}  // namespace

double portable_exp(double x) {
  if (std::isnan(x)) return x;
  if (x > 709.79) return std::numeric_limits<double>::infinity();
  if (x < -745.2) return 0;
  const double k = std::nearbyint(x * 1.4426950408889634);
  const double r = (x - k * kLn2High) - k * kLn2Low;  // |r| <= 0.3466
  // Taylor's polynomial in Horner's form: the first term left out, r^15 / 15!, is below 1e-19.
  double sum = 1;
  for (int n = 14; n >= 1; --n) sum = 1 + r * sum / n;
  return std::ldexp(sum, static_cast<int>(k));
}

double portable_log(double x) {
  if (std::isnan(x) || x < 0) return std::numeric_limits<double>::quiet_NaN();
  if (x == 0) return -std::numeric_limits<double>::infinity();
  if (std::isinf(x)) return x;
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // [0.5, 1)
  if (m < 0.70710678118654752) {
    m *= 2;
    --exponent;
  }
  // log m = 2 atanh f, |f| <= 0.1716: the first term left out, f^25 / 25, is below 1e-20.
  const double f = (m - 1) / (m + 1);
  const double square = f * f;
  double series = 0;
  for (int n = 23; n >= 3; n -= 2) series = square * (1.0 / n + series);
  return exponent * kLn2High + (exponent * kLn2Low + 2 * (f + f * series));
}

}  // namespace paritas
