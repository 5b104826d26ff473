// The steps of compare_packages(). Internal to delivery.
#pragma once

#include "paritas/delivery/compare_packages.h"

namespace paritas::package_diff {

using Progress = std::function<void(const std::string& stage)>;

// What the manifests, the gates files and the tasks state.
Result<std::vector<PackageFact>> compare_facts(const Package& before, const Package& after);
std::vector<ComparedFile> compare_files(const Manifest& before, const Manifest& after);

// Parts by name. `facts` takes what ONNX models state beside graph and constants (operator sets).
Result<std::vector<ComparedPart>> compare_parts(const Package& before, const Package& after, int threads,
                                                const Progress& progress, std::vector<PackageFact>& facts);
// One pair of ONNX models. `threads` for the figures. Names, order of nodes and place of constants do not count.
Result<ComparedPart> compare_models(const Path& before, const Path& after, const std::string& part, int threads,
                                    std::vector<PackageFact>& facts);

// Two context files that are equal bit for bit but for the name that the provider gave the partition. False also where
// that cannot be told.
bool same_context(const Path& before, const Path& after);

// The recordings: samples are paired by their inputs, to the bit.
Result<ComparedReference> compare_references(const Package& before, const Package& after, int threads);

Result<ComparedVerification> compare_verifications(const Package& before, const Package& after);
ComparedTimings compare_timings(const Manifest& before, const Manifest& after);

// Areas, `changed`, finding and notes from all else.
void conclude(PackageDiff& diff);

// SHA-256 over type, shape and bytes of a tensor.
Result<std::string> content_hash(const Tensor& tensor);

}  // namespace paritas::package_diff
