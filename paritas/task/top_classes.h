// The k classes with the highest values, with ties stated instead of broken in silence: quantised classifiers tie
// often.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace paritas {

// Classes by falling value: each group shares one value and is sorted by index. The groups cover the first k places;
// the last one may reach beyond. Values must not be NaN.
using RankGroups = std::vector<std::vector<int64_t>>;
RankGroups rank_groups(std::span<const double> values, uint64_t k);

enum class Agreement {
  kSame,
  kUndecided,  // a tie at the edge: some way to break it makes the two sets equal, some other does not
  kDifferent,
};
std::string_view name(Agreement agreement);  // "same", "undecided", "different"

// Whether the first k classes of both sides are the same set. Both must be rank_groups(..., k).
Agreement same_top_set(const RankGroups& a, const RankGroups& b, uint64_t k);

}  // namespace paritas
