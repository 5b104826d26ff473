// Any bytes as what a package brings: its manifest, its SHA256SUMS, a target. What is read comes back as it was.
#include "fuzz/memory_file.h"
#include "paritas/package/integrity.h"
#include "paritas/package/manifest.h"
#include "paritas/package/portable_target.h"

using namespace paritas;

namespace {

void read_manifest(const std::string& text) {
  const auto json = parse_json(text, "manifest.json");
  if (!json) return;
  const auto manifest = manifest_from_json(*json, "manifest.json");
  if (!manifest) return;
  const auto written = parse_json(dump_json(to_json(*manifest)), "again");
  require(written.has_value());
  const auto again = manifest_from_json(*written, "again");
  require(again.has_value());
  require(dump_json(to_json(*again)) == dump_json(to_json(*manifest)));
}

void read_sums(const std::string& text) {
  const auto sums = parse_sums(text, "SHA256SUMS");
  if (!sums) return;
  const auto again = parse_sums(sums_text(*sums), "again");
  require(again.has_value());
  require(*again == *sums);
}

// What would be stored of a target is always accepted again.
void read_target(const std::string& text) {
  const auto spec = TargetSpec::parse(text);
  if (!spec) return;
  const std::string stored = portable_text(*spec);
  const auto again = TargetSpec::parse(stored);
  if (again) require(parse_portable(stored, {}, "manifest.json").has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  read_manifest(text);
  read_sums(text);
  read_target(text);
  return 0;
}
