// Any bytes as a history of timings: every line comes back as it was, or is told as damaged.
#include <cmath>

#include "fuzz/memory_file.h"
#include "paritas/delivery/bench_explain.h"

using namespace paritas;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // The header is not for the fuzzer to find.
  const std::string text = history_header() + "\n" + std::string(reinterpret_cast<const char*>(data), size);
  const auto history = parse_history(text, "history");
  require(history.has_value());
  for (const HistoryLine& line : history->lines) {
    require(std::isfinite(line.min) && std::isfinite(line.max));
    const std::string written = history_text(line);
    require(written.find('\n') == std::string::npos);
    const auto again = parse_history(history_header() + "\n" + written, "history");
    require(again && again->lines.size() == 1);
    require(again->lines.front().name.size() == line.name.size());
    const BenchRatio ratio = ratio_to_earlier(line, history->lines.front());
    require(ratio.value.has_value() == ratio.refused.empty());
  }
  return 0;
}
