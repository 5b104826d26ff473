// TOML as JSON, so that everything declared in either has one reader.
#pragma once

#include "paritas/base/json.h"

namespace paritas {

// Tables become objects, arrays arrays; dates and times become their text; numbers stay whole or fractional. Errors:
// not valid TOML, with the line; nesting beyond 200 levels.
Result<Json> parse_toml(const std::string& text, const std::string& subject);

}  // namespace paritas
