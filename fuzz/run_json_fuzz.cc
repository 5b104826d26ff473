// Any bytes as run.json: refused with a cause, or a RunInfo that survives being written and read again.
#include "fuzz/memory_file.h"
#include "paritas/recording/provenance.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace paritas;
  const auto json = parse_json({reinterpret_cast<const char*>(data), size}, "run.json");
  if (!json) {
    require(!json.error().cause.empty());
    return 0;
  }
  const auto info = run_info_from_json(*json, "run.json");
  if (!info) {
    require(!info.error().cause.empty() && !info.error().subject.empty());
    return 0;
  }
  const std::string written = dump_json(to_json(*info));
  const auto again = parse_json(written, "written");
  require(again.has_value());
  const auto read = run_info_from_json(*again, "written");
  require(read.has_value());
  require(dump_json(to_json(*read)) == written);
  return 0;
}
