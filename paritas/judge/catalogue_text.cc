#include "paritas/judge/catalogue_text.h"

#include <fmt/format.h>

namespace paritas::catalogue {

std::string list(const std::vector<std::string>& names, size_t limit) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < limit; ++i) text += (i != 0 ? ", " : "") + names[i];
  if (names.size() > limit) text += fmt::format(" and {} more", names.size() - limit);
  return text;
}

}  // namespace paritas::catalogue
