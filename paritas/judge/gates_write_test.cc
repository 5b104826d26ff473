#include "paritas/judge/gates_write.h"

#include <gtest/gtest.h>

#include "paritas/judge/profiles.h"

namespace paritas {
namespace {

// Read, written and read again: the same gates, in the same words.
void expect_same(const GateSet& gates) {
  auto json = parse_json(dump_json(gates_to_json(gates)), "gates.json");
  ASSERT_TRUE(json.has_value());
  const auto again = gates_from_json(*json, "gates.json");
  ASSERT_TRUE(again.has_value()) << again.error().message();
  ASSERT_EQ(again->gates.size(), gates.gates.size());
  EXPECT_EQ(again->nonfinite, gates.nonfinite);
  EXPECT_EQ(again->allow_extra_outputs, gates.allow_extra_outputs);
  EXPECT_EQ(again->exact_dtypes, gates.exact_dtypes);
  for (size_t i = 0; i < gates.gates.size(); ++i) {
    EXPECT_EQ(again->gates[i].text(), gates.gates[i].text());
    EXPECT_EQ(again->gates[i].optional, gates.gates[i].optional);
    EXPECT_EQ(again->gates[i].any.size(), gates.gates[i].any.size());
  }
}

TEST(GatesWrite, EveryProfileComesBack) {
  for (const Profile& profile : profiles()) {
    const auto gates = load_gates(GateSources{{}, {profile.name}, {}});
    ASSERT_TRUE(gates.has_value());
    expect_same(*gates);
  }
}

TEST(GatesWrite, AlternativesUnitsAndTolerancesComeBack) {
  const auto gates = load_gates(GateSources{{},
                                            {},
                                            {"y: max_abs<=2 steps or cosine>=0.999 and mean_abs<=0.1 range",
                                             "role=scores: cosine>0.5", "z: outside<=0, atol=1e-5, rtol=0.25"}});
  ASSERT_TRUE(gates.has_value()) << gates.error().message();
  expect_same(*gates);
}

TEST(GatesWrite, PoliciesComeBack) {
  const auto gates = parse_gates_toml(
      "nonfinite = \"equal\"\nextra_outputs = \"allow\"\ndtypes = \"exact\"\n[[gate]]\ntensor = "
      "\"y\"\nmetric = \"cosine\"\nop = \">=\"\nvalue = 0.9\n",
      "gates.toml");
  ASSERT_TRUE(gates.has_value()) << gates.error().message();
  expect_same(*gates);
}

}  // namespace
}  // namespace paritas
