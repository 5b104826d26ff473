#include "paritas/image/decode_jpeg.h"

#include <algorithm>
#include <csetjmp>
#include <cstdio>  // jpeglib.h needs FILE
#include <cstring>

#include <fmt/format.h>
#include <jerror.h>  // behind jpeglib.h, which it needs
#include <jpeglib.h>

#include "paritas/image/exif.h"

#ifndef LIBJPEG_TURBO_VERSION
#error "Pillow's pixels need libjpeg-turbo: other libjpegs upsample differently"
#endif
#define PARITAS_TEXT_INNER(x) #x
#define PARITAS_TEXT(x) PARITAS_TEXT_INNER(x)

namespace paritas {
namespace {

constexpr const char* kDecoder = "libjpeg-turbo " PARITAS_TEXT(LIBJPEG_TURBO_VERSION);
constexpr const char* kDamaged = "the file is truncated or damaged: copy or save it again";
// Encoders write about ten. Every scan of a progressive image goes over all of it, so many small ones cost hours.
constexpr int kMaxScans = 100;

// libjpeg's state. Every member function that calls into libjpeg has its own setjmp and no local object with a
// destructor, so that longjmp skips none.
class JpegReader {
 public:
  JpegReader() {
    info_.err = jpeg_std_error(&errors_);
    errors_.error_exit = on_error;
    errors_.emit_message = on_message;
    errors_.output_message = [](j_common_ptr) {};
    info_.client_data = this;
  }
  ~JpegReader() { jpeg_destroy_decompress(&info_); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  // Up to the first image data. False on an error, whose text is in message().
  bool start(std::span<const std::byte> bytes) {
    if (setjmp(jump_)) return false;
    jpeg_create_decompress(&info_);
    info_.client_data = this;
    progress_.progress_monitor = on_progress;
    info_.progress = &progress_;
    jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    jpeg_save_markers(&info_, JPEG_APP0 + 1, 0xffff);
    jpeg_read_header(&info_, TRUE);
    return true;
  }

  // Everything else up to the end of the image. `row` has room for one row of components; `take(row, y)` is called for
  // each and must not throw.
  template <class Take>
  bool read(uint8_t* row, Take take) {
    if (setjmp(jump_)) return false;
    jpeg_start_decompress(&info_);
    check_scans();
    while (info_.output_scanline < info_.output_height) {
      const JDIMENSION y = info_.output_scanline;
      jpeg_read_scanlines(&info_, &row, 1);
      take(y);
    }
    jpeg_finish_decompress(&info_);
    return true;
  }

  const jpeg_decompress_struct& info() const { return info_; }
  std::string message() const { return message_; }
  std::string note() const { return note_; }

 private:
  static JpegReader& self(j_common_ptr info) { return *static_cast<JpegReader*>(info->client_data); }

  [[noreturn]] static void on_error(j_common_ptr info) {
    JpegReader& reader = self(info);
    info->err->format_message(info, reader.message_);
    std::longjmp(reader.jump_, 1);
  }

  // Warnings (level -1) mean that libjpeg made pixels up, but for three that leave every pixel as the file says.
  static void on_message(j_common_ptr info, int level) {
    if (level >= 0) return;
    const int code = info->err->msg_code;
    if (code == JWRN_EXTRANEOUS_DATA) {
      if (self(info).note_[0] == '\0') info->err->format_message(info, self(info).note_);
      return;
    }
    if (code == JWRN_JFIF_MAJOR || code == JWRN_ADOBE_XFORM) return;
    on_error(info);
  }

  static void on_progress(j_common_ptr info) {
    if (self(info).info_.input_scan_number > kMaxScans) self(info).fail("it has more than 100 scans");
  }

  // libjpeg leaves components and coefficients that no scan brought at zero, without a word.
  void check_scans() {
    for (int c = 0; c < info_.num_components; ++c) {
      if (info_.comp_info[c].quant_table == nullptr) fail("the scan of a colour component is missing");
      if (!info_.progressive_mode || info_.coef_bits == nullptr) continue;
      const int* bits = info_.coef_bits[c];
      if (std::any_of(bits, bits + DCTSIZE2, [](int precision) { return precision != 0; }))
        fail("progressive scans are missing");
    }
  }

  [[noreturn]] void fail(const char* text) {
    std::snprintf(message_, sizeof message_, "%s", text);
    std::longjmp(jump_, 1);
  }

  jpeg_decompress_struct info_{};
  jpeg_error_mgr errors_{};
  jpeg_progress_mgr progress_{};
  std::jmp_buf jump_{};
  char message_[JMSG_LENGTH_MAX] = {};
  char note_[JMSG_LENGTH_MAX] = {};
};

// A block of 8 x 8 samples takes a bit at least where Huffman codes are used.
Status check_claim(const jpeg_decompress_struct& info, size_t file_bytes, const std::string& subject) {
  PARITAS_TRY(check_image_size(info.image_width, info.image_height, subject));
  if (info.arith_code) return {};
  uint64_t blocks = 0;
  for (int c = 0; c < info.num_components; ++c) {
    const auto across = [](uint64_t pixels, int factor, int most) {
      return pixels * static_cast<uint64_t>(factor) / (static_cast<uint64_t>(most) * DCTSIZE);
    };
    const jpeg_component_info& component = info.comp_info[c];
    blocks += across(info.image_width, component.h_samp_factor, info.max_h_samp_factor) *
              across(info.image_height, component.v_samp_factor, info.max_v_samp_factor);
  }
  if (blocks > 8 * static_cast<uint64_t>(file_bytes))
    return input_error(subject,
                       fmt::format("claims {} x {} pixels, but the file has only {} bytes", info.image_width,
                                   info.image_height, file_bytes),
                       kDamaged);
  return {};
}

std::string mode_text(const jpeg_decompress_struct& info) {
  const char* colours = "RGB";
  switch (info.jpeg_color_space) {
    case JCS_GRAYSCALE:
      colours = "grey";
      break;
    case JCS_YCbCr:
      colours = "YCbCr";
      break;
    case JCS_CMYK:
      colours = "CMYK";
      break;
    case JCS_YCCK:
      colours = "YCCK";
      break;
    default:
      break;
  }
  std::string text = colours;
  if (info.num_components == 3)
    text += fmt::format(" {}x{}", info.comp_info[0].h_samp_factor, info.comp_info[0].v_samp_factor);
  return text + (info.progressive_mode ? ", progressive" : ", sequential");
}

int orientation_of(const jpeg_decompress_struct& info) {
  constexpr std::string_view kExif("Exif\0\0", 6);
  for (const jpeg_marker_struct* marker = info.marker_list; marker != nullptr; marker = marker->next)
    if (marker->marker == JPEG_APP0 + 1 && marker->data_length > kExif.size() &&
        std::memcmp(marker->data, kExif.data(), kExif.size()) == 0)
      return exif_orientation(std::as_bytes(std::span(marker->data, marker->data_length)).subspan(kExif.size()));
  return 1;
}

// a * b / 255, rounded; exact for bytes.
uint32_t multiply_bytes(uint32_t a, uint32_t b) {
  const uint32_t product = a * b + 128;
  return ((product >> 8) + product) >> 8;
}

// One row of 1, 3 or 4 components as RGB. CMYK files are taken to hold inverted inks, as Adobe writes them and Pillow
// assumes; then, as Pillow does, paper minus black minus ink.
void to_rgb(const uint8_t* row, int components, int64_t width, uint8_t* out) {
  if (components == 3) {
    std::memcpy(out, row, static_cast<size_t>(width) * 3);
    return;
  }
  for (int64_t x = 0; x < width; ++x, row += components, out += 3) {
    if (components == 1) {
      std::memset(out, row[0], 3);
      continue;
    }
    const uint32_t paper = row[3];  // 255 - black
    for (int c = 0; c < 3; ++c) out[c] = static_cast<uint8_t>(paper - multiply_bytes(255u - row[c], paper));
  }
}

}  // namespace

Result<DecodedImage> decode_jpeg(std::span<const std::byte> bytes, const std::string& subject) {
  JpegReader reader;
  const auto damaged = [&] {
    return input_error(subject, fmt::format("the JPEG image cannot be read ({})", reader.message()), kDamaged);
  };
  if (!reader.start(bytes)) return damaged();
  const jpeg_decompress_struct& info = reader.info();
  PARITAS_TRY(check_claim(info, bytes.size(), subject));
  const int components = info.num_components;
  if (components != 1 && components != 3 && components != 4)
    return input_error(subject, fmt::format("the JPEG image has {} colour components; 1, 3 and 4 are read", components),
                       "convert it to RGB");
  DecodedImage decoded;
  decoded.format = ImageFormat::kJpeg;
  decoded.decoder = kDecoder;
  decoded.image = make_image(info.image_width, info.image_height);
  std::vector<uint8_t> row(static_cast<size_t>(info.image_width) * static_cast<size_t>(components));
  Image& image = decoded.image;
  const auto take = [&](int64_t y) { to_rgb(row.data(), components, image.width, image.row(y)); };
  decoded.mode = mode_text(info);  // here, since libjpeg forgets its markers when it is done
  decoded.orientation = orientation_of(info);
  if (!reader.read(row.data(), take)) return damaged();
  if (!reader.note().empty()) decoded.notes.push_back(reader.note());
  if (components == 4) decoded.notes.emplace_back("CMYK is turned into RGB without a colour profile, as Pillow does");
  return decoded;
}

}  // namespace paritas
