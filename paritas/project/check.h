// `paritas check`: everything that a project file declares, carried out and judged.
#pragma once

#include <functional>
#include <map>

#include "paritas/project/types.h"
#include "paritas/runtime/target.h"
#include "paritas/runtime/worker.h"

namespace paritas {

struct CheckRequest {
  Path project;
  bool allow_exec = false;                         // commands of the project file may run
  bool allow_outside = false;                      // paths may leave the project file's folder
  std::map<std::string, std::string> environment;  // ours, of which a board may inherit
  RuntimeSearch search;                            // asked only when a side is run
  WorkerOptions worker;                            // executable and timeout; the rest is set here
  Path scratch_root;
  uint64_t memory_budget = uint64_t{1} << 30;  // bytes of tensors that workers hold at a time
  int threads = 1;                             // of the comparison
  std::string tool_version;
  std::function<void(const std::string& stage)> progress;  // may be empty
};

// All declarations are checked against model, inputs and recordings before anything runs.
Result<CheckResult> check(const CheckRequest& request);

Json to_json(const CheckResult& result);  // schema paritas.check/1

}  // namespace paritas
