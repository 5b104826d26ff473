// Sessions of ONNX Runtime, inside the worker process.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "paritas/runtime/worker.h"

namespace paritas::ort {

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

class Session {
 public:
  ~Session();
  const SessionInfo& info() const;

  struct Ran {
    std::vector<StoredOutput> outputs;
    double seconds = 0;  // Run() alone
  };
  // Runs and writes the outputs one behind the other to `file`; each output is freed when it was written. `fetch`
  // empty: what the session was opened for. Inputs are used where they lie when they are aligned for their type.
  Result<Ran> run(const std::vector<std::pair<std::string, Tensor>>& inputs, const std::vector<std::string>& fetch,
                  const Injection& injection, const Path& file);

 private:
  friend class Environment;
  friend class Chain;  // chain.h
  struct Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// ONNX Runtime's environment with the provider libraries registered so far. Make one, after load_library().
class Environment {
 public:
  static Result<std::unique_ptr<Environment>> create();
  ~Environment();
  // `trace_folder`: empty folder for the provider's op trace when the request asks for one.
  Result<std::unique_ptr<Session>> open(const SessionRequest& request, const Path& trace_folder);

 private:
  struct Impl;
  explicit Environment(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace paritas::ort
