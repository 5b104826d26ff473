// What a worker process asks of a runtime library: sessions, and runs of them. One backend a process.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "paritas/runtime/worker.h"

namespace paritas {

// Where one output lies in the file that run() wrote.
struct StoredOutput {
  std::string name;
  DType dtype = DType::kF32;
  Shape shape;
  uint64_t offset = 0;  // bytes; a multiple of 64, so that a mapping of it is aligned for any type
};

// What Perturb nodes do in one run, by key.
struct Injection {
  std::vector<std::pair<std::string, Tensor>> replace;
  std::vector<std::pair<std::string, Tensor>> add;
};

class BackendSession {
 public:
  virtual ~BackendSession() = default;
  virtual const SessionInfo& info() const = 0;

  struct Ran {
    std::vector<StoredOutput> outputs;
    double seconds = 0;                                   // the runtime's calls alone
    std::vector<std::pair<std::string, uint64_t>> calls;  // see RunReply
  };
  struct Order {
    std::vector<std::pair<std::string, Tensor>> inputs;
    std::vector<std::string> fetch;  // empty: what the session was opened for
    uint64_t steps = 0;              // see RunRequest
    Injection injection;
  };
  // Runs and writes the outputs one behind the other to `file`.
  virtual Result<Ran> run(const Order& order, const Path& file) = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  // Of the library: its version, and the file that was really loaded.
  virtual std::string version() const = 0;
  virtual Path path() const = 0;
  // `trace_folder`: empty folder for the provider's op trace when the request asks for one.
  virtual Result<std::unique_ptr<BackendSession>> open(const SessionRequest& request, const Path& trace_folder) = 0;
};

// Every input is there once, and nothing else.
Status check_ports(const std::vector<std::pair<std::string, Tensor>>& inputs, const SessionInfo& info,
                   const std::string& subject);

}  // namespace paritas
