// Words that a misspelt one may have meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace paritas {

// Bytes to insert, delete or replace to make one of the other (Levenshtein).
size_t edit_distance(std::string_view a, std::string_view b);

// `words`, the ones closest to `word` first; equally close ones keep their order.
std::vector<std::string> nearest_first(std::string_view word, std::vector<std::string> words);

}  // namespace paritas
