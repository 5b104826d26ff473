#include "paritas/metrics/integer_figures.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <memory>
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

// How often each pair of bytes occurs: one counter a pair, from which both sides' codes and their difference follow.
// Pairs of a device that is nearly right lie near the diagonal, so that the part in use fits the first-level cache.
// Neighbouring elements are often equal, and a counter that was just written is slow to read: two tables take turns.
class BytePairs {
 public:
  // Below this many elements, clearing the tables costs more than they save.
  static constexpr uint64_t kWorthIt = 1 << 16;

  void count(const uint8_t* x, const uint8_t* y, size_t n) {
    if (!tables_) tables_ = std::make_unique<Tables>();
    auto& [even, odd] = *tables_;
    size_t i = 0;
    for (; i + kTile <= n; i += kTile) {
      std::array<uint16_t, kTile> pairs;
      for (size_t k = 0; k < kTile; ++k) pairs[k] = static_cast<uint16_t>(x[i + k] | y[i + k] << 8);
      for (size_t k = 0; k < kTile; k += 2) {
        ++even[pairs[k]];
        ++odd[pairs[k + 1]];
      }
    }
    for (; i < n; ++i) ++even[static_cast<size_t>(x[i] | y[i] << 8)];
    counted_ += n;
  }

  bool has_room(size_t n) const { return counted_ + n <= std::numeric_limits<uint32_t>::max(); }

  // `flip` makes bytes codes: smallest value first.
  void add_to(Counts& counts, size_t flip) const {
    if (!tables_) return;
    const auto& [even, odd] = *tables_;
    for (size_t pair = 0; pair < even.size(); ++pair) {
      const uint64_t n = uint64_t{even[pair]} + odd[pair];
      if (n == 0) continue;
      const size_t a = (pair & 255) ^ flip, b = (pair >> 8) ^ flip;
      counts.x[a] += n;
      counts.y[b] += n;
      counts.add_difference(static_cast<int64_t>(b) - static_cast<int64_t>(a), n);
    }
  }

  void clear() {
    tables_.reset();
    counted_ = 0;
  }

 private:
  static constexpr size_t kTile = 64;
  using Table = std::array<uint32_t, 1 << 16>;
  using Tables = std::pair<Table, Table>;
  std::unique_ptr<Tables> tables_;
  uint64_t counted_ = 0;
};

template <class T>
void count_one_by_one(const T* x, const T* y, size_t n, Counts& counts) {
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
  bool by_pair;
  uint64_t count = 0;
  Counts counts;
  BytePairs pairs;  // what is not in `counts` yet

  void settle(Counts& into) const { pairs.add_to(into, type == DType::kI8 ? 128 : 0); }

  Counts all() const {
    Counts sum = counts;
    settle(sum);
    return sum;
  }
};

CodeCounter::CodeCounter(DType type, uint64_t expected)
    : impl_(new Impl{type, bits(type) == 8 && expected >= BytePairs::kWorthIt, 0, {}, {}}) {
  assert(has_codes(type));
  impl_->counts.x.assign(size_t{1} << bits(type), 0);
  impl_->counts.y = impl_->counts.x;
}

CodeCounter::~CodeCounter() = default;
CodeCounter::CodeCounter(CodeCounter&&) noexcept = default;
CodeCounter& CodeCounter::operator=(CodeCounter&&) noexcept = default;

void CodeCounter::add(const std::byte* reference, const std::byte* device, size_t count) {
  Impl& impl = *impl_;
  impl.count += count;
  if (impl.by_pair) {
    if (!impl.pairs.has_room(count)) {
      impl.settle(impl.counts);
      impl.pairs.clear();
    }
    return impl.pairs.count(reinterpret_cast<const uint8_t*>(reference), reinterpret_cast<const uint8_t*>(device),
                            count);
  }
  const auto as = [&]<class T>(T) {
    count_one_by_one(reinterpret_cast<const T*>(reference), reinterpret_cast<const T*>(device), count, impl.counts);
  };
  switch (impl.type) {
    case DType::kI8:
      return as(int8_t{});
    case DType::kU8:
      return as(uint8_t{});
    case DType::kI16:
      return as(int16_t{});
    default:
      return as(uint16_t{});
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
