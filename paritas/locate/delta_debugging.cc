#include "paritas/locate/delta_debugging.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace paritas {
namespace {

using Units = std::vector<int>;

Units range(int from, int to) {
  Units units(static_cast<size_t>(to - from));
  std::iota(units.begin(), units.end(), from);
  return units;
}

class Search {
 public:
  Search(int units, const RestoreOracle& oracle) : count_(units), oracle_(oracle) {}

  Result<RestoredSet> run(const Units& seed) {
    best_.units = range(0, count_);
    PARITAS_TRY(search(seed));
    best_.budget_spent = spent_;
    if (spent_) best_.minimal = false;
    return std::move(best_);
  }

 private:
  Status search(const Units& seed) {
    PARITAS_ASSIGN(const bool nothing, holds({}));
    if (nothing) {
      best_ = {{}, /*needless=*/true, /*minimal=*/true, false, {}};
      return {};
    }
    bool seeded = false;
    if (!seed.empty() && static_cast<int>(seed.size()) < count_) {
      PARITAS_ASSIGN(seeded, holds(seed));
      if (seeded) best_.units = seed;
    }
    if (!seeded) PARITAS_TRY(find_window());
    return reduce();
  }

  // False also when the set could not be tried, or the budget is spent.
  Result<bool> holds(const Units& units) {
    PARITAS_ASSIGN(const Holds found, ask(units));
    return found == Holds::kYes;
  }

  Result<Holds> ask(const Units& units) {
    if (static_cast<int>(units.size()) == count_) return Holds::kYes;
    if (auto known = known_.find(units); known != known_.end()) return known->second;
    if (spent_) return Holds::kUnknown;
    PARITAS_ASSIGN(const std::optional<Holds> found, oracle_(units));
    if (!found) {
      spent_ = true;
      return Holds::kUnknown;
    }
    known_.emplace(units, *found);
    return *found;
  }

  Status find_window() {
    int fails = 0, last = count_;  // the prefix of `fails` units does not hold, that of `last` does
    while (last - fails > 1 && !spent_) {
      const int middle = fails + (last - fails) / 2;
      PARITAS_ASSIGN(const bool found, holds(range(0, middle)));
      (found ? last : fails) = middle;
    }
    if (last < static_cast<int>(best_.units.size())) best_.units = range(0, last);
    int first = 0, beyond = last;  // from `first` on holds, from `beyond` on does not
    while (beyond - first > 1 && !spent_) {
      const int middle = first + (beyond - first) / 2;
      PARITAS_ASSIGN(const bool found, holds(range(middle, last)));
      (found ? first : beyond) = middle;
    }
    best_.units = range(first, last);
    return {};
  }

  Status reduce() {
    size_t pieces = 2;
    while (best_.units.size() > 1) {
      pieces = std::min(pieces, best_.units.size());
      PARITAS_ASSIGN(const bool smaller, drop_one(pieces));
      if (spent_) return {};
      if (smaller) {
        pieces = std::max<size_t>(2, pieces - 1);
      } else if (pieces == best_.units.size()) {
        break;
      } else {
        pieces *= 2;
      }
    }
    // One unit: nothing restored was tried first, and does not hold.
    for (const int unit : best_.units) {
      PARITAS_ASSIGN(const Holds without, ask(without_unit(unit)));
      if (without == Holds::kUnknown) best_.undecided.push_back(unit);
    }
    best_.minimal = best_.undecided.empty();
    return {};
  }

  // Drops the first of `pieces` equal parts that can go.
  Result<bool> drop_one(size_t pieces) {
    const Units& all = best_.units;
    for (size_t piece = 0; piece < pieces; ++piece) {
      const auto from = all.begin() + static_cast<std::ptrdiff_t>(all.size() * piece / pieces);
      const auto to = all.begin() + static_cast<std::ptrdiff_t>(all.size() * (piece + 1) / pieces);
      Units rest(all.begin(), from);
      rest.insert(rest.end(), to, all.end());
      PARITAS_ASSIGN(const bool found, holds(rest));
      if (spent_) return false;
      if (found) {
        best_.units = std::move(rest);
        return true;
      }
    }
    return false;
  }

  Units without_unit(int unit) const {
    Units rest = best_.units;
    std::erase(rest, unit);
    return rest;
  }

  const int count_;
  const RestoreOracle& oracle_;
  std::map<Units, Holds> known_;
  bool spent_ = false;
  RestoredSet best_;
};

}  // namespace

Result<RestoredSet> search_restored_set(int units, const std::vector<int>& seed, const RestoreOracle& oracle) {
  return Search(units, oracle).run(seed);
}

}  // namespace paritas
