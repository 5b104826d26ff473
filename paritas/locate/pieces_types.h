// What `pieces` finds out about single functions, as plain data.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "paritas/judge/finding.h"
#include "paritas/locate/curve.h"
#include "paritas/recording/provenance.h"

namespace paritas {

struct PieceRow {
  std::string node;                // a GELU in parts: its last node
  std::string op;                  // "Sigmoid"; "Gelu" also where it stands in parts
  std::vector<std::string> parts;  // nodes of such a GELU, graph order; else empty
  std::string input, output;       // tensors
  bool synthetic = false;          // inputs of the sweep, not the model's own
  uint64_t stride = 1;             // every stride-th input was looked at
  uint64_t count = 0;              // of these, inputs that are finite
  double x_min = 0, x_max = 0;     // of these
  std::string not_probed;          // reason; nothing below is filled then
  std::string ran_on;              // provider; empty: not known
  std::vector<CurveInterval> intervals;
  std::array<CurveSide, 2> sides;  // left, right
  std::string declared_form;       // GELU: what the model says, "exact" or "tanh"
  std::optional<GeluForm> reference_form, device_form;
};

struct PiecesResult {
  std::string model, reference, device;
  RunInfo reference_info;
  std::optional<DType> storage;  // type in which the device keeps values; absent: not known
  std::vector<PieceRow> rows;    // graph order, real inputs first
  std::vector<Finding> findings;
  std::vector<std::string> notes;
  double seconds = 0;
};

}  // namespace paritas
