// Text from files (names of nodes and tensors, paths, what libraries printed) as a terminal may be given it: control
// characters could move the cursor, hide text or set the window's title.
#pragma once

#include <string>
#include <string_view>

namespace paritas {

struct VisibleOptions {
  bool lines = false;    // line feeds and tabs stay: text of several lines
  bool colours = false;  // the escape sequences that bold(), dim() and banner() write stay, and no others
};

// Control characters (C0, DEL, C1), line and paragraph separators, bidirectional marks and overrides, and bytes that
// are no UTF-8, written as "\n", "\x1b" or "\u202e". What is left takes a column or joins its neighbours, and does
// nothing else. Doing it twice changes nothing.
std::string visible(std::string_view text, VisibleOptions options = {});

}  // namespace paritas
