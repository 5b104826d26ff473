#include "paritas/base/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "paritas/base/sha256.h"

namespace paritas {
namespace {

namespace fs = std::filesystem;

constexpr const char* kScratchPrefix = "paritas-scratch-";
constexpr const char* kUnlockedPrefix = "paritas-unlocked-";

Unexpected system_error_at(const Path& path, const char* what, int number) {
  std::string remedy;
  if (number == ENOSPC) remedy = "free some space or choose another folder";
  if (number == EACCES || number == EPERM) remedy = "check the permissions";
  return input_error(path.string(), fmt::format("{}: {}", what, errno_text(number)), remedy);
}

constexpr std::string_view kPartial = ".partial-";

// Process ids mean something on one machine only, and output folders may be shared.
const std::string& host_mark() {
  static const std::string mark = [] {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    return sha256_hex(std::as_bytes(std::span(name.data(), std::strlen(name.data())))).substr(0, 8);
  }();
  return mark;
}

Path without_slash(const Path& path) { return path.has_filename() ? path : path.parent_path(); }

// ".NAME.partial-HOST-": what stands for `path` while it is written.
std::string partial_prefix(const Path& path) {
  return fmt::format(".{}{}{}-", path.filename().string(), kPartial, host_mark());
}

// A name beside `path` that no other process uses.
Path temporary_beside(const Path& path) {
  static std::atomic<int> counter{0};
  const Path clean = without_slash(path);
  return clean.parent_path() / fmt::format("{}{}-{}", partial_prefix(clean), ::getpid(), counter++);
}

// The process in "PROCESS-COUNTER"; 0 when it is something else.
pid_t process_of(std::string_view text) {
  pid_t process = 0;
  int counter = 0;
  const char* end = text.data() + text.size();
  const auto [dash, code] = std::from_chars(text.data(), end, process);
  if (code != std::errc() || process <= 0 || dash == end || *dash != '-') return 0;
  const auto [rest, last] = std::from_chars(dash + 1, end, counter);
  return last == std::errc() && rest == end ? process : 0;
}

// A descriptor that holds the lock of a file or folder; -1 when another has it.
int locked(const Path& path, int flags) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0 || ::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return descriptor;
  ::close(descriptor);
  return -1;
}

// Removes what killed processes left of `given`. Whoever is at work on it holds its lock, and its process is there:
// both must be gone, for a lock may be unknown to the file system, and a process to this container.
void remove_stale_partials(const Path& given) {
  const Path path = without_slash(given);
  const Path parent = path.has_parent_path() ? path.parent_path() : Path(".");
  if (parent.filename().string().find(kPartial) != std::string::npos) return;  // ours, and new
  const std::string prefix = partial_prefix(path);
  std::error_code code;
  std::vector<Path> stale;
  for (const auto& entry : fs::directory_iterator(parent, code)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind(prefix, 0) != 0) continue;
    const pid_t process = process_of(std::string_view(name).substr(prefix.size()));
    if (process != 0 && ::kill(process, 0) != 0 && errno == ESRCH) stale.push_back(entry.path());
  }
  for (const Path& partial : stale) {
    const fs::file_type type = fs::symlink_status(partial, code).type();
    if (type != fs::file_type::regular && type != fs::file_type::directory) continue;
    const int lock = locked(partial, type == fs::file_type::directory ? O_RDONLY | O_DIRECTORY : O_RDWR);
    if (lock < 0) continue;
    fs::remove_all(partial, code);
    ::close(lock);
  }
}

Status check_parent(const Path& path) {
  Path parent = path.has_parent_path() ? path.parent_path() : Path(".");
  std::error_code code;
  if (!fs::is_directory(parent, code))
    return input_error(path.string(), fmt::format("the folder {} does not exist", parent.string()), "create it first");
  return {};
}

bool starts_with_scratch_prefix(const Path& path) { return path.filename().string().rfind(kScratchPrefix, 0) == 0; }

// A symbolic link that points nowhere, anywhere along `path` below `base`: canonical paths keep such a link as it is,
// and writing through it would create its target, wherever that is.
bool passes_dangling_link(const Path& base, const Path& path) {
  std::error_code code;
  Path so_far = base;
  for (const Path& part : path.lexically_relative(base)) {
    so_far /= part;
    if (fs::is_symlink(so_far, code) && !fs::exists(so_far, code)) return true;
  }
  return false;
}

// Removes scratch folders below `root` whose owner is gone: their lock can be taken.
void remove_stale_scratch(const Path& root) {
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(root, code)) {
    if (!starts_with_scratch_prefix(entry.path()) || entry.is_symlink(code) || !entry.is_directory(code)) continue;
    int lock = ::open((entry.path() / "lock").c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (lock < 0) continue;
    if (::flock(lock, LOCK_EX | LOCK_NB) == 0) fs::remove_all(entry.path(), code);
    ::close(lock);
  }
}

}  // namespace

Result<std::shared_ptr<const File>> File::open(const Path& path) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    if (errno == ENOENT) return input_error(path.string(), "no such file", "check the path");
    return system_error_at(path, "cannot be opened", errno);
  }
  struct stat info {};
  if (::fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(descriptor);
    return input_error(path.string(), S_ISDIR(info.st_mode) ? "is a folder, not a file" : "is not a regular file");
  }
  return std::shared_ptr<const File>(new File(path, descriptor, static_cast<uint64_t>(info.st_size)));
}

File::~File() { ::close(descriptor_); }

Status File::read(uint64_t offset, std::span<std::byte> out) const {
  if (offset > size_ || out.size() > size_ - offset)
    return input_error(path_.string(),
                       fmt::format("ends at byte {}, bytes {} to {} were expected", size_, offset, offset + out.size()),
                       "the file is truncated: copy it again");
  while (!out.empty()) {
    ssize_t got = ::pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error_at(path_, "cannot be read", errno);
    if (got == 0)
      return input_error(path_.string(), "became shorter while it was read", "do not write to it meanwhile");
    offset += static_cast<uint64_t>(got);
    out = out.subspan(static_cast<size_t>(got));
  }
  return {};
}

Result<std::shared_ptr<const Mapping>> Mapping::map(const std::shared_ptr<const File>& file, uint64_t offset,
                                                    uint64_t size) {
  if (offset > file->size() || size > file->size() - offset)
    return input_error(file->path().string(),
                       fmt::format("ends at byte {}, {} bytes from byte {} were expected", file->size(), size, offset),
                       "the file is truncated: copy it again");
  std::shared_ptr<Mapping> mapping(new Mapping());
  if (size == 0) return std::shared_ptr<const Mapping>(mapping);
  const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  const uint64_t start = offset / page * page;
  mapping->length_ = static_cast<size_t>(offset - start + size);
  mapping->base_ =
      ::mmap(nullptr, mapping->length_, PROT_READ, MAP_SHARED, file->descriptor(), static_cast<off_t>(start));
  if (mapping->base_ == MAP_FAILED) {
    mapping->base_ = nullptr;
    return system_error_at(file->path(), "cannot be mapped", errno);
  }
  mapping->bytes_ = {static_cast<const std::byte*>(mapping->base_) + (offset - start), static_cast<size_t>(size)};
  return std::shared_ptr<const Mapping>(mapping);
}

Mapping::~Mapping() {
  if (base_ != nullptr) ::munmap(base_, length_);
}

Result<std::string> read_text(const Path& path, uint64_t limit) {
  PARITAS_ASSIGN(auto file, File::open(path));
  if (file->size() > limit)
    return input_error(path.string(), fmt::format("is {} bytes long, at most {} were expected", file->size(), limit));
  std::string text(file->size(), '\0');
  PARITAS_TRY(file->read(0, std::as_writable_bytes(std::span(text))));
  return text;
}

Result<AtomicFile> AtomicFile::create(const Path& path, bool overwrite) {
  PARITAS_TRY(check_parent(path));
  std::error_code code;
  if (fs::is_directory(path, code)) return input_error(path.string(), "is a folder, a file was to be written");
  if (!overwrite && fs::exists(fs::symlink_status(path, code)))
    return input_error(path.string(), "exists already", "choose another name or pass --force");
  AtomicFile file;
  remove_stale_partials(path);
  file.path_ = path;
  file.temporary_ = temporary_beside(path);
  file.descriptor_ = ::open(file.temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file.descriptor_ < 0) return system_error_at(path, "cannot be written", errno);
  (void)::flock(file.descriptor_, LOCK_EX | LOCK_NB);  // where there are no locks, the process is asked for
  return file;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      written_(other.written_) {}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

Status AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t put = ::write(descriptor_, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return system_error_at(path_, "cannot be written", errno);
    written_ += static_cast<uint64_t>(put);
    bytes = bytes.subspan(static_cast<size_t>(put));
  }
  return {};
}

Status AtomicFile::write(std::string_view text) { return write(std::as_bytes(std::span(text))); }

Status AtomicFile::commit() {
  int descriptor = std::exchange(descriptor_, -1);
  if (::close(descriptor) != 0) {
    int number = errno;
    ::unlink(temporary_.c_str());
    return system_error_at(path_, "cannot be written", number);
  }
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    int number = errno;
    ::unlink(temporary_.c_str());
    return system_error_at(path_, "cannot be written", number);
  }
  return {};
}

Status write_text_atomically(const Path& path, std::string_view text, bool overwrite) {
  PARITAS_ASSIGN(AtomicFile file, AtomicFile::create(path, overwrite));
  PARITAS_TRY(file.write(text));
  return file.commit();
}

Result<AtomicFolder> AtomicFolder::create(const Path& given, bool overwrite, const std::string& index) {
  const Path path = without_slash(given);
  PARITAS_TRY(check_parent(path));
  std::error_code code;
  if (fs::exists(fs::symlink_status(path, code))) {
    if (!overwrite) return input_error(path.string(), "exists already", "choose another name or pass --force");
    if (!fs::is_directory(path, code) || fs::is_symlink(path, code) || !fs::exists(path / index, code))
      return input_error(path.string(), fmt::format("exists and holds no {}, so it is not ours to replace", index),
                         "choose another name");
  }
  remove_stale_partials(path);
  AtomicFolder folder;
  folder.path_ = path;
  folder.index_ = index;
  folder.overwrite_ = overwrite;
  Path temporary = temporary_beside(path);
  if (!fs::create_directory(temporary, code))
    return input_error(path.string(), fmt::format("cannot be created: {}", code.message()), "check the permissions");
  folder.temporary_ = temporary;
  folder.lock_ = locked(temporary, O_RDONLY | O_DIRECTORY);
  return folder;
}

AtomicFolder::AtomicFolder(AtomicFolder&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, Path())),
      index_(std::move(other.index_)),
      overwrite_(other.overwrite_),
      lock_(std::exchange(other.lock_, -1)) {}

AtomicFolder::~AtomicFolder() {
  std::error_code code;
  if (!temporary_.empty()) fs::remove_all(temporary_, code);
  if (lock_ >= 0) ::close(lock_);
}

Status AtomicFolder::commit() {
  std::error_code code;
  if (!fs::exists(temporary_ / index_, code))
    return input_error(path_.string(), fmt::format("was not finished: {} is missing", index_));
  // In one step, so that nobody who kills us finds neither the old folder nor the new one under the name.
  if (overwrite_ && ::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) == 0) {
    fs::remove_all(temporary_, code);
    temporary_.clear();
    return {};
  }
  Path old;
  if (overwrite_ && fs::exists(path_, code)) {  // the file system cannot exchange
    old = path_.parent_path() / fmt::format(".{}.replaced-{}", path_.filename().string(), ::getpid());
    fs::rename(path_, old, code);
    if (code) return input_error(path_.string(), fmt::format("cannot be replaced: {}", code.message()));
  }
  fs::rename(temporary_, path_, code);
  if (code) {
    std::error_code ignored;
    if (!old.empty()) fs::rename(old, path_, ignored);
    return input_error(path_.string(), fmt::format("cannot be written: {}", code.message()));
  }
  temporary_.clear();
  if (!old.empty()) fs::remove_all(old, code);
  return {};
}

Result<ScratchFolder> ScratchFolder::create(const Path& root) {
  std::error_code code;
  if (!fs::is_directory(root, code))
    return input_error(root.string(), "the scratch folder does not exist", "create it or set TMPDIR");
  remove_stale_scratch(root);
  std::string pattern = (root / (std::string(kUnlockedPrefix) + "XXXXXX")).string();
  if (::mkdtemp(pattern.data()) == nullptr) return system_error_at(root, "no scratch folder can be made here", errno);
  ScratchFolder scratch;
  scratch.path_ = pattern;
  scratch.lock_ = ::open((scratch.path_ / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (scratch.lock_ < 0 || ::flock(scratch.lock_, LOCK_EX | LOCK_NB) != 0)
    return system_error_at(scratch.path_, "cannot be locked", errno);
  // Only now under the name that others look for: they would take an unlocked folder for a dead process's.
  const std::string suffix = scratch.path_.filename().string().substr(std::string_view(kUnlockedPrefix).size());
  const Path locked = root / (kScratchPrefix + suffix);
  fs::rename(scratch.path_, locked, code);
  if (code) return input_error(root.string(), fmt::format("no scratch folder can be made here: {}", code.message()));
  scratch.path_ = locked;
  return scratch;
}

ScratchFolder::ScratchFolder(ScratchFolder&& other) noexcept
    : path_(std::exchange(other.path_, Path())), lock_(std::exchange(other.lock_, -1)) {}

ScratchFolder::~ScratchFolder() {
  std::error_code code;
  if (!path_.empty()) fs::remove_all(path_, code);
  if (lock_ >= 0) ::close(lock_);
}

Result<Path> resolve_inside(const Path& folder, const std::string& relative) {
  Path part(relative);
  if (relative.empty() || part.is_absolute() || relative.find('\0') != std::string::npos)
    return input_error(folder.string(), fmt::format("the path \"{}\" does not stay inside the folder", relative));
  std::error_code code;
  Path base = fs::canonical(folder, code);
  if (code) return input_error(folder.string(), "no such folder", "check the path");
  Path full = fs::weakly_canonical(base / part, code);
  Path inside = full.lexically_relative(base);
  if (code || inside.empty() || *inside.begin() == ".." || inside == "." || passes_dangling_link(base, full))
    return input_error(folder.string(), fmt::format("the path \"{}\" does not stay inside the folder", relative));
  return full;
}

}  // namespace paritas
