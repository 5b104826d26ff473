#include "paritas/base/threads.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace paritas {
namespace {

TEST(ParallelFor, RunsEveryIndexOnce) {
  for (const int threads : {-1, 1, 2, 7})
    for (const size_t count : {size_t{0}, size_t{1}, size_t{5}, size_t{1000}}) {
      std::vector<std::atomic<int>> runs(count);
      std::atomic<bool> lawful{true};
      parallel_for(count, threads, [&](size_t index, int thread) {
        ++runs[index];
        if (thread < 0 || thread >= std::max(1, threads)) lawful = false;
      });
      for (const auto& run : runs) ASSERT_EQ(run, 1);
      EXPECT_TRUE(lawful);
    }
}

// Two bodies that wait for each other can only end when they run at the same time.
TEST(ParallelFor, RunsAtTheSameTime) {
  std::atomic<int> arrived{0};
  std::mutex mutex;
  std::set<int> threads;
  parallel_for(2, 2, [&](size_t, int thread) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
    const std::lock_guard lock(mutex);
    threads.insert(thread);
  });
  EXPECT_EQ(threads, (std::set<int>{0, 1}));
}

TEST(AvailableCores, IsAtLeastOne) { EXPECT_GE(available_cores(), 1); }

}  // namespace
}  // namespace paritas
