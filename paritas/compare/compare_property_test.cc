// What must hold for any data: no verdict "pass" beside an element that its gate forbids.
#include <cmath>
#include <limits>
#include <optional>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "paritas/compare/compare.h"
#include "paritas/compare/test_streams.h"

namespace paritas {
namespace {

rc::Gen<float> any_float() {
  const float inf = std::numeric_limits<float>::infinity();
  return rc::gen::weightedOneOf<float>(
      {{20, rc::gen::map(rc::gen::inRange(-1000, 1000), [](int i) { return static_cast<float>(i) / 8; })},
       {1, rc::gen::element(inf, -inf, std::numeric_limits<float>::quiet_NaN(), 0.0F, -0.0F, 1e-40F, 3e38F)}});
}

CompareResult judged(const std::vector<float>& x, const std::vector<float>& y, const std::string& gate) {
  MemoryStream reference("ref"), device("dev");
  reference.output("a", x);
  device.output("a", y);
  CompareOptions options;
  options.inputs_unverified = true;
  options.gates.gates.push_back(parse_gate(gate).value());
  return compare_streams(reference, device, options).value();
}

// Pairs: the device's values are the reference's, some of them replaced.
std::pair<std::vector<float>, std::vector<float>> pairs() {
  const auto x = *rc::gen::nonEmpty(rc::gen::container<std::vector<float>>(any_float()));
  auto y = x;
  const auto changed = *rc::gen::container<std::vector<size_t>>(rc::gen::inRange<size_t>(0, x.size()));
  for (const size_t i : changed) y[i] = *any_float();
  return {x, y};
}

// Element by element and in double, as a reader of the gate would do it by hand.
bool allowed(float x, float y, double tolerance) {
  if (std::isinf(x) && x == y) return true;
  return std::isfinite(x) && std::isfinite(y) && std::abs(static_cast<double>(y) - x) <= tolerance;
}

RC_GTEST_PROP(CompareProperty, NoPassBesideAnElementBeyondMaxAbs, ()) {
  const auto [x, y] = pairs();
  bool all_allowed = true, any_finite = false;
  for (size_t i = 0; i < x.size(); ++i) {
    all_allowed &= allowed(x[i], y[i], 0.5);
    any_finite |= std::isfinite(x[i]) && std::isfinite(y[i]);
  }
  const CompareResult result = judged(x, y, "a: max_abs<=0.5");
  RC_ASSERT((result.verdict == Verdict::kPass) == (all_allowed && any_finite));
}

RC_GTEST_PROP(CompareProperty, NoPassBesideAnElementOutsideItsTolerance, ()) {
  const auto [x, y] = pairs();
  bool all_allowed = true;
  for (size_t i = 0; i < x.size(); ++i)
    all_allowed &= allowed(x[i], y[i], 0.25 + 0.125 * std::abs(static_cast<double>(x[i])));
  const CompareResult result = judged(x, y, "a: outside<=0, atol=0.25, rtol=0.125");
  RC_ASSERT((result.verdict == Verdict::kPass) == all_allowed);
}

RC_GTEST_PROP(CompareProperty, DifferingInputsNeverPass, ()) {
  const auto [x, y] = pairs();
  bool equal = true;
  for (size_t i = 0; i < x.size(); ++i) equal &= x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]));
  MemoryStream reference("ref"), device("dev");
  reference.input("x", x).output("a", {1});
  device.input("x", y).output("a", {1});
  CompareOptions options;
  options.gates.gates.push_back(parse_gate("*: max_abs<=1e30").value());
  RC_ASSERT((compare_streams(reference, device, options)->verdict == Verdict::kPass) == equal);
}

}  // namespace
}  // namespace paritas
