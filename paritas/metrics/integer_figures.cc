#include "paritas/metrics/integer_figures.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "paritas/base/threads.h"

namespace paritas {
namespace {

constexpr uint64_t kUnit = 1 << 20;  // elements that a thread reads at a time

// Whole numbers only, so that any order of adding gives the same.
struct Counts {
  std::vector<uint64_t> pairs;       // 8 bits: the joint histogram [x][y], which holds everything
  std::vector<uint64_t> x, y;        // 16 bits: codes of each side
  std::array<uint64_t, 17> steps{};  // 16 bits
  uint64_t step_sum = 0, max_step = 0;
  int64_t bias_sum = 0;
};

template <class T>
constexpr size_t code(T value) {
  return static_cast<size_t>(static_cast<int>(value) - std::numeric_limits<T>::min());
}

size_t step_bin(int64_t d) { return static_cast<size_t>(std::clamp<int64_t>(d, -8, 8) + 8); }

template <class T>
void count_unit(const std::byte* x_bytes, const std::byte* y_bytes, size_t n, Counts& counts) {
  const auto* x = reinterpret_cast<const T*>(x_bytes);
  const auto* y = reinterpret_cast<const T*>(y_bytes);
  if constexpr (sizeof(T) == 1) {
    for (size_t i = 0; i < n; ++i) ++counts.pairs[code(x[i]) << 8 | code(y[i])];
  } else {
    for (size_t i = 0; i < n; ++i) {
      ++counts.x[code(x[i])];
      ++counts.y[code(y[i])];
      const int64_t d = int64_t{y[i]} - int64_t{x[i]};
      const auto distance = static_cast<uint64_t>(d < 0 ? -d : d);
      ++counts.steps[step_bin(d)];
      counts.step_sum += distance;
      counts.bias_sum += d;
      counts.max_step = std::max(counts.max_step, distance);
    }
  }
}

// What the joint histogram of 8-bit codes says about the rest.
void unfold_pairs(Counts& counts) {
  counts.x.assign(256, 0);
  counts.y.assign(256, 0);
  for (int64_t x = 0; x < 256; ++x)
    for (int64_t y = 0; y < 256; ++y) {
      const uint64_t n = counts.pairs[static_cast<size_t>(x << 8 | y)];
      if (n == 0) continue;
      const auto distance = static_cast<uint64_t>(x < y ? y - x : x - y);
      counts.x[static_cast<size_t>(x)] += n;
      counts.y[static_cast<size_t>(y)] += n;
      counts.steps[step_bin(y - x)] += n;
      counts.step_sum += n * distance;
      counts.bias_sum += static_cast<int64_t>(n) * (y - x);
      counts.max_step = std::max(counts.max_step, distance);
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

template <class T>
Result<Counts> count_all(const Tensor& reference, const Tensor& device, int threads) {
  const uint64_t count = reference.count();
  const uint64_t units = (count + kUnit - 1) / kUnit;
  const auto used = static_cast<size_t>(std::clamp<uint64_t>(units, 1, static_cast<uint64_t>(std::max(1, threads))));
  struct Worker {
    Counts counts;
    std::vector<std::byte> x, y;
    Status status;
  };
  std::vector<Worker> workers(used);
  for (Worker& worker : workers) {
    if (sizeof(T) == 1) worker.counts.pairs.assign(1 << 16, 0);
    if (sizeof(T) == 2) worker.counts.x.assign(1 << 16, 0), worker.counts.y.assign(1 << 16, 0);
    worker.x.resize(std::min(count, kUnit) * sizeof(T));
    worker.y.resize(worker.x.size());
  }
  parallel_for(units, static_cast<int>(used), [&](size_t unit, int thread) {
    Worker& worker = workers[static_cast<size_t>(thread)];
    const uint64_t n = std::min(kUnit, count - unit * kUnit);
    for (auto [tensor, buffer] : {std::pair(&reference, &worker.x), std::pair(&device, &worker.y)}) {
      if (!worker.status) return;
      worker.status = tensor->bytes.read(unit * kUnit * sizeof(T), std::span(*buffer).first(n * sizeof(T)));
    }
    if (worker.status) count_unit<T>(worker.x.data(), worker.y.data(), n, worker.counts);
  });
  Counts total = std::move(workers.front().counts);
  PARITAS_TRY(workers.front().status);
  for (size_t w = 1; w < used; ++w) {
    PARITAS_TRY(workers[w].status);
    const Counts& other = workers[w].counts;
    const auto add = [](auto& to, const auto& from) {
      for (size_t i = 0; i < from.size(); ++i) to[i] += from[i];
    };
    add(total.pairs, other.pairs);
    add(total.x, other.x);
    add(total.y, other.y);
    add(total.steps, other.steps);
    total.step_sum += other.step_sum;
    total.bias_sum += other.bias_sum;
    total.max_step = std::max(total.max_step, other.max_step);
  }
  if (sizeof(T) == 1) unfold_pairs(total);
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
