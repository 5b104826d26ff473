// A check that stands before the TOML parser.
#pragma once

#include <string>
#include <string_view>

#include "paritas/base/error.h"

namespace paritas {

// TOML allows characters beyond ASCII in strings and comments only. toml++ 3.3 runs into undefined behaviour where they
// stand elsewhere ("ä = 1"), or behind a backslash within a string, so they are refused here, with the line. A byte order
// mark at the start is allowed.
Status check_toml_characters(std::string_view text, const std::string& subject);

}  // namespace paritas
