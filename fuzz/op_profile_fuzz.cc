// Any bytes as an operator profile of benchmark_model: refused with a cause, or rows with each node once.
#include <set>

#include "fuzz/memory_file.h"
#include "paritas/vendor/benchmark_model.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace paritas;
  const auto profile = parse_op_profile({reinterpret_cast<const char*>(data), size}, "profile.csv");
  if (!profile) {
    require(!profile.error().cause.empty() && !profile.error().subject.empty());
    return 0;
  }
  std::set<int> nodes;
  for (const ProfiledOp& op : profile->ops) {
    require(!op.type.empty() && !op.name.empty());
    if (op.node) require(*op.node >= 0 && nodes.insert(*op.node).second);
  }
  require(!nodes.empty() && profile->ops.size() + profile->in_delegates.size() <= size);
  return 0;
}
