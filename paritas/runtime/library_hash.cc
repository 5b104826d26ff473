#include "paritas/runtime/library_hash.h"

#include <sys/stat.h>

#include <map>
#include <mutex>
#include <tuple>

#include "paritas/base/sha256.h"

namespace paritas {

std::shared_future<Result<std::string>> library_hash(const Path& path) {
  using Key = std::tuple<std::string, uint64_t, int64_t, int64_t>;
  static std::mutex mutex;
  static std::map<Key, std::shared_future<Result<std::string>>> known;
  struct stat info {};
  ::stat(path.c_str(), &info);  // a missing file is reported by sha256_of_file
  const Key key{path.string(), static_cast<uint64_t>(info.st_size), info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
  std::lock_guard lock(mutex);
  auto& future = known[key];
  if (!future.valid()) future = std::async(std::launch::async, [path] { return sha256_of_file(path); }).share();
  return future;
}

}  // namespace paritas
