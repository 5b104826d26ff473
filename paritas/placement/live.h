// One device session with everything that it can tell of its placement.
#pragma once

#include "paritas/onnx/model.h"
#include "paritas/placement/audit.h"
#include "paritas/recording/sample_stream.h"
#include "paritas/runtime/runner.h"

namespace paritas {

struct LiveSession {
  SessionInfo info;
  PlacementEvidence evidence;
  NamedTensors outputs;  // empty when the session was only opened
  RuntimeIdentity identity;
  std::vector<std::string> notes;
};

// Opens a session of its own process in `scratch` (created), runs it once when there are inputs, closes it and reads
// what it left. Evidence that cannot be read is noted, not fatal.
Result<LiveSession> run_live(const Target& target, const onnx_model::Model& model, const NamedTensors& inputs,
                             WorkerOptions worker, const Path& scratch);

}  // namespace paritas
