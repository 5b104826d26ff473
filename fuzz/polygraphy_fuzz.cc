// Any bytes as Polygraphy's JSON.
#include "fuzz/read_found.h"
#include "paritas/vendor/polygraphy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace paritas;
  const MemoryFile file(data, size);
  ImportOptions options;
  if (size % 2 == 0) options.runner = "*0*";
  read_found(find_polygraphy(file.path(), options));
  return 0;
}
