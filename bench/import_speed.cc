// Times how long it takes to open a dump and to have every tensor of every sample in memory: paritas-bench-import PATH
// [RUNS]. One line of JSON: seconds of the fastest run, bytes of tensors.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "paritas/vendor/import.h"

int main(int argc, char** argv) {
  using namespace paritas;
  using Clock = std::chrono::steady_clock;
  if (argc < 2) return 2;
  const int runs = argc > 2 ? std::atoi(argv[2]) : 3;
  double best = 1e30;
  uint64_t bytes = 0;
  for (int run = 0; run < runs; ++run) {
    const auto start = Clock::now();
    const auto stream = open_any(argv[1], {});
    if (!stream) {
      std::fprintf(stderr, "%s\n", stream.error().message().c_str());
      return 2;
    }
    bytes = 0;
    for (uint64_t i = 0; i < (*stream)->sample_count(); ++i) {
      const auto sample = (*stream)->sample(i);
      if (!sample) {
        std::fprintf(stderr, "%s\n", sample.error().message().c_str());
        return 2;
      }
      for (const auto& [name, tensor] : sample->tensors) bytes += tensor.bytes.size();
    }
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::printf("{\"seconds\": %.6f, \"bytes\": %llu}\n", best, static_cast<unsigned long long>(bytes));
  return 0;
}
