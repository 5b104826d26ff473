// Which units must be restored for a property to hold? Pure search over an oracle: nothing of models in here.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "paritas/base/error.h"

namespace paritas {

enum class Holds { kYes, kNo, kUnknown };  // unknown: this set could not be tried

// Units are 0 ... n-1 in graph order. Called with ascending sets, each at most once. nullopt: the budget is spent.
using RestoreOracle = std::function<Result<std::optional<Holds>>(const std::vector<int>& restored)>;

struct RestoredSet {
  std::vector<int> units;      // ascending; with them restored the property holds
  bool needless = false;       // it holds with nothing restored: there is nothing to search
  bool minimal = false;        // without any one of them it does not hold (each was tried)
  bool budget_spent = false;   // `units` is the best so far
  std::vector<int> undecided;  // units whose removal could not be tried
};

// The property is taken to hold when everything is restored. `seed`: a set to try first, ascending; may be empty.
//
// Where the seed does not do, the shortest prefix of the units that makes it hold is searched by halving, then the
// longest head that this prefix can do without: a window from the first needed unit to the last. What is in between is
// reduced by delta debugging (Zeller and Hildebrandt, 2002, "ddmin"): halves, quarters and so on are taken out as long
// as the property holds, until no single unit can go. Effects need not be monotone: the result is a set from which
// nothing can be dropped, not the smallest of all such sets.
Result<RestoredSet> search_restored_set(int units, const std::vector<int>& seed, const RestoreOracle& oracle);

}  // namespace paritas
