// Any bytes as a .npz archive. Claims of sizes must not become memory: the sanitizers' allocation limit would end it.
#include "fuzz/read_found.h"
#include "paritas/vendor/npz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace paritas;
  const MemoryFile file(data, size);
  ImportOptions options;
  options.verify_hashes = size % 2 == 0;
  const auto sample = find_npz(file.path(), options);
  if (!sample)
    require_refusal(sample.error());
  else
    read_sample(*sample);
  return 0;
}
