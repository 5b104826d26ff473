#include "paritas/delivery/environment.h"

#include <algorithm>

#include "paritas/base/sha256.h"

namespace paritas {

std::vector<PackageLibrary> libraries_of(const Target& target, const RuntimeIdentity& identity) {
  std::vector<PackageLibrary> libraries;
  libraries.push_back({identity.path.filename().string(), identity.version, identity.sha256});
  if (target.provider_library.empty()) return libraries;
  libraries.push_back({Path(target.provider_library).filename().string(), {}, identity.provider_library_sha256});
  // The back end that computes is a library of its own.
  if (const auto it = target.provider_options.find("backend_path"); it != target.provider_options.end())
    if (auto hash = sha256_of_file(it->second)) libraries.push_back({Path(it->second).filename().string(), {}, *hash});
  return libraries;
}

void add_libraries(const std::vector<PackageLibrary>& more, std::vector<PackageLibrary>& libraries) {
  for (const PackageLibrary& library : more)
    if (std::none_of(libraries.begin(), libraries.end(),
                     [&](const PackageLibrary& known) { return known.name == library.name; }))
      libraries.push_back(library);
}

std::map<std::string, std::string> device_facts(const Target& target) {
  std::map<std::string, std::string> facts;
  for (const char* key : {"soc_model", "htp_arch", "vtcm_mb", "device_id", "htp_performance_mode"})
    if (const auto it = target.provider_options.find(key); it != target.provider_options.end()) facts[key] = it->second;
  return facts;
}

}  // namespace paritas
