// SHA256SUMS of a package: which files it holds, bit by bit. Integrity, not a signature: whoever can change a file can
// write new sums.
#pragma once

#include <map>
#include <string>

#include "paritas/base/files.h"

namespace paritas {

inline constexpr const char* kSumsName = "SHA256SUMS";

// Relative path ("reference/run.json") -> SHA-256, of every file below `folder` but SHA256SUMS. Refuses symbolic links
// and whatever else is no regular file or folder, and names with control characters or backslashes.
using FileSums = std::map<std::string, std::string>;
Result<FileSums> hash_files(const Path& folder);

// "<sha256>  <path>\n" a line, by path: what sha256sum -c reads.
std::string sums_text(const FileSums& sums);

// The inverse; an error names the line. Order, and that nothing else was written, are check_sums()'s business.
Result<FileSums> parse_sums(const std::string& text, const std::string& subject);

// Holds the folder against its SHA256SUMS and gives the sums. Errors name the file: changed, absent, not listed; a
// SHA256SUMS that is not byte for byte what we would write is refused too.
Result<FileSums> check_sums(const Path& folder);

}  // namespace paritas
