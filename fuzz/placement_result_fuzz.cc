// Any bytes as a stored result of paritas placement (--against): refused with a cause, or nodes that compare.
#include "fuzz/memory_file.h"
#include "paritas/placement/placement_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace paritas;
  const MemoryFile file(data, size);
  const auto stored = read_stored_placement(file.path());
  if (!stored) {
    require(!stored.error().cause.empty() && !stored.error().subject.empty());
    return 0;
  }
  const PlacementChange change = compare_placements(*stored, {});
  require(change.moved.empty() && change.only_before.size() == stored->nodes.size());
  return 0;
}
