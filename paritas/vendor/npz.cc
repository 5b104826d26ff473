#include "paritas/vendor/npz.h"

#include <zlib.h>
#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "paritas/tensor/npy.h"

namespace paritas {
namespace {

// Beyond these two an archive costs more memory than its own size justifies.
constexpr uint64_t kBombRatio = 250;
constexpr uint64_t kBombBytes = uint64_t{256} << 20;
constexpr const char* kSaveAgain = "save the arrays again with numpy.savez";

struct Inflated {
  std::shared_ptr<std::byte[]> bytes;
  uint64_t size = 0;
};

class Inflater {
 public:
  Inflater() { ready_ = ::inflateInit2(&stream_, -MAX_WBITS) == Z_OK; }
  ~Inflater() {
    if (ready_) ::inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Fills `out` from the member; *ended tells whether the deflate stream ended exactly there.
  Status run(const File& file, const ZipMember& member, std::span<std::byte> out, bool* ended,
             const std::string& subject) {
    if (!ready_) return input_error(subject, "no memory to inflate it");
    std::vector<std::byte> block(std::min<uint64_t>(member.compressed, uint64_t{1} << 18));
    uint64_t at = 0;
    int state = Z_OK;
    std::byte beyond{};
    for (uint64_t done = 0; state == Z_OK;) {
      if (stream_.avail_in == 0 && at < member.compressed) {
        const auto part = std::span(block).first(std::min<uint64_t>(block.size(), member.compressed - at));
        PARITAS_TRY(file.read(member.data + at, part));
        at += part.size();
        stream_.next_in = reinterpret_cast<Bytef*>(part.data());
        stream_.avail_in = static_cast<uInt>(part.size());
      }
      // When `out` is full one byte more is asked for: only the end of the stream may come.
      const uint64_t room = std::min<uint64_t>(out.size() - done, uint64_t{1} << 30);
      stream_.next_out = reinterpret_cast<Bytef*>(room == 0 ? &beyond : out.data() + done);
      stream_.avail_out = room == 0 ? 1 : static_cast<uInt>(room);
      const uint64_t before = room == 0 ? 1 : room;
      state = ::inflate(&stream_, Z_NO_FLUSH);
      const uint64_t made = before - stream_.avail_out;
      if (room == 0 && made != 0) {
        *ended = false;
        return {};
      }
      done += made;
      if (state == Z_STREAM_END) {
        *ended = done == out.size() && at - stream_.avail_in == member.compressed;
        return {};
      }
    }
    return input_error(subject, "its compressed data is damaged", kSaveAgain);
  }

 private:
  z_stream stream_{};
  bool ready_ = false;
};

// The first bytes of the array file within a member, at most `limit`.
Result<Bytes> start_of(const std::shared_ptr<const File>& file, const ZipMember& member, uint64_t limit,
                       const std::string& subject) {
  const uint64_t size = std::min(limit, member.size);
  if (!member.deflated) return Bytes::in_file(file, member.data, size);
  std::vector<std::byte> start(size);
  bool ended = false;
  PARITAS_TRY(Inflater().run(*file, member, start, &ended, subject));
  return Bytes::in_memory(std::move(start));
}

Result<Inflated> inflate_all(const File& file, const ZipMember& member, const std::string& subject) {
  Inflated result{std::make_shared_for_overwrite<std::byte[]>(member.size), member.size};
  const std::span bytes(result.bytes.get(), member.size);
  bool ended = false;
  PARITAS_TRY(Inflater().run(file, member, bytes, &ended, subject));
  if (!ended)
    return input_error(subject, fmt::format("does not inflate to the {} bytes that it claims", member.size),
                       kSaveAgain);
  return result;
}

Status check_crc(uint32_t crc, const ZipMember& member, const std::string& subject) {
  if (crc == member.crc) return {};
  return input_error(subject, "its checksum (CRC-32) does not match its data", "the archive is damaged: copy it again");
}

Result<Tensor> read_stored(const std::shared_ptr<const File>& file, const ZipMember& member, bool verify,
                           const std::string& subject) {
  if (verify) {
    std::vector<std::byte> block(1 << 20);
    uLong crc = ::crc32(0, nullptr, 0);
    for (uint64_t at = 0; at < member.size; at += block.size()) {
      const auto part = std::span(block).first(std::min<uint64_t>(block.size(), member.size - at));
      PARITAS_TRY(file->read(member.data + at, part));
      crc = ::crc32_z(crc, reinterpret_cast<const Bytef*>(part.data()), part.size());
    }
    PARITAS_TRY(check_crc(static_cast<uint32_t>(crc), member, subject));
  }
  return read_npy(Bytes::in_file(file, member.data, member.size), subject);
}

Result<Tensor> read_deflated(const File& file, const ZipMember& member, const ImportOptions& options,
                             const std::string& subject) {
  PARITAS_ASSIGN(const Inflated whole, inflate_all(file, member, subject));
  const auto crc = ::crc32_z(0, reinterpret_cast<const Bytef*>(whole.bytes.get()), whole.size);
  PARITAS_TRY(check_crc(static_cast<uint32_t>(crc), member, subject));
  PARITAS_ASSIGN(const Bytes bytes, keep_decoded(whole.bytes, {whole.bytes.get(), whole.size}, options));
  return read_npy(bytes, subject);
}

}  // namespace

Result<FoundSample> find_npz(const Path& path, const ImportOptions& options) {
  PARITAS_ASSIGN(const auto file, File::open(path));
  PARITAS_ASSIGN(const auto members, read_zip_directory(*file));
  FoundSample sample;
  for (const ZipMember& member : members) {
    if (member.name == "data.pkl" || member.name.ends_with("/data.pkl"))
      return input_error(path.string(), "is a PyTorch file: loading it means running the Python pickle inside",
                         "save the tensors with safetensors.torch.save_file or numpy.savez");
    const std::string subject = fmt::format("{}: {}", path.string(), member.name);
    if (!member.name.ends_with(".npy"))
      return input_error(subject, "is not a .npy member, so this is not a .npz file", kSaveAgain);
    if (member.deflated && member.size > kBombBytes && member.size / kBombRatio > member.compressed)
      return input_error(
          subject,
          fmt::format("{} bytes inflate to {}, as in an archive made to fill memory", member.compressed, member.size),
          "if it is honest, save it uncompressed with numpy.savez");
    PARITAS_ASSIGN(const Bytes start, start_of(file, member, 4096, subject));
    auto claim = read_npy_claim(start, member.size, subject);
    if (!claim && member.size > start.size()) {
      PARITAS_ASSIGN(const Bytes longer, start_of(file, member, kMaxNpyStart, subject));
      claim = read_npy_claim(longer, member.size, subject);
    }
    PARITAS_TRY(claim);
    FoundTensor found;
    found.name = member.name.substr(0, member.name.size() - 4);
    found.dtype = claim->dtype;
    found.shape = claim->shape;
    found.read = [file, member, subject, options]() -> Result<Tensor> {
      if (member.deflated) return read_deflated(*file, member, options, subject);
      return read_stored(file, member, options.verify_hashes, subject);
    };
    sample.push_back(std::move(found));
  }
  return sample;
}

bool is_zip(const Path& path) {
  const auto file = File::open(path);
  std::array<std::byte, 4> magic{};
  if (!file || (*file)->size() < 22 || !(*file)->read(0, magic)) return false;
  return std::memcmp(magic.data(), "PK\x03\x04", 4) == 0 || std::memcmp(magic.data(), "PK\x05\x06", 4) == 0;
}

}  // namespace paritas
