// Any bytes as an input_list.txt.
#include "fuzz/memory_file.h"
#include "paritas/vendor/net_run.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace paritas;
  const auto list = parse_input_list({reinterpret_cast<const char*>(data), size}, "input_list.txt");
  if (!list) {
    require(!list.error().cause.empty());
    return 0;
  }
  require(list->samples.size() == list->lines.size());
  for (const auto& sample : list->samples) {
    require(!sample.empty());
    for (const auto& entry : sample) require(!entry.path.empty());
  }
  return 0;
}
