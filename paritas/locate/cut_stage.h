// The cross matrix as a stage of locate: cuts are chosen and checked before anything runs for long. Internal to locate.
#pragma once

#include "paritas/locate/locate.h"

namespace paritas {

class CutStage {
 public:
  // `model` is pinned and must outlive the stage. Starts a worker only when cuts are to be proposed.
  static Result<CutStage> plan(const LocateRequest& request, const onnx_model::Model& model);
  // Its findings are not yet those of the whole result.
  Result<CrossMatrices> run(const LocateRequest& request) const;
  // Rows of the uncut model on the device; empty when it could not be run.
  std::vector<OutputRow> outputs(const CrossMatrices& matrices) const;

 private:
  explicit CutStage(const onnx_model::Model& model, onnx_model::GraphIndex index)
      : model_(&model), index_(std::move(index)) {}
  const onnx_model::Model* model_;
  onnx_model::GraphIndex index_;
  onnx_model::ValueDependence dependence_;
  std::string model_sha256_;
  ChosenCuts chosen_;
};

}  // namespace paritas
