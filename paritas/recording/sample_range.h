// A part of a stream: samples A to B - 1. Shards of one comparison can so run on several machines.
#pragma once

#include <memory>

#include "paritas/recording/sample_stream.h"

namespace paritas {

struct SampleRange {
  uint64_t first = 0;
  uint64_t end = ~uint64_t{0};  // behind the last; beyond the stream's end counts as its end
};

// "10:20", "10:" or ":20".
Result<SampleRange> parse_sample_range(const std::string& text);

// Sample ids stay those of the whole stream.
std::unique_ptr<SampleStream> samples_in_range(std::unique_ptr<SampleStream> whole, const SampleRange& range);

}  // namespace paritas
