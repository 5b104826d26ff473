// Any bytes as a QNN op trace: refused with a cause, or operations.
#include "fuzz/memory_file.h"
#include "paritas/vendor/qnn_op_trace.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace paritas;
  const auto trace = parse_qnn_op_trace({reinterpret_cast<const char*>(data), size}, "trace.json");
  if (!trace) {
    require(!trace.error().cause.empty() && !trace.error().subject.empty());
    return 0;
  }
  size_t sources = 0;
  for (const DeviceOp& op : trace->ops) sources += op.sources.size();
  require(sources <= size && trace->ops.size() <= size);  // nothing out of nothing
  return 0;
}
