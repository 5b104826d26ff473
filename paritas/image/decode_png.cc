#include "paritas/image/decode_png.h"

#include <csetjmp>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>
#include <png.h>

#include "paritas/image/exif.h"

namespace paritas {
namespace {

constexpr const char* kDamaged = "the file is damaged: copy or save it again";
// Deflate's best: 258 bytes from two bits, so 1032 to 1. What claims more cannot be in the file.
constexpr uint64_t kDeflateRatio = 1032;

struct Header {
  int64_t width = 0;
  int64_t height = 0;
  int depth = 0;   // bits a sample
  int colour = 0;  // PNG_COLOR_TYPE_*
};

int channels_of(int colour) {
  switch (colour) {
    case PNG_COLOR_TYPE_GRAY:
    case PNG_COLOR_TYPE_PALETTE:
      return 1;
    case PNG_COLOR_TYPE_GRAY_ALPHA:
      return 2;
    case PNG_COLOR_TYPE_RGB:
      return 3;
    case PNG_COLOR_TYPE_RGB_ALPHA:
      return 4;
    default:
      return 0;
  }
}

// Read here and not by libpng, so that a lie about the size is told in our words and before anything is allocated.
Result<Header> read_header(std::span<const std::byte> bytes, const std::string& subject) {
  constexpr size_t kHeaderEnd = 8 + 8 + 13 + 4;  // signature, length and type, IHDR, CRC
  if (bytes.size() < kHeaderEnd) return input_error(subject, "the PNG image ends within its header", kDamaged);
  if (std::memcmp(bytes.data() + 12, "IHDR", 4) != 0)
    return input_error(subject, "the PNG image does not start with its header (IHDR)", kDamaged);
  const auto number = [&](size_t at) {
    uint32_t value = 0;
    for (size_t i = 0; i < 4; ++i) value = value << 8 | std::to_integer<uint32_t>(bytes[at + i]);
    return value;
  };
  Header header{number(16), number(20), std::to_integer<int>(bytes[24]), std::to_integer<int>(bytes[25])};
  const int channels = channels_of(header.colour);
  if (channels == 0 || header.depth < 1 || header.depth > 16)
    return input_error(subject,
                       fmt::format("the PNG header is wrong (colour type {}, {} bits)", header.colour, header.depth),
                       kDamaged);
  PARITAS_TRY(check_image_size(header.width, header.height, subject));
  const uint64_t bits =
      static_cast<uint64_t>(header.width * header.height) * static_cast<uint64_t>(channels * header.depth);
  if (bits / 8 > kDeflateRatio * bytes.size())
    return input_error(
        subject,
        fmt::format("claims {} x {} pixels, but the file has only {} bytes", header.width, header.height, bytes.size()),
        kDamaged);
  return header;
}

// libpng's state. Every member function that calls into libpng has its own setjmp and no local object with a
// destructor, so that longjmp skips none.
class PngReader {
 public:
  explicit PngReader(std::span<const std::byte> bytes) : rest_(bytes) {}
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  // Up to the first image data. False on an error, whose text is in message().
  bool start(bool keep_16_bits) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
    info_ = png_ == nullptr ? nullptr : png_create_info_struct(png_);
    if (info_ == nullptr) return false;
    if (setjmp(jump_)) return false;
    png_set_read_fn(png_, this, on_read);
    png_set_user_limits(png_, kMaxImageSide, kMaxImageSide);
    // Chunks that do not matter here are skipped: nothing of them is unpacked, and their faults are nobody's.
    static constexpr png_byte kSkipped[] =
        "iCCP\0cHRM\0gAMA\0sRGB\0sBIT\0bKGD\0pHYs\0oFFs\0pCAL\0sCAL\0tIME\0hIST\0sPLT\0tEXt\0zTXt\0iTXt";
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, kSkipped, static_cast<int>(sizeof kSkipped / 5));
    png_read_info(png_, info_);
    png_set_packing(png_);
    if (!keep_16_bits) png_set_strip_16(png_);
    png_set_strip_alpha(png_);
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    return true;
  }

  // All rows and whatever follows them up to the end of the image.
  bool read(png_bytepp rows) {
    if (setjmp(jump_)) return false;
    png_read_image(png_, rows);
    png_read_end(png_, info_);
    return true;
  }

  size_t row_bytes() const { return png_get_rowbytes(png_, info_); }
  bool has_transparency() const { return png_get_valid(png_, info_, PNG_INFO_tRNS) != 0; }

  std::span<const png_color> palette() const {
    png_colorp colours = nullptr;
    int count = 0;
    if (png_get_PLTE(png_, info_, &colours, &count) == 0 || count < 0) return {};
    return {colours, static_cast<size_t>(count)};
  }

  int orientation() const {
    png_uint_32 size = 0;
    png_bytep exif = nullptr;
    if (png_get_eXIf_1(png_, info_, &size, &exif) == 0 || exif == nullptr) return 1;
    return exif_orientation(std::as_bytes(std::span(exif, size)));
  }

  std::string message() const { return message_[0] == '\0' ? "out of memory" : message_; }

 private:
  static void on_error(png_structp png, png_const_charp text) {
    auto* self = static_cast<PngReader*>(png_get_error_ptr(png));
    std::snprintf(self->message_, sizeof self->message_, "%s", text);
    std::longjmp(self->jump_, 1);
  }
  // What libpng only warns of leaves every pixel as the file says.
  static void on_warning(png_structp, png_const_charp) {}
  static void on_read(png_structp png, png_bytep out, size_t size) {
    auto* self = static_cast<PngReader*>(png_get_io_ptr(png));
    if (size > self->rest_.size()) png_error(png, "the file ends early");
    std::memcpy(out, self->rest_.data(), size);
    self->rest_ = self->rest_.subspan(size);
  }

  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::span<const std::byte> rest_;
  std::jmp_buf jump_{};
  char message_[200] = {};
};

std::string mode_text(const Header& header, size_t colours) {
  const char* text = "grey";
  if (header.colour == PNG_COLOR_TYPE_GRAY_ALPHA) text = "grey and alpha";
  if (header.colour == PNG_COLOR_TYPE_RGB) text = "RGB";
  if (header.colour == PNG_COLOR_TYPE_RGB_ALPHA) text = "RGB and alpha";
  if (header.colour == PNG_COLOR_TYPE_PALETTE)
    return fmt::format("palette of {} colours, {} bits", colours, header.depth);
  return fmt::format("{}, {} bits", text, header.depth);
}

// Samples of one channel as RGB. An index beyond the palette names no colour: an error.
Status expand(const Header& header, std::span<const png_color> palette, std::span<const uint8_t> samples, Image& image,
              const std::string& subject) {
  const size_t count = image.pixels.size() / 3;
  uint8_t* out = image.pixels.data();
  if (header.colour == PNG_COLOR_TYPE_PALETTE) {
    for (size_t i = 0; i < count; ++i, out += 3) {
      const size_t index = samples[i];
      if (index >= palette.size())
        return input_error(
            subject, fmt::format("a pixel has colour {} of a palette of {} (counted from 0)", index, palette.size()),
            kDamaged);
      out[0] = palette[index].red;
      out[1] = palette[index].green;
      out[2] = palette[index].blue;
    }
    return {};
  }
  if (header.colour == PNG_COLOR_TYPE_GRAY && header.depth == 16) {  // big-endian; clipped, not scaled, as Pillow does
    for (size_t i = 0; i < count; ++i, out += 3) std::memset(out, samples[2 * i] != 0 ? 255 : samples[2 * i + 1], 3);
    return {};
  }
  const int factor = header.depth < 8 ? 255 / ((1 << header.depth) - 1) : 1;
  for (size_t i = 0; i < count; ++i, out += 3) std::memset(out, samples[i] * factor, 3);
  return {};
}

void add_notes(const Header& header, bool transparency, DecodedImage& decoded) {
  if (transparency || (header.colour & PNG_COLOR_MASK_ALPHA) != 0)
    decoded.notes.emplace_back("transparency is dropped: transparent pixels keep the colour that the file stores");
  if (header.depth == 16)
    decoded.notes.emplace_back(header.colour == PNG_COLOR_TYPE_GRAY
                                   ? "16-bit grey is clipped to 255, not scaled, as Pillow does"
                                   : "of 16 bits a channel the upper 8 are used, as Pillow does");
}

}  // namespace

Result<DecodedImage> decode_png(std::span<const std::byte> bytes, const std::string& subject) {
  PARITAS_ASSIGN(const Header header, read_header(bytes, subject));
  PngReader reader(bytes);
  const auto damaged = [&] {
    return input_error(subject, fmt::format("the PNG image cannot be read ({})", reader.message()), kDamaged);
  };
  const bool grey16 = header.colour == PNG_COLOR_TYPE_GRAY && header.depth == 16;
  if (!reader.start(/*keep_16_bits=*/grey16)) return damaged();

  DecodedImage decoded;
  decoded.format = ImageFormat::kPng;
  decoded.decoder = "libpng " PNG_LIBPNG_VER_STRING;
  decoded.image = make_image(header.width, header.height);
  const bool direct = (header.colour & PNG_COLOR_MASK_COLOR) != 0 && header.colour != PNG_COLOR_TYPE_PALETTE;
  const size_t sample_bytes = direct ? 3 : (grey16 ? 2 : 1);  // a pixel, after libpng's conversions
  const size_t stride = static_cast<size_t>(header.width) * sample_bytes;
  if (reader.row_bytes() != stride)
    return input_error(subject, "the PNG image cannot be read (its header is not lawful)", kDamaged);
  std::vector<uint8_t> samples(direct ? 0 : stride * static_cast<size_t>(header.height));
  uint8_t* const first = direct ? decoded.image.pixels.data() : samples.data();
  std::vector<png_bytep> rows(static_cast<size_t>(header.height));
  for (size_t y = 0; y < rows.size(); ++y) rows[y] = first + y * stride;
  if (!reader.read(rows.data())) return damaged();
  if (!direct) PARITAS_TRY(expand(header, reader.palette(), samples, decoded.image, subject));
  decoded.mode = mode_text(header, reader.palette().size());
  decoded.orientation = reader.orientation();
  add_notes(header, reader.has_transparency(), decoded);
  return decoded;
}

}  // namespace paritas
