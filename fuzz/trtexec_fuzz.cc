// Any bytes as trtexec's output: the JSON file, and the name of a raw file.
#include "fuzz/read_found.h"
#include "paritas/vendor/trtexec.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace paritas;
  parse_trtexec_raw_name({reinterpret_cast<const char*>(data), size});
  const MemoryFile file(data, size);
  ImportOptions options;
  options.dtypes["n"] = DType::kI64;
  options.dtypes["h"] = DType::kF16;
  const ModelFacts model;
  read_found(find_trtexec_json(file.path(), {options, model}));
  return 0;
}
