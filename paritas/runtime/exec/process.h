// A command of the user, run to its end: watched, bounded, and with an environment that is known. Who calls this has
// the user's consent already.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "paritas/base/error.h"
#include "paritas/base/files.h"

namespace paritas {

struct ProcessRequest {
  std::vector<std::string> words;  // program and arguments; no shell reads them
  Path folder;                     // working directory; empty: ours
  // Everything that the command finds in its environment; nullopt: ours.
  std::optional<std::map<std::string, std::string>> environment;
  std::chrono::milliseconds timeout{600'000};
  uint64_t most_printed = uint64_t{64} << 20;  // bytes on both streams together
  Path watched;                                // a folder that the command fills; empty: none
  uint64_t most_written = 0;                   // bytes that its files may have together
  Path scratch;                                // where its captured output lies while it runs
};

struct ProcessResult {
  std::vector<std::string> words;
  std::string ended;     // "exit code 0", "signal 11: Segmentation fault"
  std::string problem;   // empty: exit code 0, in time and within bounds
  std::string output;    // the end of standard output (64 KiB)
  std::string messages;  // the end of standard error (64 KiB)
  double seconds = 0;
  bool succeeded() const { return problem.empty(); }
};

// What the command started and left behind in its process group is killed when it ends, too: nothing writes on while
// its results are read. Errors: it cannot be started at all. A program that does not exist is exit code 127 (126: it
// may not be run).
Result<ProcessResult> run_process(const ProcessRequest& request);

// Bytes of the regular files below `folder`, links not followed.
uint64_t bytes_below(const Path& folder);

}  // namespace paritas
