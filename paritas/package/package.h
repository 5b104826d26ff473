// A package on disk: opened only whole.
#pragma once

#include "paritas/package/integrity.h"
#include "paritas/package/manifest.h"

namespace paritas {

struct Package {
  Path folder;
  std::string manifest_sha256;
  Manifest manifest;

  Path path_of(const std::string& file) const { return folder / file; }  // of a file that the manifest lists
};

// A folder with a manifest.json.
bool is_package(const Path& path);

// Its manifest says that it is one of ours, whatever its state: what --force may replace.
bool is_our_package(const Path& path);

// Checks the sums of every file, reads the manifest, and holds it against the files: none too many, none too few, each
// with the SHA-256 that the manifest gives, none outside the folder.
Result<Package> open_package(const Path& folder);

// The same for a folder that is still being built and has no SHA256SUMS yet.
Result<Package> open_unsealed(const Path& folder);

// Writes manifest.json (with `files` filled) and then SHA256SUMS: a package that was interrupted has none or a wrong
// one, and is refused.
Status seal(const Path& folder, Manifest manifest);

// Adds a round of paritas bench to the manifest of a whole package, and seals it again.
Status save_timing(const Path& folder, Json round);

// Writes manifest.json alone, for open_unsealed().
Status write_manifest(const Path& folder, Manifest manifest);

}  // namespace paritas
