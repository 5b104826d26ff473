// compare with two packages instead of recordings.
#pragma once

#include <string>

#include "paritas/cli/common.h"

namespace paritas::cli {

// Both paths are packages.
bool are_packages(const std::string& before, const std::string& after);
Result<int> compare_two_packages(const CommonOptions& common, const std::string& before, const std::string& after);

}  // namespace paritas::cli
