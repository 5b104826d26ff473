// For tests: two streams in memory, compared under gates as text.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "paritas/compare/compare.h"
#include "paritas/compare/test_streams.h"

namespace paritas {

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInf = std::numeric_limits<float>::infinity();

inline GateSet gate_set(const std::vector<std::string>& texts, NonfinitePolicy policy = NonfinitePolicy::kSameInf) {
  GateSet set;
  for (const std::string& text : texts) set.gates.push_back(parse_gate(text).value());
  set.nonfinite = policy;
  return set;
}

// Most of these tests are about outputs: unrecorded inputs may count as equal.
inline CompareResult compare(MemoryStream& reference, MemoryStream& device, GateSet gates = {},
                             bool inputs_unverified = true) {
  CompareOptions options;
  options.inputs_unverified = inputs_unverified;
  options.gates = std::move(gates);
  options.threads = 2;
  auto result = compare_streams(reference, device, options);
  EXPECT_TRUE(result) << result.error().message();
  return result.value();
}

class CompareFixture : public ::testing::Test {
 protected:
  CompareResult run(const std::vector<std::string>& gates = {}, NonfinitePolicy policy = NonfinitePolicy::kSameInf) {
    return compare(reference_, device_, gate_set(gates, policy));
  }
  MemoryStream reference_{"ref"};
  MemoryStream device_{"dev"};
};

}  // namespace paritas
