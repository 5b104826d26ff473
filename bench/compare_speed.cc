// How fast a pair of tensors in files is compared, as a ratio to a pass that only reads the same files.
//
//   paritas-bench-compare FOLDER [MEBI_ELEMENTS]
//   paritas-bench-compare --read FILE FILE      the read-only pass alone, over two files
//
// Writes its files into FOLDER (two of up to 256 MiB by default), deletes them, and prints one JSON object a line and
// case:
//   {"case": "f32", "elements": 67108864, "seconds": 0.04, "read_only_seconds": 0.02, "ratio": 0.5, "bytes_per_second":
//   1e10}
// "ratio" is read_only_seconds / seconds, both the best of 5 runs that take turns; two threads; files in the page
// cache. The read-only pass: pread in 1 MiB blocks into a reused buffer, every 64-bit word summed.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <random>
#include <vector>

#include <fmt/format.h>

#include "paritas/base/threads.h"
#include "paritas/metrics/pair_metrics.h"
#include "paritas/tensor/float_formats.h"

namespace paritas {
namespace {

constexpr int kRuns = 5;
constexpr int kThreads = 2;
constexpr size_t kReadBlock = size_t{1} << 20;

struct Case {
  const char* name;
  DType dtype;
  bool quantiles;
};
constexpr Case kCases[] = {
    {"f32", DType::kF32, false},   {"f32+quantiles", DType::kF32, true}, {"f16", DType::kF16, false},
    {"bf16", DType::kBF16, false}, {"int8", DType::kI8, false},
};

void store(DType dtype, double value, std::byte* out) {
  const auto put = [out](auto v) { std::memcpy(out, &v, sizeof(v)); };
  const auto f = static_cast<float>(value);
  if (dtype == DType::kF32) put(f);
  if (dtype == DType::kF16) put(f16_from_float(f));
  if (dtype == DType::kBF16) put(bf16_from_float(f));
  if (dtype == DType::kI8) put(static_cast<int8_t>(std::clamp(value * 40, -128.0, 127.0)));
}

// Activations and what a device makes of them: normally distributed values, and the same with small relative and
// absolute errors. A piece of 2^20 elements is repeated; `device` chooses the side.
Status write_file(const Path& path, DType dtype, uint64_t count, bool device) {
  constexpr uint64_t kPiece = uint64_t{1} << 20;
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  const size_t width = byte_size(dtype, 1);
  std::vector<std::byte> piece(kPiece * width);
  for (uint64_t i = 0; i < kPiece; ++i) {
    const double value = normal(random);
    const double error = 1e-2 * normal(random) * value + 1e-3 * normal(random);
    store(dtype, device ? value + error : value, piece.data() + i * width);
  }
  PARITAS_ASSIGN(AtomicFile file, AtomicFile::create(path, true));
  for (uint64_t done = 0; done < count; done += kPiece)
    PARITAS_TRY(file.write(std::span(piece.data(), std::min(kPiece, count - done) * width)));
  return file.commit();
}

double seconds_of(const std::function<void()>& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::atomic<uint64_t> checksum_sink;  // keeps the compiler from dropping the sums

void read_only(const File& x, const File& y) {
  const size_t blocks = (x.size() + kReadBlock - 1) / kReadBlock;
  std::vector<std::vector<uint64_t>> buffers(kThreads, std::vector<uint64_t>(kReadBlock / 8));
  parallel_for(2 * blocks, kThreads, [&](size_t index, int thread) {
    const File& file = index % 2 == 0 ? x : y;
    const uint64_t at = index / 2 * kReadBlock;
    auto& buffer = buffers[static_cast<size_t>(thread)];
    const size_t size = std::min<uint64_t>(kReadBlock, file.size() - at);
    if (!file.read(at, std::as_writable_bytes(std::span(buffer)).first(size))) std::abort();
    uint64_t sum = 0;
    for (size_t i = 0; i < size / 8; ++i) sum += buffer[i];
    checksum_sink += sum;
  });
}

Status measure(const Case& c, const Path& folder, uint64_t count) {
  const Path paths[2] = {folder / "compare_speed_x.bin", folder / "compare_speed_y.bin"};
  PARITAS_TRY(write_file(paths[0], c.dtype, count, false));
  PARITAS_TRY(write_file(paths[1], c.dtype, count, true));
  PARITAS_ASSIGN(const auto x, File::open(paths[0]));
  PARITAS_ASSIGN(const auto y, File::open(paths[1]));
  const Shape shape{static_cast<int64_t>(count)};
  const Tensor reference{c.dtype, shape, Bytes::in_file(x, 0, x->size())};
  const Tensor device{c.dtype, shape, Bytes::in_file(y, 0, y->size())};

  MetricOptions options;
  options.quantiles = c.quantiles;
  options.threads = kThreads;
  double reading = std::numeric_limits<double>::infinity();
  double comparing = reading;
  Status status;
  for (int run = 0; run < kRuns && status; ++run) {
    reading = std::min(reading, seconds_of([&] { read_only(*x, *y); }));
    comparing = std::min(comparing, seconds_of([&] {
                           const auto metrics = compare_tensors(reference, device, options);
                           if (!metrics) status = tl::make_unexpected(metrics.error());
                         }));
  }
  for (const Path& path : paths) std::filesystem::remove(path);
  PARITAS_TRY(status);
  fmt::print(
      "{{\"case\": \"{}\", \"elements\": {}, \"seconds\": {:.5f}, \"read_only_seconds\": {:.5f}, \"ratio\": {:.3f}, "
      "\"bytes_per_second\": {:.4g}}}\n",
      c.name, count, comparing, reading, reading / comparing, static_cast<double>(2 * x->size()) / comparing);
  return {};
}

Status measure_reading(const char* first, const char* second) {
  PARITAS_ASSIGN(const auto x, File::open(first));
  PARITAS_ASSIGN(const auto y, File::open(second));
  double reading = std::numeric_limits<double>::infinity();
  for (int run = 0; run < kRuns; ++run) reading = std::min(reading, seconds_of([&] { read_only(*x, *y); }));
  fmt::print("{{\"read_only_seconds\": {:.5f}, \"bytes\": {}}}\n", reading, x->size() + y->size());
  return {};
}

}  // namespace
}  // namespace paritas

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "--read") == 0) {
    const auto status = paritas::measure_reading(argv[2], argv[3]);
    if (!status) fmt::print(stderr, "{}\n", status.error().message());
    return status ? 0 : 3;
  }
  const uint64_t mebi = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 64;
  if (argc < 2 || argc > 3 || mebi == 0 || mebi > 4096) {
    fmt::print(stderr, "usage: {} FOLDER [MEBI_ELEMENTS, 1 to 4096] | --read FILE FILE\n", argv[0]);
    return 2;
  }
  for (const auto& c : paritas::kCases) {
    const auto status = paritas::measure(c, argv[1], mebi << 20);
    if (status) continue;
    fmt::print(stderr, "{}\n", status.error().message());
    return 3;
  }
  return 0;
}
