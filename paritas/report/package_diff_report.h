// Terminal report of two packages compared.
#pragma once

#include "paritas/delivery/compare_packages_types.h"
#include "paritas/report/style.h"

namespace paritas {

std::string terminal(const PackageDiff& diff, const Style& style);

}  // namespace paritas
