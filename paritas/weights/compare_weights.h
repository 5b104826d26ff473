// Do two files hold the same weights? A float network and its quantised copy: every code is the nearest one.
#pragma once

#include "paritas/weights/weights.h"

namespace paritas {

// Codes are rounded values: half a step is what rounding may cost. The rest covers float32 arithmetic of quantisers:
// 127 codes times 2^-23, with a margin of 6.
inline constexpr double kHalfStep = 0.5 + 1e-4;

enum class WeightStatus {
  kEqual,           // the same real values, to the bit
  kWithinHalfStep,  // one side is quantised, and each of its codes is the nearest
  kDiffers,
  kShapeDiffers,
  kOnlyFirst,
  kOnlySecond,
};
std::string_view name(WeightStatus status);

struct WeightComparison {
  std::string name;
  WeightStatus status = WeightStatus::kEqual;
  Shape shape;                          // of the first; of the second where only that has it
  std::string first_type, second_type;  // "float32", "int8 per channel (32, axis 0)"
  std::string reader;                   // of the first
  uint64_t elements = 0;
  uint64_t differing = 0;                // real values that are not equal
  uint64_t beyond = 0;                   // further away than half a step; without quantisation the same as differing
  uint64_t saturated = 0;                // codes at the limit of their type that would have gone further
  double max_abs = 0;                    // largest difference of real values
  double max_steps = 0;                  // the same in steps of the quantised side, of its channel; 0 without
  std::optional<int64_t> worst_channel;  // along the quantisation's axis
  double sqnr_db = 0;                    // of the second against the first
};

struct WeightsComparison {
  std::string first, second;  // files
  std::string first_sha256, second_sha256;
  bool same = false;                      // every weight is equal or within half a step, and nothing was left out
  std::vector<WeightComparison> weights;  // in the first's order, then what only the second has
  std::vector<std::pair<std::string, std::string>> unread;  // of either
  uint64_t bounds = 0;                                      // of Clip, in both files: not compared
  std::string text;                                         // in a sentence
};

// Errors: a file cannot be read; names that stand twice. Nothing in common is a result, not an error.
Result<WeightsComparison> compare_weights(const Path& first, const Path& second);

}  // namespace paritas
