#include "paritas/recording/sample_range.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace paritas {
namespace {

class PartOfStream : public SampleStream {
 public:
  PartOfStream(std::unique_ptr<SampleStream> whole, const SampleRange& range)
      : whole_(std::move(whole)),
        first_(std::min(range.first, whole_->sample_count())),
        end_(std::clamp(range.end, first_, whole_->sample_count())) {}

  const RunInfo& info() const override { return whole_->info(); }
  const std::string& subject() const override { return whole_->subject(); }
  uint64_t sample_count() const override { return end_ - first_; }
  Result<Sample> sample(uint64_t index) override { return whole_->sample(first_ + index); }

 private:
  std::unique_ptr<SampleStream> whole_;
  uint64_t first_, end_;
};

}  // namespace

Result<SampleRange> parse_sample_range(const std::string& text) {
  const auto refuse = [&] {
    return usage_error("--samples " + text, "is not FIRST:END", "for example: --samples 0:100, 100: or :50");
  };
  const auto colon = text.find(':');
  if (colon == std::string::npos) return refuse();
  SampleRange range;
  const auto take = [](const std::string& part, uint64_t& value) {
    if (part.empty()) return true;
    const auto [end, code] = std::from_chars(part.data(), part.data() + part.size(), value);
    return code == std::errc() && end == part.data() + part.size();
  };
  if (!take(text.substr(0, colon), range.first) || !take(text.substr(colon + 1), range.end)) return refuse();
  if (range.end <= range.first) return usage_error("--samples " + text, "is empty", "END comes after FIRST");
  return range;
}

std::unique_ptr<SampleStream> samples_in_range(std::unique_ptr<SampleStream> whole, const SampleRange& range) {
  return std::make_unique<PartOfStream>(std::move(whole), range);
}

}  // namespace paritas
