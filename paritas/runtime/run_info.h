// Provenance of a run from what is known before and after it.
#pragma once

#include "paritas/onnx/model.h"
#include "paritas/recording/provenance.h"
#include "paritas/runtime/target.h"
#include "paritas/runtime/worker.h"

namespace paritas {

// Everything but start, duration, placement, tensors, tool_version and the hashes after the run.
RunInfo make_run_info(const onnx_model::Model& model, const Target& target, const RuntimeIdentity& identity);
// The same without what the model's format tells of the model.
RunInfo make_run_info(const Path& model, const Target& target, const RuntimeIdentity& identity);

// The libraries that ran must still be the ones that were loaded, and the model what it was: their hashes after the
// run.
void hash_after_run(RunInfo& info);
// Files of this machine by name only.
void forget_folders(RunInfo& info);

// Nodes by provider, from what a session says that it assigned.
PlacementCounts count_assignment(const Target& target, const std::vector<AssignedNode>& assignment, int partitions);

// A device run in which the requested provider took nothing proves nothing:
// "0 of 813 nodes ran on GGMLExecutionProvider: this compares the CPU with itself". Says nothing when placement is
// unknown.
Status require_device_took_part(const Target& target, const PlacementCounts& counts);

std::string utc_now();       // "2026-11-30T04:05:06Z"
std::string host_summary();  // "Linux 6.1 x86_64, 2 cores"

}  // namespace paritas
