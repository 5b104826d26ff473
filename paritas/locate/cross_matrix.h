// Each half of a cut model on the reference and on the device, against the reference's uncut run.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "paritas/judge/gates.h"
#include "paritas/locate/cross_matrix_types.h"
#include "paritas/onnx/cut.h"
#include "paritas/onnx/random_operators.h"
#include "paritas/recording/sample_stream.h"
#include "paritas/runtime/runner.h"

namespace paritas {

// Judges a cell's outputs by tasks, against the reference's.
using JudgeTasks =
    std::function<Result<std::vector<CellTask>>(const NamedTensors& reference, const NamedTensors& outputs)>;

struct CrossMatrixRequest {
  const onnx_model::Model* model = nullptr;  // pinned
  const onnx_model::GraphIndex* index = nullptr;
  std::vector<onnx_model::Cut> cuts;
  NamedTensors inputs;
  Target reference, device;
  // A fresh worker of a target; `role` is its folder's name and unlike every other of this call.
  std::function<Result<Runner>(const std::string& role, const Target& target)> start;
  GateSet gates;
  const onnx_model::RandomDependence* random = nullptr;  // of `model`; null: nothing is drawn
  int threads = 1;
  uint64_t memory_budget = uint64_t{1} << 30;
  JudgeTasks judge_tasks;                            // may be empty
  std::function<void(const std::string&)> progress;  // may be empty
  // Replaces extract_halves in tests of wrong splits.
  std::function<Result<onnx_model::Halves>(const onnx_model::Model&, const onnx_model::Cut&,
                                           const std::map<std::string, onnx_model::TensorType>&,
                                           const std::map<std::string, Tensor>&)>
      extract;
};

// Fails only when the reference cannot run the uncut model; what fails later is part of the result.
Result<CrossMatrices> cross_matrices(const CrossMatrixRequest& request);

}  // namespace paritas
