// `paritas compare DIR1 DIR2` of two packages: what changed between two releases. A description; nothing is run and
// nothing judged.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "paritas/delivery/compare_packages_types.h"
#include "paritas/package/package.h"

namespace paritas {

struct ComparePackagesRequest {
  Path before, after;
  int threads = 1;
  std::function<void(const std::string& stage)> progress;  // may be empty
};

// Opens both packages (sums of all files are checked) and compares them. Errors: one of them is damaged, or a file in
// it cannot be read as what the manifest says it is.
Result<PackageDiff> compare_packages(const ComparePackagesRequest& request);

// Both values in at most `width` bytes, for people: what is long begins a little before the first difference.
std::pair<std::string, std::string> brief_values(const PackageFact& fact, size_t width);

Json to_json(const PackageDiff& diff);  // schema paritas.package-diff/1

}  // namespace paritas
