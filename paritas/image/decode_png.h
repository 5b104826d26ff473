// PNG through libpng; decode.h is what callers use. The only file with libpng's headers and its longjmp is the .cc.
#pragma once

#include "paritas/image/decode.h"

namespace paritas {

// `bytes` start with the PNG signature.
Result<DecodedImage> decode_png(std::span<const std::byte> bytes, const std::string& subject);

}  // namespace paritas
