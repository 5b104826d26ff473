// Terminal reports of packages: split, verify.
#pragma once

#include "paritas/delivery/locate_package.h"
#include "paritas/delivery/split_types.h"
#include "paritas/delivery/verify_types.h"
#include "paritas/report/style.h"

namespace paritas {

std::string terminal(const SplitResult& result, const Style& style);
std::string terminal(const VerifyResult& result, const Style& style);
std::string terminal(const PackageLocateResult& result, const Style& style);

}  // namespace paritas
