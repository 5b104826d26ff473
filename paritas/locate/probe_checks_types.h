// Local probes in depth: what the bare error of an island does not tell. Plain data; units are the tensor's own where
// nothing else is said.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace paritas {

// The parts of one local error. x: reference inputs, r(x): rounded to the storage type, f: the reference's operator,
// f~: the device's. Only where the device's storage type is known and can hold the result.
struct ProbeFigures {
  std::string node, op, tensor, island;
  double max_abs = 0, mean_abs = 0, rms = 0;   // f~(x) - f(x)
  double storage_max = 0, storage_rms = 0;     // r(f(x)) - f(x)
  std::optional<double> input_max, input_rms;  // f(r(x)) - f(x)
  std::optional<double> kernel_max;            // max |f~(x) - f(r(x))|: the result's own rounding still in it
  std::optional<double> kernel_rms;            // sqrt(rms^2 - storage rms^2) of the same, 0 where that is negative
  std::optional<double> remainder;  // max_abs - storage_max - input_max, at least 0: by the triangle inequality
                                    // at least this much of max_abs comes from neither
  bool representable = true;
};

// Largest and mean |sum - 1| over the rows of a Softmax.
struct SumError {
  double max = 0, mean = 0;
};

struct SoftmaxCheck {
  std::string node, tensor, island;  // of the last node
  bool decomposed = false;           // Exp, ReduceSum, Div
  bool whole = true;                 // the island holds all of its nodes; false: the check sees the last one alone
  std::vector<int> axes;             // that sum to 1
  uint64_t rows = 0;
  uint64_t broken_rows = 0;  // with NaN or infinities on the device; not in `device`
  SumError device, reference;
  std::optional<SumError> storage;  // the reference's result rounded to the storage type
};

// How far a statistic or a result is off, relative to its own size.
struct RelativeError {
  double max = 0;  // max |d| / |x| over the elements with x != 0
  double rms = 0;  // |d| / |x| as norms
  uint64_t device_only = 0;
};

struct NormStep {
  std::string role;  // square, mean (the statistic), biased, root, result
  std::string node, op, tensor;
  std::optional<RelativeError> local;  // absent: not probed
  std::optional<double> accumulated;   // sqrt(NMSE) of the marked run, with the reference's decisions where fed
  bool representable = true;
};

// What of a result's error a wrong statistic explains. Each row of the device's result is fitted by a * reference + b
// (least squares; b only where the mean is taken off): a - 1 is the relative error of the reciprocal root, b that of
// the mean in units of the deviation.
struct ImpliedStatistic {
  double scale_max = 0, scale_rms = 0;  // |a - 1|
  double shift_max = 0;                 // |b|
  double result_rms = 0;                // |device - reference| / |reference|
  double rest_rms = 0;                  // |device - fit| / |reference|: what no statistic explains
  uint64_t rows = 0, broken_rows = 0;
};

struct NormCheck {
  std::string kind;  // LayerNormalization, RMSNormalization
  std::string node, tensor, island;
  bool decomposed = false;
  bool whole = true;
  std::vector<NormStep> steps;              // those that are tensors of the graph
  std::optional<ImpliedStatistic> implied;  // absent: not probed
};

// MatMul, Gemm and Conv.
struct SumCheck {
  std::string node, op, tensor, island;
  uint64_t terms = 0;  // K: products in one sum
  double left_rms = 0, right_rms = 0;
  double operand_rms = 0;            // estimate: both operands rounded to the storage type
  double accumulation_rms = 0;       // estimate: every partial sum rounded to the storage type, one after the other
  std::optional<double> kernel_rms;  // measured, see ProbeFigures
};

// Local errors by module path, as node names spell it: "/dec/layers.0" for /dec/layers.0/n3/Pow.
struct BlockFigures {
  std::string path;
  int depth = 1;         // of the path
  uint64_t tensors = 0;  // float tensors
  uint64_t probed = 0;
  uint64_t device_only = 0;  // tensors with NaN or infinities on the device alone
  double nmse_sum = 0;       // of the local errors; tensors with device_only left out
  double nmse_max = 0;
  double x_storage_max = 0;    // local max error / storage baseline; 0: none
  std::string worst;           // node with nmse_max, or the first with device_only
  double accumulated_out = 0;  // largest accumulated NMSE of what leaves the block; inf with device_only
};

struct ProbeChecks {
  std::string islands;  // "fused", "nodes", "blocks", "patterns", or the pattern
  std::vector<ProbeFigures> probes;
  std::vector<BlockFigures> blocks;
  std::vector<SoftmaxCheck> softmax;
  std::vector<NormCheck> norms;
  std::vector<SumCheck> sums;
  int sessions = 0;         // device sessions that all probes took
  double seconds = 0;       // of these, opening and running
  uint64_t not_probed = 0;  // Softmax, normalisations and sums whose result no probe hands out
};

}  // namespace paritas
