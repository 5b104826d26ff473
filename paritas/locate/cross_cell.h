// Figures and outcome of one cell of the cross matrix. Internal to locate.
#pragma once

#include "paritas/locate/cross_matrix.h"

namespace paritas {

struct CellJudge {
  const GateSet& gates;
  const onnx_model::GraphIndex& index;
  std::optional<DType> storage;
  int threads = 1;
  JudgeTasks judge_tasks;
  const onnx_model::RandomDependence* random = nullptr;  // null: none

  // Compares `outputs` with the reference's and fills everything of the cell but which one it is.
  Status fill(MatrixCell& cell, const NamedTensors& reference, const NamedTensors& outputs) const;
};

// An operator that decides (TopK, comparisons and the like) lies between the graph inputs and `output`.
bool is_behind_decision(const onnx_model::GraphIndex& index, const std::string& output);

// "device/reference": front half, rear half.
std::string cell_name(const MatrixCell& cell);

// What the three cells with the device say together.
Finding finding_of(const catalogue::CutFacts& facts, catalogue::CellOutcome front, catalogue::CellOutcome rear,
                   catalogue::CellOutcome both);

}  // namespace paritas
