// Base64 with the standard alphabet (RFC 4648, section 4), padded, without line breaks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace paritas {

// Bytes that `text` decodes to; nullopt when its length or padding is unlawful.
std::optional<uint64_t> base64_size(std::string_view text);

// Decodes into `out`, which has base64_size(text) bytes. False for a character outside the alphabet.
bool base64_decode(std::string_view text, std::span<std::byte> out);

}  // namespace paritas
