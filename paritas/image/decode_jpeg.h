// JPEG through libjpeg-turbo; decode.h is what callers use. The only file with libjpeg's headers and its longjmp is the
// .cc.
#pragma once

#include "paritas/image/decode.h"

namespace paritas {

// `bytes` start with a JPEG's first marker.
Result<DecodedImage> decode_jpeg(std::span<const std::byte> bytes, const std::string& subject);

}  // namespace paritas
