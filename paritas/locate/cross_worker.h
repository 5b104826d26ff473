// Workers of the cross matrix, and models that run in them. Internal to locate.
#pragma once

#include "paritas/locate/cross_matrix.h"

namespace paritas {

// The graph inputs of `model` out of what is known.
Result<NamedTensors> inputs_of(const onnx_model::Model& model, const NamedTensors& known, const NamedTensors& more);

struct CrossRun {
  NamedTensors outputs;
  SessionInfo session;
};

// A worker that is started when it is needed, and anew after a failure: what crashed once must not take the rest.
class CrossWorker {
 public:
  CrossWorker(const CrossMatrixRequest& request, std::string role, Target target)
      : request_(request), role_(std::move(role)), target_(std::move(target)) {}

  uint64_t sessions() const { return sessions_; }
  const RuntimeIdentity& identity() const { return identity_; }

  Result<Runner*> runner();
  // `runs`: how often the session runs; what the last run gave is returned. Random operators begin anew with a session.
  Result<CrossRun> run(const onnx_model::Model& model, const NamedTensors& inputs, int runs = 1);
  // Every tensor that depends on input values, and the outputs.
  Result<std::unordered_map<std::string, Tensor>> all_tensors(const onnx_model::Model& model,
                                                              const NamedTensors& inputs);

 private:
  Result<CrossRun> attempt(const onnx_model::Model& model, const NamedTensors& inputs, int runs);

  const CrossMatrixRequest& request_;
  const std::string role_;
  Target target_;
  std::optional<Runner> runner_;
  RuntimeIdentity identity_;
  int starts_ = 0;
  uint64_t sessions_ = 0;
};

// Front half's results by name: what it hands over and the outputs that it makes itself.
struct Composed {
  NamedTensors front;
  NamedTensors outputs;  // of the whole
};

// The whole's outputs out of what the halves made.
NamedTensors outputs_from(const CrossMatrixRequest& request, const NamedTensors& front, const NamedTensors& rear);
// Both halves, one behind the other.
Result<Composed> compose_on(const CrossMatrixRequest& request, CrossWorker& worker, const onnx_model::Halves& halves);

}  // namespace paritas
