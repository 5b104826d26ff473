// Simulated integer formats: how a float value gets its code, and what is known about a network's tensors for it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "paritas/base/dtype.h"
#include "paritas/base/error.h"
#include "paritas/base/files.h"

namespace paritas::sim {

// real = (code - zero_point) * scale, lowest <= code <= highest.
struct Steps {
  float scale = 1;
  int zero_point = 0;
  int lowest = -128;
  int highest = 127;
};

struct Range {
  DType dtype = DType::kF32;
  float min = 0;
  float max = 0;
  std::string not_finite;  // sample that holds a NaN or an infinity; empty: none
};

// A target's options with the ranges that they name.
struct Integers {
  DType activations = DType::kI8;
  bool symmetric = false;        // activations; weights always are
  bool per_channel = true;       // weights
  std::string recording;         // where ranges come from, as given
  std::string recording_sha256;  // of its run.json
  std::string recorded_on;       // target
  std::string model_sha256;      // of the network that was recorded
  uint64_t samples = 0;
  std::map<std::string, Range> ranges;
  std::vector<std::string> in_float;  // patterns of tensors that are declared to stay as they are
};

// 0 always has a code of its own. Symmetric codes leave out the lowest one, so that the range is. A range of nothing
// but 0 has scale 1.
Steps steps_of(float min, float max, DType codes, bool symmetric);

// In float32, as QuantizeLinear and DequantizeLinear of ONNX: x / scale rounded, ties to even, zero point added
// afterwards, saturated. NaN stays NaN: an integer format has none, and a number in its place would hide it. `in` and
// `out` may be the same memory.
void fake_quantise(std::span<const float> in, std::span<float> out, const Steps& steps);

// Smallest and largest value of every float tensor of a recording over all samples (and steps).
Status read_ranges(const Path& recording, Integers& integers);

}  // namespace paritas::sim
