// The directory of a zip archive. Layout: PKWARE's APPNOTE 6.3, sections 4.3 (records), 4.4 (fields), 4.5.3 (ZIP64).
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <unordered_set>

#include <fmt/format.h>

#include "paritas/vendor/npz.h"

namespace paritas {
namespace {

constexpr uint64_t kEndSize = 22;
constexpr uint64_t kMaxComment = 65535;
constexpr uint64_t kMaxDirectory = uint64_t{64} << 20;  // bytes; a million members of usual names
constexpr uint64_t kMaxRatio = 1032;                    // deflate: 258 bytes from 2 bits at best
constexpr const char* kDamaged = "the archive is damaged or truncated: copy it again, or save it again";

template <class T>
T little(std::span<const std::byte> bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

struct Directory {
  uint64_t offset = 0;
  uint64_t size = 0;
  uint64_t entries = 0;
  uint64_t end = 0;  // where the end record starts
};

class Reader {
 public:
  explicit Reader(const File& file) : file_(file), subject_(file.path().string()) {}

  Result<std::vector<ZipMember>> read() {
    PARITAS_ASSIGN(const Directory directory, find_directory());
    bytes_.resize(directory.size);
    PARITAS_TRY(file_.read(directory.offset, bytes_));
    std::vector<ZipMember> members;
    for (uint64_t i = 0; i < directory.entries; ++i) {
      PARITAS_ASSIGN(auto member, next_entry(directory));
      if (member) members.push_back(std::move(*member));
    }
    if (at_ != bytes_.size()) return damaged("the directory holds more than it lists");
    PARITAS_TRY(check_overlaps(members));
    return members;
  }

 private:
  Unexpected damaged(const std::string& what) const { return input_error(subject_, what, kDamaged); }

  Result<Directory> find_directory() {
    const uint64_t reach = std::min(file_.size(), kEndSize + kMaxComment);
    std::vector<std::byte> tail(reach);
    PARITAS_TRY(file_.read(file_.size() - reach, tail));
    for (uint64_t back = kEndSize; back <= reach; ++back) {
      const auto record = std::span(tail).subspan(reach - back);
      if (std::memcmp(record.data(), "PK\x05\x06", 4) != 0) continue;
      if (little<uint16_t>(record, 20) != back - kEndSize) continue;  // the comment must end the file
      return read_end(record, file_.size() - back);
    }
    return damaged("is not a zip archive, or its end is missing");
  }

  Result<Directory> read_end(std::span<const std::byte> record, uint64_t at) {
    Directory directory{little<uint32_t>(record, 16), little<uint32_t>(record, 12), little<uint16_t>(record, 10), at};
    if (little<uint16_t>(record, 4) != 0 && little<uint16_t>(record, 4) != 0xffff)
      return input_error(subject_, "is one part of a split archive", "join the parts first");
    const bool large = directory.offset == 0xffffffff || directory.size == 0xffffffff || directory.entries == 0xffff;
    if (large) PARITAS_TRY(read_zip64_end(at, directory));
    if (directory.offset > directory.end || directory.size > directory.end - directory.offset)
      return damaged(fmt::format("its directory of {} bytes at {} does not lie within the file", directory.size,
                                 directory.offset));
    if (directory.size > kMaxDirectory || directory.entries > directory.size / 46)
      return damaged(fmt::format("its directory of {} bytes lists {} members", directory.size, directory.entries));
    return directory;
  }

  Status read_zip64_end(uint64_t at, Directory& directory) {
    std::array<std::byte, 56> record{};
    if (at < 20) return {};  // no locator: the 32-bit fields hold as they are
    PARITAS_TRY(file_.read(at - 20, std::span(record).first(20)));
    if (std::memcmp(record.data(), "PK\x06\x07", 4) != 0) return {};
    const auto place = little<uint64_t>(record, 8);
    if (at < 20 + 56 || place > at - 20 - 56) return damaged("its ZIP64 record does not lie within the file");
    PARITAS_TRY(file_.read(place, record));
    if (std::memcmp(record.data(), "PK\x06\x06", 4) != 0) return damaged("its ZIP64 record is missing");
    directory.entries = little<uint64_t>(record, 32);
    directory.size = little<uint64_t>(record, 40);
    directory.offset = little<uint64_t>(record, 48);
    directory.end = place;
    return {};
  }

  // nullopt for a folder entry.
  Result<std::optional<ZipMember>> next_entry(const Directory& directory) {
    const auto rest = std::span<const std::byte>(bytes_).subspan(at_);
    if (rest.size() < 46 || std::memcmp(rest.data(), "PK\x01\x02", 4) != 0) return damaged("its directory is damaged");
    const uint64_t name = little<uint16_t>(rest, 28);
    const uint64_t extra = little<uint16_t>(rest, 30);
    const uint64_t length = 46 + name + extra + little<uint16_t>(rest, 32);
    if (length > rest.size()) return damaged("its directory is damaged");
    at_ += length;
    ZipMember member;
    member.name.assign(reinterpret_cast<const char*>(rest.data()) + 46, name);
    PARITAS_TRY(check_member_name(member.name));
    const auto flags = little<uint16_t>(rest, 8);
    const auto method = little<uint16_t>(rest, 10);
    if ((flags & 0x41) != 0)
      return input_error(subject_, fmt::format("member \"{}\" is encrypted", member.name),
                         "save it without a password");
    if (method != 0 && method != 8)
      return input_error(subject_, fmt::format("member \"{}\" is compressed by method {}", member.name, method),
                         "only stored and deflated members are read: save it again with numpy.savez");
    member.deflated = method == 8;
    member.crc = little<uint32_t>(rest, 16);
    member.compressed = little<uint32_t>(rest, 20);
    member.size = little<uint32_t>(rest, 24);
    uint64_t header = little<uint32_t>(rest, 42);
    PARITAS_TRY(read_zip64_extra(rest.subspan(46 + name, extra), member, header));
    if (member.name.ends_with('/') && member.size == 0) return std::nullopt;
    if (!names_.insert(member.name).second)
      return input_error(subject_, fmt::format("two members are called \"{}\"", member.name),
                         "one of them would hide the other: save it again");
    PARITAS_TRY(locate(header, directory, member));
    return member;
  }

  Status check_member_name(const std::string& name) const {
    PARITAS_TRY(check_name(name, subject_));
    for (size_t start = 0; start <= name.size();) {
      const size_t end = std::min(name.find_first_of("/\\", start), name.size());
      if (name.substr(start, end - start) == "..")
        return input_error(subject_, fmt::format("the member name \"{}\" climbs out of its folder", name),
                           "the archive was made to do harm, or damaged: do not use it");
      start = end + 1;
    }
    return {};
  }

  // Only fields that do not fit their 32 bits stand there, in this order.
  Status read_zip64_extra(std::span<const std::byte> extra, ZipMember& member, uint64_t& header) const {
    for (size_t at = 0; at + 4 <= extra.size();) {
      const auto id = little<uint16_t>(extra, at);
      const size_t length = little<uint16_t>(extra, at + 2);
      at += 4;
      if (length > extra.size() - at) break;
      if (id == 1) {
        size_t field = at;
        for (uint64_t* value : {&member.size, &member.compressed, &header}) {
          if (*value != 0xffffffff) continue;
          if (field + 8 > at + length) return damaged(fmt::format("member \"{}\" lacks its ZIP64 sizes", member.name));
          *value = little<uint64_t>(extra, field);
          field += 8;
        }
        return {};
      }
      at += length;
    }
    return {};
  }

  // Where the data starts, from the member's own header, which must agree with the directory.
  Status locate(uint64_t header, const Directory& directory, ZipMember& member) {
    const auto outside = [&] {
      return damaged(fmt::format("member \"{}\" claims {} bytes at {}, the directory starts at {}", member.name,
                                 member.compressed, header, directory.offset));
    };
    if (directory.offset < 30 || header > directory.offset - 30) return outside();
    std::array<std::byte, 30> local{};
    PARITAS_TRY(file_.read(header, local));
    const uint64_t name = little<uint16_t>(local, 26);
    member.data = header + 30 + name + little<uint16_t>(local, 28);
    if (member.data > directory.offset || member.compressed > directory.offset - member.data) return outside();
    std::string own(name, '\0');
    PARITAS_TRY(file_.read(header + 30, std::as_writable_bytes(std::span(own))));
    const bool deflated = little<uint16_t>(local, 8) == 8;
    if (std::memcmp(local.data(), "PK\x03\x04", 4) != 0 || own != member.name || deflated != member.deflated)
      return damaged(fmt::format("member \"{}\" has a header that contradicts the directory", member.name));
    if (!member.deflated && member.size != member.compressed)
      return damaged(fmt::format("member \"{}\" is stored in {} bytes and claims {}", member.name, member.compressed,
                                 member.size));
    if (member.deflated && member.size / kMaxRatio > member.compressed)
      return damaged(fmt::format("member \"{}\" claims to inflate from {} bytes to {}, which nothing can", member.name,
                                 member.compressed, member.size));
    starts_.push_back(header);
    return {};
  }

  Status check_overlaps(const std::vector<ZipMember>& members) const {
    std::vector<std::pair<uint64_t, size_t>> order;
    for (size_t i = 0; i < members.size(); ++i) order.emplace_back(starts_[i], i);
    std::sort(order.begin(), order.end());
    for (size_t i = 0; i + 1 < order.size(); ++i) {
      const ZipMember& member = members[order[i].second];
      if (member.data + member.compressed <= order[i + 1].first) continue;
      return damaged(fmt::format("members \"{}\" and \"{}\" share bytes of the file", member.name,
                                 members[order[i + 1].second].name));
    }
    return {};
  }

  const File& file_;
  std::string subject_;
  std::vector<std::byte> bytes_;  // the directory
  size_t at_ = 0;
  std::unordered_set<std::string> names_;
  std::vector<uint64_t> starts_;  // of each member's header
};

}  // namespace

Result<std::vector<ZipMember>> read_zip_directory(const File& file) { return Reader(file).read(); }

}  // namespace paritas
