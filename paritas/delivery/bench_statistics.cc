#include "paritas/delivery/bench_statistics.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include <fmt/format.h>

namespace paritas {
namespace {

// The promise: medians of two rounds lie within this of each other.
constexpr double kPromise = 0.10;
// Of normal noise p90 - p10 is 2.56 sigma and the standard error of a median of n runs 1.25 sigma / sqrt(n), so that of
// the difference of two such medians is 0.69 * (p90 - p10) / sqrt(n). Three of them must fit the promise.
constexpr double kSpreadPerRootRun = kPromise / (3 * 0.69);
// However many runs: times of which a fifth lies farther apart than this follow no single distribution.
constexpr double kWidestSpread = 0.25;
// The middles of two halves are half a round apart, those of two rounds a whole one: what goes on drifting moves the
// next median by twice as much.
constexpr double kHalvesLimit = kPromise / 2;

// Of any distribution, the true median lies between the sorted values at n / 2 -+ sqrt(n) with 95 % (binomial). What is
// as likely to be in one of two modes as in the other shows here, however many runs there are.
double middle_width(const std::vector<double>& sorted) {
  const auto n = static_cast<double>(sorted.size());
  const double lowest = std::max(0.0, std::floor(n / 2 - std::sqrt(n)));
  const double highest = std::min(n - 1, std::ceil(n / 2 + std::sqrt(n)) - 1);
  return sorted[static_cast<size_t>(highest)] - sorted[static_cast<size_t>(lowest)];
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return percentile(values, 0.5);
}

}  // namespace

double percentile(std::span<const double> sorted, double share) {
  assert(!sorted.empty());
  const double position = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(position);
  if (below + 1 >= sorted.size()) return sorted.back();
  const double part = position - static_cast<double>(below);
  return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

TimeFigures time_figures(std::vector<double> seconds) {
  TimeFigures figures;
  figures.runs = seconds.size();
  if (seconds.empty()) return figures;
  std::sort(seconds.begin(), seconds.end());
  figures.min = seconds.front();
  figures.max = seconds.back();
  if (seconds.size() == 1) return figures;
  figures.median = percentile(seconds, 0.5);
  figures.p10 = percentile(seconds, 0.1);
  figures.p90 = percentile(seconds, 0.9);
  figures.p95 = percentile(seconds, 0.95);
  return figures;
}

double others_limit(int cores, int threads) { return std::max(0.1 * cores, 0.5 * (cores - threads)); }

Noise judge_noise(std::span<const double> seconds, const MachineUse& use) {
  Noise noise;
  noise.spread_limit = std::min(kWidestSpread, kSpreadPerRootRun * std::sqrt(static_cast<double>(seconds.size())));
  noise.middle_limit = kPromise;
  noise.halves_limit = kHalvesLimit;
  noise.others = use.others;
  noise.others_limit = others_limit(use.cores, use.threads);
  if (seconds.size() < kLeastRunsForNoise) return noise;
  const TimeFigures figures = time_figures({seconds.begin(), seconds.end()});
  const size_t half = seconds.size() / 2;
  const double earlier = median_of({seconds.begin(), seconds.begin() + static_cast<ptrdiff_t>(half)});
  const double later = median_of({seconds.end() - static_cast<ptrdiff_t>(half), seconds.end()});
  noise.spread = (*figures.p90 - *figures.p10) / *figures.median;
  noise.halves = std::abs(later - earlier) / *figures.median;
  std::vector<double> sorted(seconds.begin(), seconds.end());
  std::sort(sorted.begin(), sorted.end());
  noise.middle = middle_width(sorted) / *figures.median;
  // Written so that a figure that is no number counts as noise.
  if (!(noise.spread <= noise.spread_limit))
    noise.reasons.push_back(fmt::format("the runs spread by {:.1f} % (p90 - p10 over the median), more than {:.1f} %",
                                        100 * noise.spread, 100 * noise.spread_limit));
  if (!(noise.middle <= noise.middle_limit))
    noise.reasons.push_back(fmt::format("the median is known to {:.1f} % only (at 95 %), not to {:.1f} %",
                                        100 * noise.middle, 100 * noise.middle_limit));
  if (!(noise.halves <= noise.halves_limit))
    noise.reasons.push_back(
        fmt::format("the medians of the earlier and the later half differ by {:.1f} %, more than {:.1f} %",
                    100 * noise.halves, 100 * noise.halves_limit));
  if (noise.others && !(*noise.others <= noise.others_limit))
    noise.reasons.push_back(fmt::format("other processes kept {:.2f} of {} cores busy, more than {:.2f}", *noise.others,
                                        use.cores, noise.others_limit));
  noise.answer = noise.reasons.empty() ? Noise::Answer::kQuiet : Noise::Answer::kNoisy;
  return noise;
}

}  // namespace paritas
