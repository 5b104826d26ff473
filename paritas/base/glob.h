// Shell-like patterns over names: * stands for any text, ? for one character.
#pragma once

#include <string_view>

namespace paritas {

bool glob_match(std::string_view pattern, std::string_view text);

}  // namespace paritas
