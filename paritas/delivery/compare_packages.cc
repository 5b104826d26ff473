#include "paritas/delivery/compare_packages.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "paritas/delivery/compare_packages_steps.h"

namespace paritas {

std::string_view name(Difference difference) {
  switch (difference) {
    case Difference::kSame:
      return "same";
    case Difference::kChanged:
      return "changed";
    case Difference::kAdded:
      return "added";
    case Difference::kRemoved:
      return "removed";
  }
  return {};
}

namespace package_diff {
namespace {

const PackagePart* find_part(const Manifest& manifest, const std::string& name) {
  for (const PackagePart& part : manifest.parts)
    if (part.name == name) return &part;
  return nullptr;
}

// The part's file and all further files that it needs.
bool equal_files(const Manifest& before, const PackagePart& a, const Manifest& after, const PackagePart& b) {
  if (a.sha256 != b.sha256 || a.weights != b.weights) return false;
  return std::all_of(a.weights.begin(), a.weights.end(), [&](const std::string& file) {
    const PackageFile* x = before.file(file);
    const PackageFile* y = after.file(file);
    return x != nullptr && y != nullptr && x->sha256 == y->sha256;
  });
}

Result<ComparedPart> compare_part(const Package& before, const PackagePart& a, const Package& after,
                                  const PackagePart& b, int threads, std::vector<PackageFact>& facts) {
  ComparedPart part;
  part.name = a.name;
  if (equal_files(before.manifest, a, after.manifest, b)) {
    part.told_by = "bytes";
  } else if (a.compiled || b.compiled) {
    const bool same = a.compiled && b.compiled && a.weights.empty() && b.weights.empty() &&
                      same_context(before.path_of(a.file), after.path_of(b.file));
    part.told_by = same ? "context" : "hash";
    part.difference = same ? Difference::kSame : Difference::kChanged;
  } else {
    PARITAS_ASSIGN(part, compare_models(before.path_of(a.file), after.path_of(b.file), a.name, threads, facts));
  }
  return part;
}

// Another cut moves constants from one part to another.
void follow_moved_constants(std::vector<ComparedPart>& parts) {
  for (ComparedPart& from : parts)
    for (ComparedConstant& gone : from.constants) {
      if (gone.difference != Difference::kRemoved || !gone.other_part.empty()) continue;
      for (ComparedPart& to : parts) {
        if (&to == &from) continue;
        const auto it = std::find_if(to.constants.begin(), to.constants.end(), [&](const ComparedConstant& come) {
          return come.difference == Difference::kAdded && come.other_part.empty() &&
                 come.after_sha256 == gone.before_sha256;
        });
        if (it == to.constants.end()) continue;
        it->other_part = from.name;
        gone.other_part = to.name;
        break;
      }
    }
}

ComparedPackage described(const Package& package) {
  const Manifest& manifest = package.manifest;
  return {package.folder.string(), package.manifest_sha256, manifest.tool_version,
          manifest.created,        manifest.source_name,    manifest.source_sha256};
}

}  // namespace

Result<std::vector<ComparedPart>> compare_parts(const Package& before, const Package& after, int threads,
                                                const Progress& progress, std::vector<PackageFact>& facts) {
  std::vector<ComparedPart> parts;
  for (const PackagePart& a : before.manifest.parts) {
    const PackagePart* b = find_part(after.manifest, a.name);
    ComparedPart part;
    part.name = a.name;
    part.difference = Difference::kRemoved;
    if (b != nullptr) {
      if (progress) progress("part " + a.name);
      PARITAS_ASSIGN(part, compare_part(before, a, after, *b, threads, facts));
      part.file_after = b->file;
      part.sha256_after = b->sha256;
    }
    part.file_before = a.file;
    part.sha256_before = a.sha256;
    parts.push_back(std::move(part));
  }
  for (const PackagePart& b : after.manifest.parts) {
    if (find_part(before.manifest, b.name) != nullptr) continue;
    ComparedPart part;
    part.name = b.name;
    part.difference = Difference::kAdded;
    part.file_after = b.file;
    part.sha256_after = b.sha256;
    parts.push_back(std::move(part));
  }
  follow_moved_constants(parts);
  return parts;
}

}  // namespace package_diff

Result<PackageDiff> compare_packages(const ComparePackagesRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  auto progress = [&](const std::string& stage) {
    if (request.progress) request.progress(stage);
  };
  progress("sums of all files");
  PARITAS_ASSIGN(const Package before, open_package(request.before));
  PARITAS_ASSIGN(const Package after, open_package(request.after));
  PackageDiff diff;
  diff.before = package_diff::described(before);
  diff.after = package_diff::described(after);
  diff.files = package_diff::compare_files(before.manifest, after.manifest);
  PARITAS_ASSIGN(diff.facts, package_diff::compare_facts(before, after));
  PARITAS_ASSIGN(diff.parts, package_diff::compare_parts(before, after, request.threads, progress, diff.facts));
  progress("reference samples");
  PARITAS_ASSIGN(diff.reference, package_diff::compare_references(before, after, request.threads));
  PARITAS_ASSIGN(diff.verification, package_diff::compare_verifications(before, after));
  diff.timings = package_diff::compare_timings(before.manifest, after.manifest);
  package_diff::conclude(diff);
  diff.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return diff;
}

}  // namespace paritas
