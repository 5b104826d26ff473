// Parts of a model that run one after the other, each in a process of its own, tied together by tensor names.
#pragma once

#include <string>
#include <vector>

#include "paritas/package/package.h"
#include "paritas/recording/sample_stream.h"
#include "paritas/runtime/runner.h"

namespace paritas {

struct Stage {
  std::string name;
  Target target;
  Path file;                                 // opened as it lies there,
  const onnx_model::Model* model = nullptr;  // unless a model is given, which must outlive the chain
  std::vector<PackagePort> inputs, outputs;
};

class Chain {
 public:
  // Opens every stage in `scratch`/<its name>. A session whose inputs or outputs are not those of its stage, by name,
  // type and fixed dimensions, is refused; their order does not matter.
  static Result<Chain> open(std::vector<Stage> stages, const WorkerOptions& worker, const Path& scratch);

  size_t size() const { return opened_.size(); }
  const Stage& stage(size_t i) const { return opened_[i].stage; }
  const SessionInfo& session(size_t i) const { return opened_[i].session.info(); }
  RuntimeIdentity identity(size_t i) { return opened_[i].runner.worker().identity(); }
  PlacementCounts placement(size_t i) const;

  // What the stage makes, by names of the package, of the `tensors` that it reads (others are ignored).
  Result<NamedTensors> run_stage(size_t i, const NamedTensors& tensors);
  // What all stages make, one after the other.
  Result<NamedTensors> run(const NamedTensors& inputs);

 private:
  struct Opened {
    Stage stage;
    Runner runner;
    Session session;  // goes before its runner
  };
  std::vector<Opened> opened_;
};

// Every target but `cpu` stands for a device; its parts are opened without fallback to the CPU wherever the provider
// can be told.
bool is_for_device(const TargetSpec& spec);
Target without_fallback(Target target);

// The parts of a package on this machine: their targets resolved, device parts without fallback to the CPU wherever the
// provider can be told.
Result<std::vector<Stage>> stages_of(const Package& package, const RuntimeSearch& search);

// "is not among them" of names, for both directions. Empty: the session has exactly these ports.
std::string port_difference(const std::vector<PackagePort>& expected, const std::vector<PortInfo>& found);

}  // namespace paritas
