// For tests: .npy texts, zip archives and base64 made by hand, right or wrong.
#pragma once

#include <zlib.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "paritas/tensor/tensor.h"

namespace paritas {

inline std::string npy_text(const std::string& descr, const std::string& shape, const std::string& data) {
  const std::string header = "{'descr': " + descr + ", 'fortran_order': False, 'shape': " + shape + ", }\n";
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header + data;
}

inline std::vector<double> doubles(const Tensor& tensor) {
  std::vector<std::byte> bytes(tensor.bytes.size());
  if (!tensor.bytes.read(0, bytes)) std::abort();
  std::vector<double> values(tensor.count());
  load_as_double(tensor.dtype, bytes, 0, values);
  return values;
}

inline std::string base64_text(const std::string& bytes) {
  const char* alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t word = 0;
    for (size_t k = 0; k < 3; ++k) word = word << 8 | (i + k < bytes.size() ? static_cast<uint8_t>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k) text += i + k > bytes.size() ? '=' : alphabet[word >> (18 - 6 * k) & 63];
  }
  return text;
}

class ZipMaker {
 public:
  // `claimed`: size after inflating that the directory states, when it is to lie.
  void add(const std::string& name, const std::string& content, bool deflate, std::optional<uint64_t> claimed = {}) {
    Entry entry;
    entry.name = name;
    entry.method = deflate ? 8 : 0;
    entry.crc = static_cast<uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()));
    entry.size = claimed.value_or(content.size());
    entry.offset = text_.size();
    const std::string data = deflate ? deflated(content) : content;
    entry.compressed = data.size();
    text_ += "PK\x03\x04" + number(20, 2) + number(0, 2) + common(entry) + number(entry.name.size(), 2) + number(0, 2) +
             entry.name + data;
    entries_.push_back(entry);
  }
  // Members with their headers, without the directory.
  const std::string& members() const { return text_; }
  // Directory entries for the members of `other`, which start at `offset` of this archive.
  void add_nested(const ZipMaker& other, uint64_t offset) {
    for (Entry entry : other.entries_) {
      entry.offset += offset;
      entries_.push_back(entry);
    }
  }
  std::string finish() const {
    std::string directory;
    for (const Entry& entry : entries_)
      directory += "PK\x01\x02" + number(20, 2) + number(20, 2) + number(0, 2) + common(entry) +
                   number(entry.name.size(), 2) + number(entry.size > 0xffffffff ? 12 : 0, 2) + number(0, 2) +
                   number(0, 2) + number(0, 2) + number(0, 4) + number(entry.offset, 4) + entry.name +
                   (entry.size > 0xffffffff ? number(1, 2) + number(8, 2) + number(entry.size, 8) : "");
    return text_ + directory + "PK\x05\x06" + number(0, 4) + number(entries_.size(), 2) + number(entries_.size(), 2) +
           number(directory.size(), 4) + number(text_.size(), 4) + number(0, 2);
  }

 private:
  struct Entry {
    std::string name;
    int method = 0;
    uint32_t crc = 0;
    uint64_t size = 0;
    uint64_t compressed = 0;
    uint64_t offset = 0;
  };
  static std::string number(uint64_t value, int width) {
    std::string text;
    for (int i = 0; i < width; ++i) text += static_cast<char>(value >> (8 * i) & 255);
    return text;
  }
  static std::string common(const Entry& entry) {
    return number(static_cast<uint64_t>(entry.method), 2) + number(0, 4) + number(entry.crc, 4) +
           number(entry.compressed, 4) + number(entry.size > 0xffffffff ? 0xffffffff : entry.size, 4);
  }
  static std::string deflated(const std::string& content) {
    z_stream stream{};
    if (::deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) std::abort();
    std::string out(::deflateBound(&stream, content.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
    stream.avail_in = static_cast<uInt>(content.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    if (::deflate(&stream, Z_FINISH) != Z_STREAM_END) std::abort();
    out.resize(stream.total_out);
    ::deflateEnd(&stream);
    return out;
  }

  std::string text_;
  std::vector<Entry> entries_;
};

}  // namespace paritas
