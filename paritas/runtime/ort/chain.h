// Times a chain of sessions in one process: what one hands to the next stays in memory, as in an application.
#pragma once

#include <optional>
#include <vector>

#include "paritas/runtime/ort/session.h"

namespace paritas::ort {

struct ChainTimes {
  std::vector<TimedRun> runs;
  std::vector<StoredOutput> first, last;  // in the files that were named
  uint64_t differing = 0;
  std::optional<uint64_t> first_differing;
  double cpu_seconds = 0;
};

// `sessions`: those of request.chain, in its order. The two files are written when all runs are over.
Result<ChainTimes> time_chain(const std::vector<Session*>& sessions, const TimeRequest& request, const Path& first_file,
                              const Path& last_file);

}  // namespace paritas::ort
