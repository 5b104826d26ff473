// What took part in making or verifying a package.
#pragma once

#include "paritas/package/manifest.h"
#include "paritas/runtime/target.h"
#include "paritas/runtime/worker.h"

namespace paritas {

// ONNX Runtime, the provider and its back end, by file name.
std::vector<PackageLibrary> libraries_of(const Target& target, const RuntimeIdentity& identity);

// Adds those that are not there by name yet.
void add_libraries(const std::vector<PackageLibrary>& more, std::vector<PackageLibrary>& libraries);

// "soc_model", "htp_arch", "vtcm_mb" and the like, as far as the target's options tell.
std::map<std::string, std::string> device_facts(const Target& target);

}  // namespace paritas
