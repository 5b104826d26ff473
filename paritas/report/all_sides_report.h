// A check with more than two sides, on the terminal.
#pragma once

#include <string>

#include "paritas/project/types.h"
#include "paritas/report/style.h"

namespace paritas {

std::string all_sides_text(const AllSides& all, const Style& style);

}  // namespace paritas
