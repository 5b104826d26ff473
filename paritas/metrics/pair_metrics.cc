#include "paritas/metrics/pair_metrics.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "paritas/base/threads.h"
#include "paritas/metrics/block.h"
#include "paritas/metrics/figures.h"
#include "paritas/metrics/wide_sums.h"

namespace paritas {
namespace metrics {
namespace {

constexpr size_t kAlignment = 64;
// Both sides of a unit of work fit a second-level cache of 1 MiB, so that what pread just wrote is still there.
constexpr uint64_t kUnitBytes = 256 * 1024;
// Sums of this many blocks are kept before they are added up: 64 bytes each.
constexpr size_t kWindowBlocks = 4096;

// Memory that is not cleared first.
class Buffer {
 public:
  explicit Buffer(size_t size) : bytes_(new(std::align_val_t{kAlignment}) std::byte[size]) {}
  std::byte* data() const { return bytes_.get(); }

 private:
  struct Free {
    void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t{kAlignment}); }
  };
  std::unique_ptr<std::byte[], Free> bytes_;
};

// One side: its bytes where they lie in memory, else read piece by piece.
class Side {
 public:
  static Result<Side> of(const Tensor& tensor) {
    Side side;
    side.tensor_ = &tensor;
    if (tensor.bytes.file()) return side;
    PARITAS_ASSIGN(const TensorView view, TensorView::of(tensor));
    const size_t width = std::max(1, bits(tensor.dtype) / 8);
    if (reinterpret_cast<uintptr_t>(view.bytes().data()) % width == 0) side.memory_ = view.bytes().data();
    return side;
  }

  DType dtype() const { return tensor_->dtype; }

  // Elements [first, first + count); first is even.
  Result<const std::byte*> get(uint64_t first, uint64_t count, const Buffer& buffer) const {
    const uint64_t at = byte_size(dtype(), first);
    if (memory_ != nullptr) return memory_ + at;
    PARITAS_TRY(tensor_->bytes.read(at, std::span(buffer.data(), byte_size(dtype(), count))));
    return buffer.data();
  }

 private:
  const Tensor* tensor_ = nullptr;
  const std::byte* memory_ = nullptr;  // the tensor keeps it alive
};

// What is done with each block.
struct FusedKernel {
  using Sums = BlockSums;
  using Totals = metrics::Totals;
  const PassOptions& options;
  bool quantiles;
  bool codes;

  void prepare(DType x, DType y, uint64_t count, Totals& totals) const {
    if (codes) totals.codes.emplace(x, count);
    const bool any_scale = options.reference_affine || options.device_affine;
    const bool wide = x == DType::kF64 || y == DType::kF64 || any_scale;
    if (quantiles) totals.histogram.emplace(wide, count);
  }
  Sums operator()(const Block& block, Scratch& scratch, Totals& totals) const {
    if (totals.codes) totals.codes->add(block.reference, block.device, block.count);
    return compare_block(block, options, scratch, totals);
  }
};

struct WideKernel {
  using Sums = WideSums;
  using Totals = WideTotals;
  const PassOptions& options;

  void prepare(DType /*x*/, DType /*y*/, uint64_t /*count*/, Totals& /*totals*/) const {}
  Sums operator()(const Block& block, Scratch& scratch, Totals& totals) const {
    return wide_block(block, options, scratch, totals);
  }
};

template <class Totals>
struct Worker {
  Worker(uint64_t bytes_x, uint64_t bytes_y) : x(bytes_x), y(bytes_y), scratch(new Scratch) {}
  Buffer x;
  Buffer y;
  std::unique_ptr<Scratch> scratch;
  Totals totals;
};

// One pass over a pair of tensors.
template <class Kernel>
class PairPass {
 public:
  using Sums = typename Kernel::Sums;
  using Totals = typename Kernel::Totals;

  PairPass(Side x, Side y, uint64_t count, const Kernel& kernel, int threads)
      : x_(x), y_(y), count_(count), kernel_(kernel), threads_(threads) {
    const uint64_t widest = std::max(byte_size(x.dtype(), kBlockElements), byte_size(y.dtype(), kBlockElements));
    unit_blocks_ = std::max<uint64_t>(1, kUnitBytes / widest);
  }

  Status run() {
    const uint64_t blocks = (count_ + kBlockElements - 1) / kBlockElements;
    const uint64_t units = (blocks + unit_blocks_ - 1) / unit_blocks_;
    workers_.resize(static_cast<size_t>(std::min<uint64_t>(units, static_cast<uint64_t>(std::max(1, threads_)))));
    const uint64_t window = kWindowBlocks / unit_blocks_;  // in units
    std::vector<Sums> partial(std::min<uint64_t>(blocks, window * unit_blocks_));
    for (uint64_t first = 0; first < units; first += window) {
      PARITAS_TRY(run_window(first, std::min(window, units - first), partial));
      const uint64_t first_block = first * unit_blocks_;
      const uint64_t n = std::min<uint64_t>(partial.size(), blocks - first_block);
      for (uint64_t b = 0; b < n; ++b) sums.add(partial[b]);
    }
    for (auto& worker : workers_) {
      if (!worker) continue;
      if (merged_) {
        totals.merge(worker->totals);
      } else {
        totals = std::move(worker->totals);
        merged_ = true;
      }
    }
    return {};
  }

  Sums sums;
  Totals totals;

 private:
  Status run_window(uint64_t first_unit, uint64_t units, std::vector<Sums>& partial) {
    std::vector<Status> failures(workers_.size());
    std::atomic<bool> failed{false};
    parallel_for(units, static_cast<int>(workers_.size()), [&](size_t unit, int thread) {
      if (failed.load(std::memory_order_relaxed)) return;
      const uint64_t first = (first_unit + unit) * unit_blocks_ * kBlockElements;
      Status status = run_unit(first, static_cast<size_t>(thread), &partial[unit * unit_blocks_]);
      if (status) return;
      failures[static_cast<size_t>(thread)] = std::move(status);
      failed = true;
    });
    for (Status& status : failures) PARITAS_TRY(status);
    return {};
  }

  Status run_unit(uint64_t first, size_t thread, Sums* out) {
    auto& worker = worker_of(thread);
    const uint64_t n = std::min<uint64_t>(unit_blocks_ * kBlockElements, count_ - first);
    PARITAS_ASSIGN(const std::byte* x, x_.get(first, n, worker.x));
    PARITAS_ASSIGN(const std::byte* y, y_.get(first, n, worker.y));
    for (uint64_t at = 0; at < n; at += kBlockElements) {
      const Block block{x_.dtype(),
                        y_.dtype(),
                        x + byte_size(x_.dtype(), at),
                        y + byte_size(y_.dtype(), at),
                        first + at,
                        static_cast<size_t>(std::min(kBlockElements, n - at))};
      *out++ = kernel_(block, *worker.scratch, worker.totals);
    }
    return {};
  }

  // Made by the thread that uses it.
  Worker<Totals>& worker_of(size_t thread) {
    auto& worker = workers_[thread];
    if (!worker) {
      const uint64_t n = std::min<uint64_t>(unit_blocks_ * kBlockElements, count_);
      worker = std::make_unique<Worker<Totals>>(byte_size(x_.dtype(), n), byte_size(y_.dtype(), n));
      kernel_.prepare(x_.dtype(), y_.dtype(), count_, worker->totals);
    }
    return *worker;
  }

  Side x_;
  Side y_;
  uint64_t count_;
  Kernel kernel_;
  int threads_;
  uint64_t unit_blocks_ = 1;
  std::vector<std::unique_ptr<Worker<Totals>>> workers_;
  bool merged_ = false;
};

bool is_tolerance(double value) { return value >= 0 && std::isfinite(value); }

Result<PassOptions> checked(const Tensor& x, const Tensor& y, const MetricOptions& options) {
  if (x.count() != y.count())
    return input_error("", fmt::format("the reference has {} elements, the device {}", x.count(), y.count()),
                       "compare tensors of the same shape");
  for (const Tensor* tensor : {&x, &y}) {
    if (tensor->bytes.size() == byte_size(tensor->dtype, tensor->count())) continue;
    return input_error(tensor->bytes.file() ? tensor->bytes.file()->path().string() : "",
                       fmt::format("{} {} does not take {} bytes", name(tensor->dtype), to_string(tensor->shape),
                                   tensor->bytes.size()));
  }
  PassOptions pass;
  pass.rel_floor = options.rel_floor;
  pass.count_outside = options.atol.has_value() || options.rtol.has_value();
  pass.atol = options.atol.value_or(0);
  pass.rtol = options.rtol.value_or(0);
  pass.storage_type = options.storage_type;
  pass.reference_affine = options.reference_affine;
  pass.device_affine = options.device_affine;
  if (!is_tolerance(pass.rel_floor) || !is_tolerance(pass.atol) || !is_tolerance(pass.rtol))
    return usage_error("", "a tolerance or floor is negative or not finite", "use a number of at least 0");
  for (const auto* affine : {&pass.reference_affine, &pass.device_affine})
    if (*affine &&
        ((*affine)->scale.empty() || (*affine)->scale.size() != (*affine)->zero_point.size() || (*affine)->inner == 0))
      return usage_error("", "a quantisation needs as many zero points as scales");
  if (pass.storage_type && !is_float(*pass.storage_type)) pass.storage_type.reset();
  return pass;
}

// What is left of figures when the values are names.
PairMetrics of_names(const PairMetrics& all) {
  PairMetrics m;
  m.names = true;
  m.count = all.count;
  m.finite = all.finite;
  m.differing = all.differing;
  m.nonfinite = all.nonfinite;
  if (m.differing > 0) return m;
  m.sqnr_db = std::numeric_limits<double>::infinity();
  m.outside = all.outside;
  m.outside_atol = all.outside_atol;
  m.outside_rtol = all.outside_rtol;
  m.max_integer_difference = all.max_integer_difference;
  m.abs_quantiles = all.abs_quantiles;
  return m;
}

}  // namespace
}  // namespace metrics

Result<PairMetrics> compare_tensors(const Tensor& reference, const Tensor& device, const MetricOptions& options) {
  using namespace metrics;
  PARITAS_ASSIGN(const PassOptions pass_options, checked(reference, device, options));
  PARITAS_ASSIGN(const Side x, Side::of(reference));
  PARITAS_ASSIGN(const Side y, Side::of(device));
  const uint64_t count = reference.count();

  const bool codes = options.codes && reference.dtype == device.dtype && has_codes(reference.dtype) && count > 0;
  PairPass pass(x, y, count, FusedKernel{pass_options, options.quantiles, codes}, options.threads);
  PARITAS_TRY(pass.run());
  PairMetrics result = figures(reference.dtype, device.dtype, count, pass_options, pass.sums, pass.totals);
  if (needs_wide_sums(reference.dtype, device.dtype, pass_options, pass.sums, pass.totals)) {
    PairPass wide(x, y, count, WideKernel{pass_options}, options.threads);
    PARITAS_TRY(wide.run());
    fill_wide(reference.dtype, device.dtype, pass_options, wide.sums, wide.totals, pass.totals, result);
  }
  if (pass.totals.codes) result.codes = pass.totals.codes->figures();
  if (count == 0 && options.quantiles) result.abs_quantiles.emplace();  // no worker ever made a histogram
  return options.names ? of_names(result) : result;
}

}  // namespace paritas
