#include "paritas/locate/delta_debugging.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include <rapidcheck/gtest.h>

namespace paritas {
namespace {

using Units = std::vector<int>;

bool contains(const Units& all, const Units& part) {
  return std::includes(all.begin(), all.end(), part.begin(), part.end());
}

// Counts its calls, and fails the test when a set is asked for twice.
struct Counted {
  std::function<Holds(const Units&)> holds;
  int calls = 0;
  int budget = 1000000;
  std::set<Units> asked;

  RestoreOracle oracle() {
    return [this](const Units& units) -> Result<std::optional<Holds>> {
      if (calls == budget) return std::nullopt;
      ++calls;
      EXPECT_TRUE(std::is_sorted(units.begin(), units.end()));
      EXPECT_TRUE(asked.insert(units).second) << "asked twice";
      return holds(units);
    };
  }
};

Counted needs(const Units& culprits) {
  return {[culprits](const Units& units) { return contains(units, culprits) ? Holds::kYes : Holds::kNo; }};
}

RestoredSet search(int units, const Units& seed, Counted& counted) {
  auto found = search_restored_set(units, seed, counted.oracle());
  EXPECT_TRUE(found.has_value());
  return found.value_or(RestoredSet{});
}

TEST(RestoredSet, NothingToRestore) {
  Counted counted = needs({});
  const RestoredSet found = search(10, {}, counted);
  EXPECT_TRUE(found.needless);
  EXPECT_TRUE(found.units.empty());
  EXPECT_EQ(counted.calls, 1);
}

TEST(RestoredSet, ARightSuspicionCostsOneTestAUnit) {
  Counted counted = needs({400, 401, 403});
  const RestoredSet found = search(800, {400, 401, 403}, counted);
  EXPECT_EQ(found.units, (Units{400, 401, 403}));
  EXPECT_TRUE(found.minimal);
  EXPECT_LE(counted.calls, 6);
}

TEST(RestoredSet, InnocentSuspectsAreDropped) {
  Counted counted = needs({401});
  const RestoredSet found = search(800, {3, 400, 401, 402, 700}, counted);
  EXPECT_EQ(found.units, (Units{401}));
  EXPECT_TRUE(found.minimal);
}

TEST(RestoredSet, AWrongSuspicionDoesNotMislead) {
  Counted counted = needs({17});
  EXPECT_EQ(search(800, {500, 501}, counted).units, (Units{17}));
  EXPECT_LE(counted.calls, 25);
}

TEST(RestoredSet, CulpritsThatAreFarApart) {
  Counted counted = needs({10, 700});
  const RestoredSet found = search(800, {}, counted);
  EXPECT_EQ(found.units, (Units{10, 700}));
  EXPECT_TRUE(found.minimal);
  EXPECT_LE(counted.calls, 80);  // of 2^800 sets
}

// Restoring 5 alone does harm unless 6 is restored as well.
TEST(RestoredSet, EffectsThatAreNotMonotone) {
  Counted counted;
  counted.holds = [](const Units& units) {
    const bool five = contains(units, {5}), six = contains(units, {6}), two = contains(units, {2});
    return two && (!five || six) ? Holds::kYes : Holds::kNo;
  };
  const RestoredSet found = search(12, {}, counted);
  EXPECT_EQ(counted.holds(found.units), Holds::kYes);
  EXPECT_TRUE(found.minimal);
  EXPECT_EQ(found.units, (Units{2}));
}

TEST(RestoredSet, TheBudgetEndsItWithTheBestSoFar) {
  Counted counted = needs({10, 700});
  counted.budget = 15;
  const RestoredSet found = search(800, {}, counted);
  EXPECT_TRUE(found.budget_spent);
  EXPECT_FALSE(found.minimal);
  EXPECT_TRUE(contains(found.units, {10, 700}));
  EXPECT_LT(found.units.size(), 800U);
}

TEST(RestoredSet, NoBudgetMeansEverything) {
  Counted counted = needs({1});
  counted.budget = 0;
  const RestoredSet found = search(3, {}, counted);
  EXPECT_TRUE(found.budget_spent);
  EXPECT_EQ(found.units, (Units{0, 1, 2}));
}

// A set that the device refuses is no evidence: what it leaves open is said.
TEST(RestoredSet, UntriedRemovalsAreNamed) {
  Counted counted;
  counted.holds = [](const Units& units) {
    if (contains(units, {3, 4})) return Holds::kYes;
    return contains(units, {4}) ? Holds::kUnknown : Holds::kNo;
  };
  const RestoredSet found = search(8, {3, 4}, counted);
  EXPECT_EQ(found.units, (Units{3, 4}));
  EXPECT_FALSE(found.minimal);
  EXPECT_EQ(found.undecided, (Units{3}));
}

TEST(RestoredSet, AFaultOfTheOracleIsHandedOn) {
  const RestoreOracle broken = [](const Units&) -> Result<std::optional<Holds>> {
    return input_error("device", "it broke");
  };
  EXPECT_FALSE(search_restored_set(5, {}, broken).has_value());
}

RC_GTEST_PROP(RestoredSetProperty, FindsExactlyTheCulpritsOfMonotoneEffects, ()) {
  const int units = *rc::gen::inRange(1, 60);
  const auto culprits = *rc::gen::container<std::set<int>>(rc::gen::inRange(0, units));
  const auto seed = *rc::gen::container<std::set<int>>(rc::gen::inRange(0, units));
  Counted counted = needs({culprits.begin(), culprits.end()});
  const RestoredSet found = search(units, {seed.begin(), seed.end()}, counted);
  RC_ASSERT(found.units == Units(culprits.begin(), culprits.end()));
  RC_ASSERT(found.needless == culprits.empty());
  RC_ASSERT(found.minimal || static_cast<int>(culprits.size()) == units);
}

// Any effect at all: what is found holds, and no single unit can be dropped.
RC_GTEST_PROP(RestoredSetProperty, NothingCanBeDropped, ()) {
  const int units = *rc::gen::inRange(1, 10);
  const auto table = *rc::gen::container<std::vector<bool>>(size_t{1} << units, rc::gen::arbitrary<bool>());
  Counted counted;
  counted.holds = [&](const Units& set) {
    if (static_cast<int>(set.size()) == units) return Holds::kYes;
    size_t bits = 0;
    for (const int unit : set) bits |= size_t{1} << unit;
    return table[bits] ? Holds::kYes : Holds::kNo;
  };
  const RestoredSet found = search(units, {}, counted);
  RC_ASSERT(counted.holds(found.units) == Holds::kYes);
  RC_ASSERT(!found.budget_spent);
  for (const int unit : found.units) {
    Units rest = found.units;
    std::erase(rest, unit);
    RC_ASSERT(counted.holds(rest) == Holds::kNo);
  }
}

}  // namespace
}  // namespace paritas
