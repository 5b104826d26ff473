// NumPy's .npz: a zip archive of .npy files (numpy.savez, numpy.savez_compressed). Uncompressed members stay in the
// file. Nothing is ever extracted to disk under a member's name.
#pragma once

#include "paritas/vendor/found.h"

namespace paritas {

// One member of a zip archive, after its claims were checked against the file.
struct ZipMember {
  std::string name;
  bool deflated = false;
  uint32_t crc = 0;
  uint64_t data = 0;        // offset of the stored bytes in the file
  uint64_t compressed = 0;  // bytes in the file
  uint64_t size = 0;        // bytes after inflating, as claimed
};

// The central directory. Refused: encrypted or split archives, methods other than stored and deflated, names that climb
// ("..") or repeat, members that overlap, sizes that deflate cannot reach.
Result<std::vector<ZipMember>> read_zip_directory(const File& file);

// The tensors of one archive, a member NAME.npy being tensor NAME.
Result<FoundSample> find_npz(const Path& path, const ImportOptions& options);

bool is_zip(const Path& path);

}  // namespace paritas
