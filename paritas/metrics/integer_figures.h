// Figures of quantised tensors that only their codes tell: steps, levels in use, saturation. For pairs of one 8-bit or
// 16-bit integer type; other types have no figures of this kind.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "paritas/base/dtype.h"

namespace paritas {

// Of one side.
struct CodeUse {
  uint64_t levels = 0;     // different codes in use
  uint64_t at_lowest = 0;  // elements at the type's smallest code
  uint64_t at_highest = 0;
  double entropy_bits = 0;  // Shannon entropy of the codes
};

struct IntegerFigures {
  static constexpr int kTail = 8;  // steps shown one by one
  uint64_t count = 0;
  // Elements whose device code minus reference code is -8 or less, -7, ..., 7, 8 or more.
  std::array<uint64_t, 2 * kTail + 1> steps{};
  double mean_step = 0;  // mean of |device - reference|
  double mean_bias = 0;  // mean of device - reference: a shift of all elements in one direction
  uint64_t max_step = 0;
  CodeUse reference, device;
};

namespace metrics {

// int8, uint8, int16, uint16
bool has_codes(DType type);

// Counts codes block by block. Whole numbers only, so that any order of blocks, and any share of them among threads,
// gives the same.
class CodeCounter {
 public:
  // has_codes(type). `expected` elements, more or less: decides how they are counted, not what is counted.
  CodeCounter(DType type, uint64_t expected);
  ~CodeCounter();
  CodeCounter(CodeCounter&&) noexcept;
  CodeCounter& operator=(CodeCounter&&) noexcept;

  void add(const std::byte* reference, const std::byte* device, size_t count);  // aligned for the type
  void merge(const CodeCounter& other);
  IntegerFigures figures() const;  // all zero when nothing was counted

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace metrics
}  // namespace paritas
