// Files and folders: reading without believing sizes, and writing so that nothing half-written ever looks whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "paritas/base/error.h"

namespace paritas {

using Path = std::filesystem::path;

// An open regular file whose size was taken when it was opened. Reading is thread-safe (pread).
class File {
 public:
  static Result<std::shared_ptr<const File>> open(const Path& path);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const Path& path() const { return path_; }
  uint64_t size() const { return size_; }
  int descriptor() const { return descriptor_; }
  // Fills `out` from `offset`, or reports (past the end, I/O error, file became shorter).
  Status read(uint64_t offset, std::span<std::byte> out) const;

 private:
  File(Path path, int descriptor, uint64_t size) : path_(std::move(path)), descriptor_(descriptor), size_(size) {}
  Path path_;
  int descriptor_;
  uint64_t size_;
};

// A read-only mapping of part of a file.
class Mapping {
 public:
  static Result<std::shared_ptr<const Mapping>> map(const std::shared_ptr<const File>& file, uint64_t offset,
                                                    uint64_t size);
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  Mapping() = default;
  void* base_ = nullptr;
  size_t length_ = 0;
  std::span<const std::byte> bytes_;
};

// Whole content of a text file of at most `limit` bytes.
Result<std::string> read_text(const Path& path, uint64_t limit = uint64_t{64} << 20);

// A file that appears under its name only when commit() succeeds; else nothing is left. Sequential writing. What killed
// processes left of the same name is removed by the next one that writes it; so for folders.
class AtomicFile {
 public:
  // Refuses an existing `path` unless `overwrite`.
  static Result<AtomicFile> create(const Path& path, bool overwrite);
  AtomicFile(AtomicFile&&) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();
  Status write(std::span<const std::byte> bytes);
  Status write(std::string_view text);
  uint64_t written() const { return written_; }
  Status commit();

 private:
  AtomicFile() = default;
  Path path_;
  Path temporary_;
  int descriptor_ = -1;
  uint64_t written_ = 0;
};

Status write_text_atomically(const Path& path, std::string_view text, bool overwrite);

// A folder that is filled beside its final name and renamed by commit(); else nothing is left.
class AtomicFolder {
 public:
  // Refuses an existing `path` unless `overwrite` and the folder holds `index` (a file that only we write),
  // so that --force can never delete a folder that is not ours.
  static Result<AtomicFolder> create(const Path& path, bool overwrite, const std::string& index);
  AtomicFolder(AtomicFolder&&) noexcept;
  AtomicFolder& operator=(AtomicFolder&&) = delete;
  ~AtomicFolder();
  const Path& building() const { return temporary_; }  // put files here
  Status commit();                                     // fails if `index` is not there

 private:
  AtomicFolder() = default;
  Path path_;
  Path temporary_;
  std::string index_;
  bool overwrite_ = false;
  int lock_ = -1;  // of temporary_
};

// A private folder for intermediate files, removed with the object. Folders left by killed processes are removed by the
// next one that makes a scratch folder under the same root (their lock is free).
class ScratchFolder {
 public:
  static Result<ScratchFolder> create(const Path& root);
  ScratchFolder(ScratchFolder&&) noexcept;
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();
  const Path& path() const { return path_; }

 private:
  ScratchFolder() = default;
  Path path_;
  int lock_ = -1;
};

// The path of `relative` below `folder`, refused when it is absolute, climbs out, or passes a symbolic link that leads
// out. `folder` must exist; the result need not.
Result<Path> resolve_inside(const Path& folder, const std::string& relative);

}  // namespace paritas
