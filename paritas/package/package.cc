#include "paritas/package/package.h"

#include <fmt/format.h>

#include "paritas/base/sha256.h"

namespace paritas {
namespace fs = std::filesystem;
namespace {

// Files that are there, against those that the manifest lists. Sums can be written anew by whoever adds a file.
Status check_listed(const Package& package, const FileSums& found) {
  for (const PackageFile& file : package.manifest.files) {
    PARITAS_TRY(resolve_inside(package.folder, file.path));
    const auto it = found.find(file.path);
    if (it == found.end())
      return input_error((package.folder / file.path).string(), "is listed in the manifest, but absent",
                         "copy the package again");
    if (it->second != file.sha256)
      return input_error((package.folder / file.path).string(), "is not the file that the manifest describes",
                         "it is of another package or was changed: split the model again");
  }
  for (const auto& [path, hash] : found)
    if (path != kManifestName && package.manifest.file(path) == nullptr)
      return input_error((package.folder / path).string(),
                         "does not belong to the package: its manifest does not list it",
                         "remove it, or copy the package again");
  return {};
}

Result<Package> read(const Path& folder, const FileSums& found) {
  const Path file = folder / kManifestName;
  std::error_code code;
  if (!fs::is_regular_file(file, code))
    return input_error(folder.string(), fmt::format("is no package: it holds no {}", kManifestName), "check the path");
  PARITAS_ASSIGN(const std::string text, read_text(file, kMaxManifest));
  PARITAS_ASSIGN(const Json json, parse_json(text, file.string()));
  Package package;
  package.folder = folder;
  package.manifest_sha256 = sha256_hex(std::as_bytes(std::span(text)));
  PARITAS_ASSIGN(package.manifest, manifest_from_json(json, file.string()));
  PARITAS_TRY(check_listed(package, found));
  return package;
}

Result<FileSums> list_in_manifest(const Path& folder, Manifest& manifest) {
  PARITAS_ASSIGN(FileSums sums, hash_files(folder));
  sums.erase(kManifestName);
  manifest.files.clear();
  for (const auto& [path, hash] : sums) {
    std::error_code code;
    manifest.files.push_back({path, hash, fs::file_size(folder / path, code)});
  }
  return sums;
}

}  // namespace

bool is_package(const Path& path) {
  std::error_code code;
  return fs::is_regular_file(path / kManifestName, code);
}

bool is_our_package(const Path& path) {
  const auto text = read_text(path / kManifestName, kMaxManifest);
  if (!text) return false;
  const auto json = parse_json(*text, kManifestName);
  if (!json) return false;
  const auto schema = json_string(*json, "schema", kManifestName);
  return schema && *schema == kManifestSchema;
}

Result<Package> open_package(const Path& folder) {
  std::error_code code;
  if (!fs::is_directory(folder, code))
    return input_error(folder.string(), "no such folder", "give the folder that paritas split wrote");
  PARITAS_ASSIGN(const FileSums found, check_sums(folder));
  return read(folder, found);
}

Result<Package> open_unsealed(const Path& folder) {
  PARITAS_ASSIGN(const FileSums found, hash_files(folder));
  return read(folder, found);
}

Status write_manifest(const Path& folder, Manifest manifest) {
  PARITAS_TRY(list_in_manifest(folder, manifest));
  return write_text_atomically(folder / kManifestName, dump_json(to_json(manifest)) + "\n", /*overwrite=*/true);
}

namespace {

// Whole paths of this machine become names.
void names_only(Json& json) {
  if (json.is_string()) {
    const std::string text = json.get<std::string>();
    if (text.starts_with('/')) json = Path(text).filename().string();
    return;
  }
  if (json.is_structured())
    for (Json& each : json) names_only(each);
}

// Hard links where the file system has them: a package holds whole models.
Status link_files(const Package& package, const Path& into) {
  for (const PackageFile& file : package.manifest.files) {
    std::error_code code;
    const Path target = into / file.path;
    fs::create_directories(target.parent_path(), code);
    fs::create_hard_link(package.folder / file.path, target, code);
    if (code) fs::copy_file(package.folder / file.path, target, code);
    if (code) return input_error(target.string(), fmt::format("cannot be written: {}", code.message()));
  }
  return {};
}

Result<Path> real_folder(const Path& folder) {
  std::error_code code;
  Path real = fs::canonical(folder, code);
  if (code) return input_error(folder.string(), fmt::format("cannot be read: {}", code.message()), "check the path");
  return real;
}

}  // namespace

Result<TimedPackage> TimedPackage::build(const Path& folder, Json round) {
  PARITAS_ASSIGN(const Path real, real_folder(folder));
  PARITAS_ASSIGN(Package package, open_package(real));
  names_only(round);
  package.manifest.timings.push_back(std::move(round));
  PARITAS_ASSIGN(AtomicFolder building, AtomicFolder::create(real, /*overwrite=*/true, kManifestName));
  PARITAS_TRY(link_files(package, building.building()));
  PARITAS_TRY(seal(building.building(), std::move(package.manifest)));
  PARITAS_TRY(open_package(building.building()));  // what is put in the package's place is whole
  return TimedPackage(std::move(building));
}

Status save_timing(const Path& folder, Json round) {
  PARITAS_ASSIGN(TimedPackage timed, TimedPackage::build(folder, std::move(round)));
  return timed.commit();
}

Status seal(const Path& folder, Manifest manifest) {
  PARITAS_ASSIGN(FileSums sums, list_in_manifest(folder, manifest));
  const std::string text = dump_json(to_json(manifest)) + "\n";
  if (text.size() > kMaxManifest)
    return input_error((folder / kManifestName).string(),
                       fmt::format("would have {} bytes, more than the {} that are read", text.size(), kMaxManifest),
                       "verify on fewer samples, or save fewer rounds of paritas bench");
  PARITAS_TRY(write_text_atomically(folder / kManifestName, text, /*overwrite=*/true));
  sums[kManifestName] = sha256_hex(std::as_bytes(std::span(text)));
  return write_text_atomically(folder / kSumsName, sums_text(sums), /*overwrite=*/true);
}

}  // namespace paritas
