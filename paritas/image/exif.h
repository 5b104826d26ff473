// The orientation tag of an EXIF block, and nothing else of it.
#pragma once

#include <cstddef>
#include <span>

namespace paritas {

// `tiff` starts at the byte-order mark ("II" or "MM"). 1 when the tag is absent, out of range or cannot be reached.
int exif_orientation(std::span<const std::byte> tiff);

}  // namespace paritas
