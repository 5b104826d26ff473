// Wordings of what changed between two packages. Part of the catalogue (finding.h): nothing is worded elsewhere.
#pragma once

#include <string>
#include <vector>

#include "paritas/judge/finding.h"

namespace paritas::catalogue {

// In order of importance: the first of them that changed is told first.
enum class PackageChange {
  kContract,  // what an application has to give or to expect
  kVerdict,   // what the verification came to
  kWeights,   // constants of ONNX parts
  kGraph,     // nodes of ONNX parts
  kContext,   // compiled parts, told by their hash
  kCut,       // boundary tensors
  kParts,     // how parts are built and where they run
  kEnvironment,
  kGates,      // gates and tasks
  kSamples,    // reference inputs
  kReference,  // reference outputs
  kResults,    // figures of the verification
  kFiles,      // files of unknown meaning
};

struct PackageChangeFacts {
  std::string what;               // in short, with its numbers: "decoder: 2 of 40 constants, most in \"w\" (NMSE 0.01)"
  std::vector<std::string> also;  // other areas that changed and matter
};
Finding package_changed(PackageChange change, const PackageChangeFacts& facts);

// Nothing changed that can matter. `differing`: areas that changed all the same ("made", "timings").
Finding packages_alike(const std::vector<std::string>& differing);

}  // namespace paritas::catalogue
