// The history of timings: a CSV file with a line for every subject of every `paritas bench` (docs/bench.md lists the
// columns). Lines are only ever added.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "paritas/delivery/bench_types.h"

namespace paritas {

struct HistoryLine {
  std::string date, name, kind, sha256;
  BenchConditions conditions;
  int warm_up = 0;
  uint64_t runs = 0;
  std::string verdict;           // word of the verdict on what was timed
  std::string noise;             // "quiet", "noisy", "too few runs"
  std::optional<double> others;  // cores
  double load_before = 0, load_after = 0;
  int cores = 0;
  std::optional<double> median, p10, p90, p95;  // seconds
  double min = 0, max = 0;
  uint64_t peak = 0;  // bytes
};
std::string_view name(Noise::Answer answer);

HistoryLine history_line(const BenchResult& result, const BenchSide& side);

std::string history_header();                       // without its line end
std::string history_text(const HistoryLine& line);  // the same
// What a history holds. An error when the first line is not the header; lines that cannot be read are skipped and told.
struct History {
  std::vector<HistoryLine> lines;    // in the order of the file
  std::vector<std::string> damaged;  // "line 3: ..."
};
Result<History> parse_history(std::string_view text, const std::string& subject);
// An absent or empty file holds nothing.
Result<History> load_history(const Path& file);
// Adds lines at the end in one piece, under a lock; the header is written to a new file and checked in an old one.
Status append_to_history(const Path& file, const std::vector<HistoryLine>& lines);

// The last line about something of this name.
const HistoryLine* last_of(const History& history, const std::string& name);

// What forbids to set two rounds against each other: conditions that differ, noise, single runs. Empty: nothing does.
std::vector<std::string> differences(const HistoryLine& before, const HistoryLine& now);

}  // namespace paritas
