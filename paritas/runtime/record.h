// `paritas run`: runs a model on a target for one or more samples and records what it did.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "paritas/onnx/model.h"
#include "paritas/recording/recording.h"
#include "paritas/runtime/runner.h"

namespace paritas {

struct RecordRequest {
  Path model;
  const onnx_model::Model* edited = nullptr;  // runs instead of `model`, of which it is an edit; not pinned yet
  std::vector<NamedTensors> samples;
  std::map<std::string, int64_t> dims;
  Target target;
  std::vector<std::string> marks;  // "all", "none", or patterns (exact names, * and ?); empty: none
  // Inputs hold the calls of a network that keeps a state, one behind the other along their first axes.
  bool steps = false;
  Path output;
  bool overwrite = false;
  bool portable = false;  // files of this machine by name only: the recording goes to others
  WorkerOptions worker;   // scratch is set by record()
  Path scratch_root;
  uint64_t memory_budget = uint64_t{1} << 30;
  std::string tool_version;
  std::function<void(const std::string& stage)> progress;
};

// Returns what was written. Nothing is left at `output` when anything fails. An ONNX or a TFLite model, as the target's
// runtime takes it.
Result<RunInfo> record(const RecordRequest& request);

// The marks among `names` (intermediate tensors) that the request's patterns choose, in their order; `by_default` tells
// what "all" means. Errors: a pattern that chooses nothing.
Result<std::vector<std::string>> choose_marks(const std::vector<std::string>& patterns,
                                              const std::vector<std::string>& names,
                                              const std::function<bool(const std::string&)>& by_all,
                                              const std::string& subject);

}  // namespace paritas
