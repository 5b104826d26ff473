// `paritas verify`: a package proved anew from its files alone, in fresh processes.
#pragma once

#include <functional>

#include "paritas/delivery/verify_types.h"
#include "paritas/package/package.h"
#include "paritas/runtime/target.h"
#include "paritas/runtime/worker.h"

namespace paritas {

struct VerifyRequest {
  Path package;
  std::optional<GateSet> gates;      // instead of the package's for the chain
  std::optional<GateSet> cpu_gates;  // and for the CPU parts
  RuntimeSearch search;
  WorkerOptions worker;  // scratch is set here
  Path scratch_root;
  uint64_t memory_budget = uint64_t{1} << 30;
  int threads = 1;  // of the comparison
  std::string tool_version;
  std::function<void(const std::string& stage)> progress;  // may be empty
};

// Errors: the package is damaged or was tampered with (the file is named), or nothing can be run on this machine.
Result<VerifyResult> verify(const VerifyRequest& request);

// The same for a folder that is being built: opened by the caller.
Result<VerifyResult> verify_opened(const VerifyRequest& request, const Package& package);

Json to_json(const VerifyResult& result);  // schema paritas.verify/1
// The same for a manifest: without provenance of recordings that are gone, and without a word of this machine's
// folders.
Json summary_json(const VerifyResult& result);

// What a package's libraries and host are here, against those that its manifest gives, in words.
std::vector<std::string> environment_differences(const PackageEnvironment& made, const PackageEnvironment& here);

}  // namespace paritas
