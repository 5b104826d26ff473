// What verifying a package yields. Plain data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paritas/judge/verdict.h"
#include "paritas/package/manifest.h"
#include "paritas/project/types.h"

namespace paritas {

// One check, made anew from the files alone.
struct PackageCheck {
  std::string id;  // "files", "reload", "placement", "trace", "cpu parts", "chain", "repeat"
  Verdict verdict = Verdict::kInvalid;
  std::string text;  // what was found
  std::string shows, does_not_show;
};

struct VerifiedPart {
  std::string name;
  double open_seconds = 0;    // of the session, from the shipped file, in a fresh process; a single observation
  PlacementCounts placement;  // of the session; a loaded context is one node
};

struct VerifyResult {
  Verdict verdict = Verdict::kInvalid;
  std::vector<std::string> reasons;  // deciding ones first
  uint64_t deciding = 0;
  std::string package;
  std::string manifest_sha256;
  std::string source_name, source_sha256;
  std::vector<PackageCheck> checks;
  std::vector<VerifiedPart> parts;
  std::optional<CheckResult> cpu_parts;  // CPU parts fed with the reference's tensors; absent: no CPU part
  std::optional<CheckResult> chain;      // all parts, one after the other
  std::vector<std::string> environment;  // how this machine differs from the one that made the package
  PackageEnvironment here;               // libraries that ran
  std::vector<std::string> notes;
  double seconds = 0;
};

}  // namespace paritas
