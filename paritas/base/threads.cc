#include "paritas/base/threads.h"

#include <sched.h>
#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace paritas {

int available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void parallel_for(size_t count, int threads, const std::function<void(size_t, int)>& body) {
  const auto workers = static_cast<int>(std::min<size_t>(count, static_cast<size_t>(std::max(1, threads))));
  if (workers <= 1) {
    for (size_t i = 0; i < count; ++i) body(i, 0);
    return;
  }
  std::atomic<size_t> next{0};
  auto run = [&](int thread) {
    for (size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) body(i, thread);
  };
  std::vector<std::thread> pool;
  try {
    for (int t = 1; t < workers; ++t) pool.emplace_back(run, t);
  } catch (const std::system_error&) {  // no more threads to be had: those that there are do all the work
  }
  run(0);
  for (auto& t : pool) t.join();
}

}  // namespace paritas
