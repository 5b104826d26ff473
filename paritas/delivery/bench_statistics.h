// Figures of times that were measured again and again, and whether the machine was quiet enough for them to mean
// something. Nothing is measured here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace paritas {

// `share` in [0, 1] of the way through the sorted values, interpolated between neighbours: position share * (n - 1),
// counted from 0. That is numpy's default ("linear", type 7 of Hyndman and Fan). `sorted` must not be empty.
double percentile(std::span<const double> sorted, double share);

// Seconds. One run alone is an observation: it has no percentiles.
struct TimeFigures {
  uint64_t runs = 0;
  double min = 0, max = 0;
  std::optional<double> median, p10, p90, p95;
};
TimeFigures time_figures(std::vector<double> seconds);

// Fewer runs tell nothing about their spread.
inline constexpr uint64_t kLeastRunsForNoise = 8;

// What the machine did while the runs were made. Shares are of all its cores.
struct MachineUse {
  double seconds = 0;            // that the measured runs and their warm-ups took
  int cores = 0;                 // of the machine
  int threads = 1;               // that the sessions may use at a time
  std::optional<double> others;  // cores that other processes kept busy on average; nullopt: too short to tell
  double load_before = 0, load_after = 0;  // load average of the last minute
};

// Whether medians of such runs, made twice, can be expected within 10 % of each other. docs/bench.md derives the
// limits.
struct Noise {
  enum class Answer { kQuiet, kNoisy, kTooFewRuns };
  Answer answer = Answer::kTooFewRuns;
  double spread = 0, spread_limit = 0;  // (p90 - p10) / median
  double middle = 0, middle_limit = 0;  // width of the interval that holds the median at 95 %, over the median
  double halves = 0, halves_limit = 0;  // |median of the later half - of the earlier| / median
  std::optional<double> others;         // cores, as above
  double others_limit = 0;
  std::vector<std::string> reasons;  // why it is noisy
};
Noise judge_noise(std::span<const double> seconds_in_order, const MachineUse& use);

// Cores that others may keep busy before they count as noise: half of those that the sessions leave free, and a tenth
// of all where they leave none.
double others_limit(int cores, int threads);

}  // namespace paritas
