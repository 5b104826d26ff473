#include "paritas/tensor/npy.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "paritas/tensor/npy_header.h"

namespace paritas {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr uint64_t kMaxHeader = 1 << 20;  // a header of 64 dimensions takes about 1,400 bytes
constexpr uint64_t kAlignment = 64;       // numpy.lib.format.ARRAY_ALIGN
constexpr size_t kBlock = 1 << 20;
constexpr const char* kDamaged = "the file is damaged: save it again with numpy.save";

struct Layout {
  NpyHeader header;
  uint64_t data = 0;   // where the array starts
  uint64_t count = 0;  // elements
};

// Length of the text header and where it starts, from the magic, the version and the length field. `total` is the size
// of the whole file, of which `file` may be the start.
Result<std::pair<uint64_t, uint64_t>> find_header(const Bytes& file, uint64_t total, const std::string& subject) {
  std::array<std::byte, 12> start{};
  const uint64_t got = std::min<uint64_t>(start.size(), file.size());
  PARITAS_TRY(file.read(0, std::span(start).first(got)));
  if (got < 8 || std::memcmp(start.data(), kMagic.data(), kMagic.size()) != 0)
    return input_error(subject, "is not a .npy file (it does not start with \\x93NUMPY)", "save it with numpy.save");
  const int major = std::to_integer<int>(start[6]);
  const int minor = std::to_integer<int>(start[7]);
  if (major < 1 || major > 3 || minor != 0)
    return input_error(subject, fmt::format(".npy version {}.{} is not known", major, minor),
                       "save it with version 1.0, 2.0 or 3.0");
  const int width = major == 1 ? 2 : 4;
  const uint64_t text = 8 + static_cast<uint64_t>(width);
  if (total < text) return input_error(subject, "ends within its header", "the file is truncated: copy it again");
  uint64_t length = 0;
  for (int i = width - 1; i >= 0; --i) length = length << 8 | std::to_integer<uint64_t>(start[8 + i]);
  if (length > total - text)
    return input_error(subject, fmt::format("claims a header of {} bytes, the file has {} bytes", length, total),
                       "the file is truncated or damaged: copy it again");
  if (length > kMaxHeader)
    return input_error(subject, fmt::format("claims a header of {} bytes, at most {} are lawful", length, kMaxHeader),
                       kDamaged);
  return std::pair(text, length);
}

Result<Layout> read_layout(const Bytes& file, uint64_t total, const std::string& subject) {
  PARITAS_ASSIGN(const auto place, find_header(file, total, subject));
  if (place.first + place.second > file.size()) return input_error(subject, "its header is too long to be looked at");
  std::string text(place.second, '\0');
  PARITAS_TRY(file.read(place.first, std::as_writable_bytes(std::span(text))));
  Layout layout;
  PARITAS_ASSIGN(layout.header, parse_npy_header(text, subject));
  const auto count = element_count(layout.header.shape);
  if (!count) return input_error(subject, count.error().cause, kDamaged);
  layout.count = *count;
  layout.data = place.first + place.second;
  const uint64_t expected = byte_size(layout.header.dtype, layout.count);
  const uint64_t present = total - layout.data;
  if (present < expected)
    return input_error(subject,
                       fmt::format("{} {} takes {} bytes, the file has only {} after its header",
                                   name(layout.header.dtype), to_string(layout.header.shape), expected, present),
                       "the file is truncated: copy it again");
  if (present > expected)
    return input_error(subject, fmt::format("{} bytes follow the array", present - expected),
                       "write one array to a file, with numpy.save");
  return layout;
}

template <size_t N>
using Element = std::array<std::byte, N>;

template <size_t N>
void swap_bytes(std::span<std::byte> data) {
  for (size_t at = 0; at < data.size(); at += N) std::reverse(data.data() + at, data.data() + at + N);
}

// Column-major to row-major. The first dimension is contiguous in the source and the last one in the result: tiles of
// these two keep both sides in the cache; the dimensions between are walked by a counter.
template <size_t N>
void to_row_major(const Shape& shape, std::span<const std::byte> from, std::span<std::byte> to) {
  constexpr uint64_t kTile = 32;
  const size_t rank = shape.size();
  const auto first = static_cast<uint64_t>(shape.front());
  const auto last = static_cast<uint64_t>(shape.back());
  const uint64_t total = from.size() / N;
  if (total == 0) return;
  const uint64_t from_step = total / last;  // of the last dimension in the source
  const uint64_t to_step = total / first;   // of the first dimension in the result
  std::vector<int64_t> middle(rank - 2, 0);
  for (uint64_t block = 0; block < total / first / last; ++block) {
    uint64_t from_base = 0;
    uint64_t to_base = 0;
    for (size_t i = rank - 2; i-- > 0;) from_base = from_base * shape[i + 1] + middle[i];
    for (size_t i = 0; i < rank - 2; ++i) to_base = to_base * shape[i + 1] + middle[i];
    from_base *= first;
    to_base *= last;
    for (uint64_t row = 0; row < first; row += kTile)
      for (uint64_t column = 0; column < last; column += kTile)
        for (uint64_t i = row; i < std::min(first, row + kTile); ++i)
          for (uint64_t j = column; j < std::min(last, column + kTile); ++j)
            std::memcpy(to.data() + (to_base + i * to_step + j) * N, from.data() + (from_base + i + j * from_step) * N,
                        N);
    for (size_t i = 0; i < rank - 2; ++i) {
      if (++middle[i] < shape[i + 1]) break;
      middle[i] = 0;
    }
  }
}

// The data as little-endian C order, in memory.
template <size_t N>
std::vector<std::byte> convert(const NpyHeader& header, std::span<const std::byte> from) {
  std::vector<std::byte> to(from.size());
  if (header.fortran_order && header.shape.size() > 1) {
    to_row_major<N>(header.shape, from, to);
  } else if (!from.empty()) {
    std::memcpy(to.data(), from.data(), from.size());
  }
  if (header.big_endian) swap_bytes<N>(to);
  return to;
}

Result<Bytes> converted(const Tensor& stored, const Layout& layout) {
  const DType dtype = layout.header.dtype;
  PARITAS_ASSIGN(const auto view, TensorView::of(stored));
  switch (bits(dtype)) {
    case 8:
      return Bytes::in_memory(convert<1>(layout.header, view.bytes()));
    case 16:
      return Bytes::in_memory(convert<2>(layout.header, view.bytes()));
    case 32:
      return Bytes::in_memory(convert<4>(layout.header, view.bytes()));
    default:
      return Bytes::in_memory(convert<8>(layout.header, view.bytes()));
  }
}

// Magic, version, length and dictionary, padded with spaces so that the data is aligned; ends in a newline.
std::string whole_header(const std::string& dictionary) {
  const bool long_form = dictionary.size() + 1 + kAlignment > 65535;
  const size_t fixed = long_form ? 12 : 10;
  const size_t total = (fixed + dictionary.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  const size_t length = total - fixed;
  std::string header(kMagic);
  header += long_form ? '\2' : '\1';
  header += '\0';
  for (size_t i = 0; i < fixed - 8; ++i) header += static_cast<char>(length >> (8 * i) & 255);
  header += dictionary;
  header.resize(total - 1, ' ');
  return header + '\n';
}

}  // namespace

Result<Tensor> read_npy(const Bytes& bytes, const std::string& subject) {
  PARITAS_ASSIGN(Layout layout, read_layout(bytes, bytes.size(), subject));
  const NpyHeader& header = layout.header;
  const uint64_t size = byte_size(header.dtype, layout.count);
  PARITAS_ASSIGN(Tensor tensor, make_tensor(header.dtype, header.shape, bytes.part(layout.data, size), subject));
  if (header.big_endian || (header.fortran_order && header.shape.size() > 1)) {
    PARITAS_ASSIGN(tensor.bytes, converted(tensor, layout));
  }
  return tensor;
}

Result<Tensor> read_npy(const Path& path) {
  PARITAS_ASSIGN(auto file, File::open(path));
  const uint64_t size = file->size();
  return read_npy(Bytes::in_file(std::move(file), 0, size), path.string());
}

Result<NpyClaim> read_npy_claim(const Bytes& start, uint64_t total, const std::string& subject) {
  PARITAS_ASSIGN(Layout layout, read_layout(start, total, subject));
  return NpyClaim{layout.header.dtype, std::move(layout.header.shape)};
}

Status write_npy(const Path& path, const Tensor& tensor, bool overwrite) {
  const bool packed = bits(tensor.dtype) < 8;
  const Shape shape = packed ? Shape{static_cast<int64_t>(tensor.bytes.size())} : tensor.shape;
  if (shape.size() > kMaxNpyRank)
    return input_error(path.string(), fmt::format("a .npy file holds at most {} dimensions", kMaxNpyRank));
  PARITAS_ASSIGN(AtomicFile file, AtomicFile::create(path, overwrite));
  PARITAS_TRY(file.write(whole_header(format_npy_header(packed ? DType::kU8 : tensor.dtype, shape))));
  std::vector<std::byte> block(std::min<uint64_t>(kBlock, tensor.bytes.size()));
  for (uint64_t at = 0; at < tensor.bytes.size(); at += block.size()) {
    const auto part = std::span(block).first(std::min<uint64_t>(block.size(), tensor.bytes.size() - at));
    PARITAS_TRY(tensor.bytes.read(at, part));
    PARITAS_TRY(file.write(part));
  }
  return file.commit();
}

}  // namespace paritas
