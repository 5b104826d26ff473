#include "paritas/metrics/integer_figures.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace paritas::metrics {
namespace {

struct Counts {
  std::vector<uint64_t> x, y;        // elements by code of each side, smallest code first
  std::array<uint64_t, 17> steps{};  // by difference, clamped to -8 ... 8
  uint64_t step_sum = 0, max_step = 0;
  int64_t bias_sum = 0;

  void add_difference(int64_t d, uint64_t n) {
    const auto distance = static_cast<uint64_t>(d < 0 ? -d : d);
    steps[static_cast<size_t>(std::clamp<int64_t>(d, -8, 8) + 8)] += n;
    step_sum += n * distance;
    bias_sum += static_cast<int64_t>(n) * d;
    max_step = std::max(max_step, distance);
  }

  void add(const Counts& other) {
    const auto sum = [](auto& to, const auto& from) {
      for (size_t i = 0; i < from.size(); ++i) to[i] += from[i];
    };
    sum(x, other.x);
    sum(y, other.y);
    sum(steps, other.steps);
    step_sum += other.step_sum;
    bias_sum += other.bias_sum;
    max_step = std::max(max_step, other.max_step);
  }
};

template <class T>
constexpr size_t code(T value) {
  return static_cast<size_t>(static_cast<int>(value) - std::numeric_limits<T>::min());
}

// Neighbouring elements are often equal, and a counter that was just written is slow to read: tables take turns. No
// branch asks whether the sides are equal, since one that is mispredicted costs more than the counting that it saves.
// All tables fit the first-level cache, at the price of 32 bits a counter.
struct ByteTables {
  uint32_t x[4][256] = {};
  uint32_t y[4][256] = {};
  uint32_t difference[8][512] = {};  // device code - reference code + 255
  uint64_t counted = 0;              // elements since the tables were empty

  void add_to(Counts& counts) const {
    for (size_t k = 0; k < 256; ++k) {
      for (const auto& table : x) counts.x[k] += table[k];
      for (const auto& table : y) counts.y[k] += table[k];
    }
    for (int64_t k = 0; k < 511; ++k)
      for (const auto& table : difference)
        if (table[k] > 0) counts.add_difference(k - 255, table[k]);
  }
};

// Byte `kByte` of both words. `kFlip` makes bytes codes: smallest value first.
template <size_t kByte, size_t kFlip>
void count_byte(uint64_t word_x, uint64_t word_y, ByteTables& tables) {
  const size_t a = ((word_x >> (8 * kByte)) & 255) ^ kFlip;
  const size_t b = ((word_y >> (8 * kByte)) & 255) ^ kFlip;
  ++tables.x[kByte % 4][a];
  ++tables.y[kByte % 4][b];
  ++tables.difference[kByte][b + 255 - a];
}

template <class T>
void count_bytes(const T* x, const T* y, size_t n, ByteTables& tables) {
  constexpr size_t kFlip = std::is_signed_v<T> ? 128 : 0;
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    uint64_t word_x, word_y;
    std::memcpy(&word_x, x + i, 8);
    std::memcpy(&word_y, y + i, 8);
    [&]<size_t... kBytes>(std::index_sequence<kBytes...>) {
      (count_byte<kBytes, kFlip>(word_x, word_y, tables), ...);
    }(std::make_index_sequence<8>());
  }
  for (; i < n; ++i) count_byte<0, kFlip>(static_cast<uint8_t>(x[i]), static_cast<uint8_t>(y[i]), tables);
}

template <class T>
void count_words(const T* x, const T* y, size_t n, Counts& counts) {
  for (size_t i = 0; i < n; ++i) {
    ++counts.x[code(x[i])];
    ++counts.y[code(y[i])];
    counts.add_difference(int64_t{y[i]} - int64_t{x[i]}, 1);
  }
}

CodeUse use_of(const std::vector<uint64_t>& codes, uint64_t count) {
  CodeUse use;
  for (uint64_t n : codes) {
    if (n == 0) continue;
    ++use.levels;
    const double share = static_cast<double>(n) / static_cast<double>(count);
    use.entropy_bits -= share * std::log2(share);
  }
  use.at_lowest = codes.front();
  use.at_highest = codes.back();
  return use;
}

}  // namespace

bool has_codes(DType type) {
  return type == DType::kI8 || type == DType::kU8 || type == DType::kI16 || type == DType::kU16;
}

struct CodeCounter::Impl {
  DType type;
  uint64_t count = 0;
  Counts counts;
  ByteTables tables;  // what is not in `counts` yet

  Counts all() const {
    Counts sum = counts;
    tables.add_to(sum);
    return sum;
  }
};

CodeCounter::CodeCounter(DType type) : impl_(new Impl{type, 0, {}, {}}) {
  assert(has_codes(type));
  impl_->counts.x.assign(size_t{1} << bits(type), 0);
  impl_->counts.y = impl_->counts.x;
}

CodeCounter::~CodeCounter() = default;
CodeCounter::CodeCounter(CodeCounter&&) noexcept = default;
CodeCounter& CodeCounter::operator=(CodeCounter&&) noexcept = default;

void CodeCounter::add(const std::byte* reference, const std::byte* device, size_t count) {
  const auto of = [&]<class T>(T, auto function, auto& into) {
    function(reinterpret_cast<const T*>(reference), reinterpret_cast<const T*>(device), count, into);
  };
  Impl& impl = *impl_;
  impl.count += count;
  if (impl.tables.counted + count > std::numeric_limits<uint32_t>::max()) {
    impl.tables.add_to(impl.counts);
    impl.tables = {};
  }
  switch (impl.type) {
    case DType::kI8:
      impl.tables.counted += count;
      return of(int8_t{}, count_bytes<int8_t>, impl.tables);
    case DType::kU8:
      impl.tables.counted += count;
      return of(uint8_t{}, count_bytes<uint8_t>, impl.tables);
    case DType::kI16:
      return of(int16_t{}, count_words<int16_t>, impl.counts);
    default:
      return of(uint16_t{}, count_words<uint16_t>, impl.counts);
  }
}

void CodeCounter::merge(const CodeCounter& other) {
  impl_->count += other.impl_->count;
  impl_->counts.add(other.impl_->all());
}

IntegerFigures CodeCounter::figures() const {
  IntegerFigures f;
  if (impl_->count == 0) return f;
  const Counts counts = impl_->all();
  f.count = impl_->count;
  f.steps = counts.steps;
  f.max_step = counts.max_step;
  f.mean_step = static_cast<double>(counts.step_sum) / static_cast<double>(f.count);
  f.mean_bias = static_cast<double>(counts.bias_sum) / static_cast<double>(f.count);
  f.reference = use_of(counts.x, f.count);
  f.device = use_of(counts.y, f.count);
  return f;
}

}  // namespace paritas::metrics
