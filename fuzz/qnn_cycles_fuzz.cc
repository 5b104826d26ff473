// Any bytes as a QNN profile with cycles: refused with a cause, or operations.
#include "fuzz/memory_file.h"
#include "paritas/vendor/qnn_cycles.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace paritas;
  const auto cycles = parse_qnn_cycles({reinterpret_cast<const char*>(data), size}, "cycles.csv");
  if (!cycles) {
    require(!cycles.error().cause.empty() && !cycles.error().subject.empty());
    return 0;
  }
  uint64_t calls = 0;
  for (const DeviceCycles& op : cycles->ops) {
    require(op.calls > 0 && !op.name.empty());
    calls += op.calls;
  }
  require(!cycles->ops.empty() && calls <= size && cycles->executions <= size);
  return 0;
}
