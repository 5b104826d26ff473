// The files of one part: compiled by its provider where that gives contexts, else the plain model.
#pragma once

#include <optional>

#include "paritas/delivery/parts.h"
#include "paritas/package/manifest.h"
#include "paritas/runtime/runner.h"
#include "paritas/vendor/qnn_op_trace.h"

namespace paritas {

// Session names of a context that calls its inputs and outputs otherwise: package name -> session name.
struct PortMap {
  std::map<std::string, std::string> inputs, outputs;
};
// {"inputs": {"images": "images_0"}, "outputs": {...}}
Result<PortMap> read_port_map(const Path& file);

struct PartRequest {
  std::string name;
  Target target;
  const ModelPart* part = nullptr;
  std::optional<Path> context;  // compiled elsewhere: taken instead of compiling
  PortMap ports;                // of it
  WorkerOptions worker;         // scratch is set here
  Path scratch;                 // an existing folder of its own
  Path folder;                  // of the package being built
};

struct BuiltPart {
  PackagePart part;
  std::vector<PackageLibrary> libraries;  // that took part in building
  std::vector<std::string> notes;
};

// Operations of the optimised graph that a trace names, each once.
uint64_t traced_sources(const OpTrace& trace);

// Errors are reasons why the part cannot be delivered: it is not fully on the device, does not compile, does not load
// again.
Result<BuiltPart> build_part(const PartRequest& request);

}  // namespace paritas
