#include "paritas/cli/diagnosis_options.h"

namespace paritas::cli {

Status fill_diagnosis(const RunOptions& run, const CommonOptions& common, const std::string& reference,
                      const std::optional<std::string>& device, LocateRequest& request) {
  const RuntimeSearch search = runtime_search(run.ort);
  PARITAS_ASSIGN(request.dims, parse_dims(run.dims));
  PARITAS_ASSIGN(request.memory_budget, parse_bytes(run.memory));
  PARITAS_ASSIGN(const TargetSpec reference_spec, TargetSpec::parse(reference));
  PARITAS_ASSIGN(request.reference, resolve_target(reference_spec, search));
  if (device) {
    PARITAS_ASSIGN(const TargetSpec device_spec, TargetSpec::parse(*device));
    PARITAS_ASSIGN(request.device, resolve_target(device_spec, search));
  }
  PARITAS_ASSIGN(request.worker, worker_options(run, search));
  request.scratch_root = scratch_root();
  request.threads = jobs(common);
  request.tool_version = PARITAS_VERSION;
  return {};
}

}  // namespace paritas::cli
