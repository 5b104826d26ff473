#include "paritas/package/integrity.h"

#include <algorithm>

#include <fmt/format.h>

#include "paritas/base/sha256.h"

namespace paritas {
namespace fs = std::filesystem;
namespace {

constexpr const char* kRemedy = "copy the package again, or split the model again";

bool writable_name(const std::string& name) {
  return std::none_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f || c == '\\'; });
}

Result<std::vector<std::string>> list_files(const Path& folder) {
  std::vector<std::string> files;
  std::error_code code;
  fs::recursive_directory_iterator it(folder, code), end;
  if (code) return input_error(folder.string(), fmt::format("cannot be read: {}", code.message()), "check the path");
  for (; it != end; it.increment(code)) {
    if (code) return input_error(folder.string(), fmt::format("cannot be read: {}", code.message()));
    const std::string relative = it->path().lexically_relative(folder).generic_string();
    const auto status = it->symlink_status(code);
    if (fs::is_directory(status)) continue;
    if (!fs::is_regular_file(status))
      return input_error((folder / relative).string(), "is no regular file: a package holds files and folders only",
                         kRemedy);
    if (!writable_name(relative))
      return input_error(folder.string(), "holds a file whose name has control characters or backslashes", kRemedy);
    files.push_back(relative);
  }
  if (code) return input_error(folder.string(), fmt::format("cannot be read: {}", code.message()));
  return files;
}

bool is_hash(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

Result<FileSums> hash_files(const Path& folder) {
  PARITAS_ASSIGN(const auto files, list_files(folder));
  FileSums sums;
  for (const std::string& file : files) {
    if (file == kSumsName) continue;
    PARITAS_ASSIGN(sums[file], sha256_of_file(folder / file));
  }
  return sums;
}

std::string sums_text(const FileSums& sums) {
  std::string text;
  for (const auto& [path, hash] : sums) text += fmt::format("{}  {}\n", hash, path);
  return text;
}

Result<FileSums> parse_sums(const std::string& text, const std::string& subject) {
  FileSums sums;
  size_t number = 0;
  for (size_t at = 0; at < text.size();) {
    ++number;
    const size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    if (end == std::string::npos || line.size() < 67 || !is_hash(std::string_view(line).substr(0, 64)) ||
        line.compare(64, 2, "  ") != 0 || !sums.emplace(line.substr(66), line.substr(0, 64)).second)
      return input_error(subject, fmt::format("line {} is not \"SHA-256, two spaces, file\"", number), kRemedy);
    at = end + 1;
  }
  return sums;
}

Result<FileSums> check_sums(const Path& folder) {
  const Path file = folder / kSumsName;
  std::error_code code;
  if (!fs::is_regular_file(fs::symlink_status(file, code)))
    return input_error(file.string(), "is absent: nothing shows that the package is whole", kRemedy);
  PARITAS_ASSIGN(const std::string text, read_text(file));
  PARITAS_ASSIGN(const FileSums listed, parse_sums(text, file.string()));
  PARITAS_ASSIGN(const FileSums found, hash_files(folder));
  for (const auto& [path, hash] : listed) {
    const auto it = found.find(path);
    if (it == found.end())
      return input_error((folder / path).string(), fmt::format("is listed in {}, but absent", kSumsName), kRemedy);
    if (it->second != hash)
      return input_error((folder / path).string(),
                         fmt::format("was changed: its SHA-256 is {}, {} says {}", it->second.substr(0, 12), kSumsName,
                                     hash.substr(0, 12)),
                         kRemedy);
  }
  for (const auto& [path, hash] : found)
    if (listed.count(path) == 0)
      return input_error((folder / path).string(),
                         fmt::format("does not belong to the package: {} does not list it", kSumsName),
                         "remove it, or copy the package again");
  if (text != sums_text(found))
    return input_error(file.string(), "was changed: its lines are in another order", kRemedy);
  return found;
}

}  // namespace paritas
