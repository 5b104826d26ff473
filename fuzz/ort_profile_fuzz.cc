// Any bytes as an ONNX Runtime profile: refused with a cause, or nodes.
#include "fuzz/memory_file.h"
#include "paritas/vendor/ort_profile.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace paritas;
  const MemoryFile file(data, size);
  const auto profile = read_ort_profile(file.path());
  if (!profile) {
    require(!profile.error().cause.empty() && !profile.error().subject.empty());
    return 0;
  }
  uint64_t calls = 0;
  for (const ProfiledNode& node : profile->nodes) {
    require(node.calls > 0 && !node.provider.empty());
    calls += node.calls;
  }
  require(calls + profile->runs <= size);  // nothing out of nothing
  return 0;
}
