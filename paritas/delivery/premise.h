// The premise of a package: the parts, all on the reference, compute what the whole model computes there.
#pragma once

#include <functional>

#include "paritas/delivery/parts.h"
#include "paritas/recording/sample_stream.h"
#include "paritas/runtime/runner.h"

namespace paritas {

struct PremiseRequest {
  const onnx_model::Model* whole = nullptr;  // with the boundary tensors' names
  const std::vector<ModelPart>* parts = nullptr;
  SampleStream* reference = nullptr;  // the whole's run, boundary tensors included
  Target target;                      // the reference's
  WorkerOptions worker;
  Path scratch;
  std::function<void(const std::string& stage)> progress;
};

struct Premise {
  bool holds = false;
  std::string text;  // "on 9 samples equal bit for bit", "equal only with optimisation off: ...", or why not
};

// Bit by bit on every sample. Where it fails: with optimisation off (the optimiser moved it), and the whole against
// itself (it does not repeat). Errors: the reference cannot run the parts.
Result<Premise> check_premise(const PremiseRequest& request);

}  // namespace paritas
