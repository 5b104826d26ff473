// Small parts of wordings that several catalogue files share.
#pragma once

#include <string>
#include <vector>

namespace paritas::catalogue {

// "a, b, c, d and 3 more"
std::string list(const std::vector<std::string>& names, size_t limit = 4);

}  // namespace paritas::catalogue
