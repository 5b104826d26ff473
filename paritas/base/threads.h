// A plain fork-join loop. Work is handed out by index; callers keep results per index and merge them in index order,
// which makes every total independent of the number of threads.
#pragma once

#include <cstddef>
#include <functional>

namespace paritas {

// Cores that this process may use (affinity mask), at least 1.
int available_cores();

// Calls body(index, thread) for every index in [0, count), on up to `threads` threads (thread numbers below `threads`).
// body must not throw.
void parallel_for(size_t count, int threads, const std::function<void(size_t index, int thread)>& body);

}  // namespace paritas
