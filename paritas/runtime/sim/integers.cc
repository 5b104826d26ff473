#include "paritas/runtime/sim/integers.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include <fmt/format.h>

#include "paritas/base/sha256.h"
#include "paritas/recording/recording.h"

namespace paritas::sim {
namespace {

constexpr uint64_t kBlock = 65536;

struct Limits {
  int lowest, highest;
};

Limits limits_of(DType codes) {
  switch (codes) {
    case DType::kU8:
      return {0, 255};
    case DType::kI16:
      return {-32768, 32767};
    case DType::kU16:
      return {0, 65535};
    default:
      return {-128, 127};
  }
}

void widen(const std::vector<double>& values, const std::string& sample, Range& range) {
  for (const double value : values) {
    if (!std::isfinite(value)) {
      if (range.not_finite.empty()) range.not_finite = sample;
      continue;
    }
    range.min = std::min(range.min, static_cast<float>(value));
    range.max = std::max(range.max, static_cast<float>(value));
  }
}

Status widen(const Tensor& tensor, const std::string& sample, Range& range) {
  PARITAS_ASSIGN(const TensorView view, TensorView::of(tensor));
  std::vector<double> block;
  for (uint64_t first = 0; first < view.count(); first += kBlock) {
    block.resize(std::min(kBlock, view.count() - first));
    load_as_double(view.dtype(), view.bytes(), first, block);
    widen(block, sample, range);
  }
  return {};
}

}  // namespace

Steps steps_of(float min, float max, DType codes, bool symmetric) {
  const Limits limits = limits_of(codes);
  assert(!symmetric || limits.lowest < 0);
  Steps steps{1, 0, limits.lowest, limits.highest};
  double low = std::min(0.0, static_cast<double>(min)), high = std::max(0.0, static_cast<double>(max));
  if (symmetric) {
    ++steps.lowest;
    high = std::max(-low, high);
    low = -high;
  }
  const auto scale = static_cast<float>((high - low) / (steps.highest - steps.lowest));
  if (scale > 0) steps.scale = scale;  // of denormal ranges nothing may be left
  if (!symmetric)
    steps.zero_point =
        std::clamp(static_cast<int>(std::nearbyint(steps.lowest - low / steps.scale)), steps.lowest, steps.highest);
  return steps;
}

void fake_quantise(std::span<const float> in, std::span<float> out, const Steps& steps) {
  assert(in.size() == out.size());
  const auto zero = static_cast<float>(steps.zero_point);
  const auto lowest = static_cast<float>(steps.lowest), highest = static_cast<float>(steps.highest);
  for (size_t i = 0; i < in.size(); ++i) {
    const float code = std::nearbyint(in[i] / steps.scale) + zero;  // NaN passes through the comparisons
    const float held = code < lowest ? lowest : code > highest ? highest : code;
    out[i] = (held - zero) * steps.scale;
  }
}

Status read_ranges(const Path& recording, Integers& integers) {
  const std::string subject = recording.string();
  if (!is_recording(recording))
    return usage_error(subject, "is no recording to take ranges from",
                       "make one of the calibration samples: paritas run MODEL --input ... --marks all -o " + subject);
  PARITAS_ASSIGN(const auto stream, open_samples(recording, {}));
  integers.recording = subject;
  integers.model_sha256 = stream->info().model_sha256;
  integers.recorded_on = stream->info().target;
  integers.samples = stream->sample_count();
  PARITAS_ASSIGN(integers.recording_sha256, sha256_of_file(recording / kRunIndex));
  if (integers.model_sha256.empty())
    return input_error(subject, "does not say which model it was made with", "record it again with paritas run");
  if (integers.samples == 0) return input_error(subject, "holds no sample");
  for (uint64_t i = 0; i < integers.samples; ++i) {
    PARITAS_ASSIGN(const Sample sample, stream->sample(i));
    for (const auto& [name, tensor] : sample.tensors) {
      const auto [entry, first] = integers.ranges.try_emplace(name);
      if (first) entry->second.dtype = tensor.dtype;
      if (entry->second.dtype != tensor.dtype)
        return input_error(subject, fmt::format("\"{}\" changes its element type in {}", name, sample.id));
      if (is_float(tensor.dtype)) PARITAS_TRY(widen(tensor, sample.id, entry->second));
    }
  }
  return {};
}

}  // namespace paritas::sim
