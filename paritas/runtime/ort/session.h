// Sessions of ONNX Runtime, inside the worker process.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "paritas/runtime/backend.h"

namespace paritas::ort {

class Session : public BackendSession {
 public:
  ~Session() override;
  const SessionInfo& info() const override;
  // Each output is freed when it was written. Inputs are used where they lie when they are aligned for their type.
  // Steps are refused: a state goes through inputs and outputs of its own here.
  Result<Ran> run(const Order& order, const Path& file) override;

 private:
  friend class Environment;
  friend class Chain;  // chain.h
  struct Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// ONNX Runtime's environment with the provider libraries registered so far. Make one a process.
class Environment : public Backend {
 public:
  static Result<std::unique_ptr<Environment>> create(const Path& library);
  ~Environment() override;
  std::string version() const override;
  Path path() const override;
  Result<std::unique_ptr<BackendSession>> open(const SessionRequest& request, const Path& trace_folder) override;

 private:
  struct Impl;
  explicit Environment(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace paritas::ort
