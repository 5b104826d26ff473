// One operator in pieces: where on its input axis does a device's activation function err or saturate?
#pragma once

#include <string>
#include <vector>

#include "paritas/locate/locate.h"
#include "paritas/locate/pieces_types.h"
#include "paritas/locate/prepare.h"

namespace paritas {

// The sweep's inputs: evenly from -kSweepReach to kSweepReach, at most kSweepInputs different ones.
inline constexpr double kSweepReach = 20;
inline constexpr uint64_t kSweepInputs = 8001;

// Of a larger input tensor only every k-th element is looked at: values are held as double, and sorted.
inline constexpr uint64_t kMaxInputs = uint64_t{1} << 22;

struct PiecesRequest {
  LocateRequest base;  // gates, search and cuts are not used
  std::string op;      // only this operator type; empty: all. "Erf" means the Erf nodes inside of GELUs, too
  std::string node;    // only these nodes: name, suffix that fits one only, or a pattern with * and ?; empty: all
  bool sweep = false;  // synthetic inputs, too
};

Result<PiecesResult> pieces(const PiecesRequest& request);

// A GELU that stands in the graph as Div or Mul by sqrt 2, Erf, Add 1, Mul by x, Mul by 0.5, in any order of the Muls.
struct DecomposedGelu {
  std::string input;
  std::vector<int> nodes;  // indices into the index, ascending
};
Result<std::vector<DecomposedGelu>> find_decomposed_gelus(const Prepared& prepared);

// Findings of one row; part of pieces().
std::vector<Finding> explain_piece(const PieceRow& row, const std::string& device, std::optional<DType> storage);

}  // namespace paritas
