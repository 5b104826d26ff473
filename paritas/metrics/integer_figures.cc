#include "paritas/metrics/integer_figures.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "paritas/base/threads.h"

namespace paritas {
namespace {

constexpr uint64_t kUnit = 1 << 16;  // elements that a thread reads at a time: they stay in the second-level cache

// Whole numbers only, so that any order of adding gives the same.
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

  void move_to(Counts& counts) {
    for (size_t k = 0; k < 256; ++k) {
      for (const auto& table : x) counts.x[k] += table[k];
      for (const auto& table : y) counts.y[k] += table[k];
    }
    for (int64_t k = 0; k < 511; ++k)
      for (const auto& table : difference)
        if (table[k] > 0) counts.add_difference(k - 255, table[k]);
    *this = {};
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

// What one thread counts.
template <class T>
struct Worker {
  Counts counts;
  ByteTables tables;
  std::vector<std::byte> x, y;  // the elements of a unit
  Status status;

  explicit Worker(uint64_t unit) : x(unit * sizeof(T)), y(unit * sizeof(T)) {
    counts.x.assign(size_t{1} << (8 * sizeof(T)), 0);
    counts.y = counts.x;
  }

  void count(uint64_t n) {
    const auto* a = reinterpret_cast<const T*>(x.data());
    const auto* b = reinterpret_cast<const T*>(y.data());
    if constexpr (sizeof(T) == 1) {
      if (tables.counted + n > std::numeric_limits<uint32_t>::max()) tables.move_to(counts);
      tables.counted += n;
      count_bytes(a, b, n, tables);
    } else {
      for (size_t i = 0; i < n; ++i) {
        ++counts.x[code(a[i])];
        ++counts.y[code(b[i])];
        counts.add_difference(int64_t{b[i]} - int64_t{a[i]}, 1);
      }
    }
  }
};

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

template <class T>
Result<Counts> count_all(const Tensor& reference, const Tensor& device, int threads) {
  const uint64_t count = reference.count();
  const uint64_t units = (count + kUnit - 1) / kUnit;
  const auto used = static_cast<size_t>(std::clamp<uint64_t>(units, 1, static_cast<uint64_t>(std::max(1, threads))));
  std::vector<Worker<T>> workers(used, Worker<T>(std::min(count, kUnit)));
  parallel_for(units, static_cast<int>(used), [&](size_t unit, int thread) {
    Worker<T>& worker = workers[static_cast<size_t>(thread)];
    const uint64_t n = std::min(kUnit, count - unit * kUnit);
    for (auto [tensor, buffer] : {std::pair(&reference, &worker.x), std::pair(&device, &worker.y)}) {
      if (!worker.status) return;
      worker.status = tensor->bytes.read(unit * kUnit * sizeof(T), std::span(*buffer).first(n * sizeof(T)));
    }
    if (worker.status) worker.count(n);
  });
  for (Worker<T>& worker : workers) worker.tables.move_to(worker.counts);
  Counts total = std::move(workers.front().counts);
  PARITAS_TRY(workers.front().status);
  for (size_t w = 1; w < used; ++w) {
    PARITAS_TRY(workers[w].status);
    const Counts& other = workers[w].counts;
    const auto add = [](auto& to, const auto& from) {
      for (size_t i = 0; i < from.size(); ++i) to[i] += from[i];
    };
    add(total.x, other.x);
    add(total.y, other.y);
    add(total.steps, other.steps);
    total.step_sum += other.step_sum;
    total.bias_sum += other.bias_sum;
    total.max_step = std::max(total.max_step, other.max_step);
  }
  return total;
}

}  // namespace

Result<std::optional<IntegerFigures>> integer_figures(const Tensor& reference, const Tensor& device, int threads) {
  const uint64_t count = reference.count();
  if (reference.dtype != device.dtype || count == 0) return std::nullopt;
  if (device.count() != count)
    return input_error("", "the two sides differ in the number of elements", "compare tensors of the same shape");
  Result<Counts> counts;
  switch (reference.dtype) {
    case DType::kI8:
      counts = count_all<int8_t>(reference, device, threads);
      break;
    case DType::kU8:
      counts = count_all<uint8_t>(reference, device, threads);
      break;
    case DType::kI16:
      counts = count_all<int16_t>(reference, device, threads);
      break;
    case DType::kU16:
      counts = count_all<uint16_t>(reference, device, threads);
      break;
    default:
      return std::nullopt;
  }
  PARITAS_TRY(counts);
  IntegerFigures f;
  f.count = count;
  f.steps = counts->steps;
  f.max_step = counts->max_step;
  f.mean_step = static_cast<double>(counts->step_sum) / static_cast<double>(count);
  f.mean_bias = static_cast<double>(counts->bias_sum) / static_cast<double>(count);
  f.reference = use_of(counts->x, count);
  f.device = use_of(counts->y, count);
  return f;
}

}  // namespace paritas
