#include "paritas/report/finding_text.h"

namespace paritas {

std::string finding_block(const Finding& f, const Style& style, bool whole) {
  std::string out = wrap(f.text, bold(style, f.severity == Severity::kFault ? "Finding" : "Note   ") + "   ",
                         std::string(10, ' '), style.width);
  if (f.severity == Severity::kNote && !style.verbose && !whole) return out;
  const std::string pad(26, ' ');
  out += wrap(f.shows, "          shows           ", pad, style.width);
  out += wrap(f.does_not_show, "          does not show   ", pad, style.width);
  out += wrap(f.next, "          next            ", pad, style.width);
  return out;
}

}  // namespace paritas
