// Stands for the paritas binary in tests that need a worker:
//   test_worker worker --control READ WRITE
//   test_worker orphan EXECUTABLE SCRATCH ONNXRUNTIME    starts a worker and is killed before it can clean up
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "paritas/runtime/worker.h"

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  if (std::strcmp(argv[1], "orphan") == 0) {
    auto worker = paritas::Worker::start({argv[2], argv[3], argv[4]});
    if (worker) std::raise(SIGKILL);
    return 3;
  }
  if (std::strcmp(argv[1], "worker") != 0 || std::strcmp(argv[2], "--control") != 0) return 2;
  return paritas::worker_main(std::atoi(argv[3]), std::atoi(argv[4]));
}
