#include "paritas/task/top_classes.h"

#include <algorithm>
#include <functional>
#include <iterator>

namespace paritas {
namespace {

// The classes that are among the first k for certain, and those that tie for the places left; both sorted.
struct TopSet {
  std::vector<int64_t> certain;
  std::vector<int64_t> edge;
};

TopSet top_set(const RankGroups& groups, uint64_t k) {
  TopSet set;
  for (const std::vector<int64_t>& group : groups) {
    if (set.certain.size() + group.size() > k) {
      set.edge = group;
      break;
    }
    set.certain.insert(set.certain.end(), group.begin(), group.end());
  }
  std::sort(set.certain.begin(), set.certain.end());
  return set;
}

std::vector<int64_t> unite(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  std::vector<int64_t> both;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

}  // namespace

std::string_view name(Agreement agreement) {
  switch (agreement) {
    case Agreement::kSame:
      return "same";
    case Agreement::kUndecided:
      return "undecided";
    case Agreement::kDifferent:
      return "different";
  }
  return "different";
}

RankGroups rank_groups(std::span<const double> values, uint64_t k) {
  if (values.empty() || k == 0) return {};
  std::vector<double> sorted(values.begin(), values.end());
  const uint64_t last = std::min<uint64_t>(k, sorted.size()) - 1;
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<int64_t>(last), sorted.end(), std::greater<>());
  std::vector<int64_t> classes;
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] >= sorted[last]) classes.push_back(static_cast<int64_t>(i));
  std::stable_sort(classes.begin(), classes.end(), [&](int64_t a, int64_t b) { return values[a] > values[b]; });
  RankGroups groups;
  for (const int64_t c : classes) {
    if (groups.empty() || values[groups.back().front()] != values[c]) groups.emplace_back();
    groups.back().push_back(c);
  }
  return groups;
}

Agreement same_top_set(const RankGroups& a, const RankGroups& b, uint64_t k) {
  const TopSet x = top_set(a, k), y = top_set(b, k);
  if (x.certain == y.certain && x.edge == y.edge) return Agreement::kSame;
  // One set of k classes that both sides allow must hold all that is certain on either side.
  const std::vector<int64_t> needed = unite(x.certain, y.certain);
  const std::vector<int64_t> allowed_x = unite(x.certain, x.edge), allowed_y = unite(y.certain, y.edge);
  std::vector<int64_t> allowed;
  std::set_intersection(allowed_x.begin(), allowed_x.end(), allowed_y.begin(), allowed_y.end(),
                        std::back_inserter(allowed));
  const bool possible = std::includes(allowed.begin(), allowed.end(), needed.begin(), needed.end());
  return possible && needed.size() <= k && allowed.size() >= k ? Agreement::kUndecided : Agreement::kDifferent;
}

}  // namespace paritas
