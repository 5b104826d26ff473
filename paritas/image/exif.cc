#include "paritas/image/exif.h"

#include <cstdint>
#include <optional>

namespace paritas {
namespace {

constexpr uint32_t kOrientationTag = 0x0112;
constexpr uint32_t kShort = 3;  // TIFF's 16-bit type

class Tiff {
 public:
  Tiff(std::span<const std::byte> bytes, bool big_endian) : bytes_(bytes), big_endian_(big_endian) {}

  // `width` bytes at `at`, or nullopt past the end.
  std::optional<uint32_t> number(uint64_t at, int width) const {
    if (at + static_cast<uint64_t>(width) > bytes_.size()) return std::nullopt;
    uint32_t value = 0;
    for (int i = 0; i < width; ++i) {
      const auto byte = std::to_integer<uint32_t>(bytes_[at + static_cast<uint64_t>(i)]);
      value |= byte << (8 * (big_endian_ ? width - 1 - i : i));
    }
    return value;
  }

 private:
  std::span<const std::byte> bytes_;
  bool big_endian_;
};

}  // namespace

int exif_orientation(std::span<const std::byte> bytes) {
  if (bytes.size() < 8 || bytes[0] != bytes[1]) return 1;
  if (bytes[0] != std::byte{'I'} && bytes[0] != std::byte{'M'}) return 1;
  const Tiff tiff(bytes, bytes[0] == std::byte{'M'});
  if (tiff.number(2, 2) != 42u) return 1;
  const uint64_t directory = *tiff.number(4, 4);
  const uint32_t entries = tiff.number(directory, 2).value_or(0);
  for (uint64_t i = 0; i < entries; ++i) {
    const uint64_t entry = directory + 2 + 12 * i;
    const auto tag = tiff.number(entry, 2);
    if (!tag) return 1;
    if (*tag != kOrientationTag) continue;
    if (tiff.number(entry + 2, 2) != kShort) return 1;
    const uint32_t value = tiff.number(entry + 8, 2).value_or(1);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

}  // namespace paritas
