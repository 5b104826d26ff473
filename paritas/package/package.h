// A package on disk: opened only whole.
#pragma once

#include "paritas/package/integrity.h"
#include "paritas/package/manifest.h"

namespace paritas {

// Bytes of manifest.json that are read. JSON takes up to some forty times its size in memory. The detector's, with two
// samples verified, has 118 KB, two thirds of it the verification, which grows with the samples.
inline constexpr uint64_t kMaxManifest = uint64_t{16} << 20;

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

// A copy of a whole package with one round of paritas bench more, built beside it; commit() puts it in the package's
// place by one rename where the file system can exchange names. Whoever is killed before leaves the old package whole,
// behind it the new one.
class TimedPackage {
 public:
  static Result<TimedPackage> build(const Path& folder, Json round);
  Status commit() { return building_.commit(); }

 private:
  explicit TimedPackage(AtomicFolder building) : building_(std::move(building)) {}
  AtomicFolder building_;
};

// Both at once.
Status save_timing(const Path& folder, Json round);

// Writes manifest.json alone, for open_unsealed().
Status write_manifest(const Path& folder, Manifest manifest);

}  // namespace paritas
