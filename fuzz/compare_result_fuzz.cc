// Any bytes as a stored result of compare: refused with a cause, or a result that can be judged again, merged with
// itself (refused) and written; nothing that is read back differs.
#include "fuzz/memory_file.h"
#include "paritas/compare/result_json.h"
#include "paritas/compare/stored.h"

namespace {

using namespace paritas;

void use(const CompareResult& result) {
  const Json json = to_json(result);
  const auto again = compare_result_from_json(json, "again");
  require(again.has_value());
  require(to_json(*again) == json);
  GateSet gates;
  gates.gates.push_back(parse_gate("*: cosine>=0.99 or max_abs<=2 steps").value());
  if (const auto judged = judge_again(result, gates)) require(!judged->reasons.empty());
  static_cast<void>(compare_with_baseline(result, result, "same"));
  if (const auto merged = merge_parts({result, result}, {"a", "b"}))
    require(merged->samples == 0 || result.samples == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto json = parse_json(text, "result.json");
  if (!json) return 0;
  const auto result = compare_result_from_json(*json, "result.json");
  if (result)
    use(*result);
  else
    require(!result.error().cause.empty());
  return 0;
}
