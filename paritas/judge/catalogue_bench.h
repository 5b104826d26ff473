// Wordings about times: what a measurement of speed shows, and what it does not.
#pragma once

#include <string>
#include <vector>

#include "paritas/judge/finding.h"

namespace paritas::catalogue {

// Times are milliseconds here, as people read them.
struct TimingFacts {
  std::string name;      // what was timed
  std::string verdict;   // on its outputs
  std::string reason;    // the first one of it
  double median_ms = 0;  // NaN: a single run
  uint64_t runs = 0;
  std::vector<std::string> noise;  // why the machine was too noisy
};
Finding timing_of_wrong_results(const TimingFacts& facts);
Finding timing_too_noisy(const TimingFacts& facts);
Finding timing_single_run(const TimingFacts& facts);
// Nobody said what is right, or there was nothing to hold the outputs against.
Finding timing_not_judged(const TimingFacts& facts);

struct EmulationFacts {
  std::string name;                 // what was timed
  std::vector<std::string> stages;  // that were emulated
  std::vector<std::string> cycles;  // "encoder: 1,234,567 cycles"; empty: the provider told none
};
Finding timing_emulated(const EmulationFacts& facts);

struct EnduranceFacts {
  std::string name;
  double seconds = 0;
  uint64_t runs = 0;
  uint64_t differing = 0, first_differing = 0;  // runs; number of the first, from 1
  double grown_mib = 0, mib_per_hour = 0;
  double first_ms = 0, last_ms = 0;  // medians of the first and of the last tenth of the runs
};
Finding endurance_results_move(const EnduranceFacts& facts);
Finding endurance_memory_grows(const EnduranceFacts& facts);
Finding endurance_time_drifts(const EnduranceFacts& facts);

struct RatioFacts {
  std::string of, to;                         // names
  double value = 0, lowest = 0, highest = 0;  // time of `of` over time of `to`: medians; lowest and highest round
  uint64_t rounds = 0;
  std::vector<std::string> refused;
};
Finding timing_ratio(const RatioFacts& facts);
Finding timing_ratio_refused(const RatioFacts& facts);

}  // namespace paritas::catalogue
