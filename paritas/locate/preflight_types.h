// What the range preflight finds, as plain data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paritas/judge/finding.h"
#include "paritas/locate/hidden.h"
#include "paritas/locate/softmax_range.h"
#include "paritas/recording/provenance.h"

namespace paritas {

// One float tensor over all samples, held against the format. Counts are sums over the samples.
struct RangeRow {
  std::string node;  // that makes it; empty: an input of the model
  std::string op;
  std::string tensor;
  DType dtype = DType::kF32;
  Shape shape;             // in the first sample
  uint64_t elements = 0;   // of all samples
  uint64_t nonfinite = 0;  // NaN and infinities of the reference itself
  uint64_t zeros = 0;
  double max_abs = 0;  // largest finite magnitude, unit of the tensor
  uint64_t max_sample = 0;
  double factor = 0;                    // max_abs / largest finite value of the format; int8: 1, the scale follows it
  std::optional<double> headroom_bits;  // log2(1 / factor), negative beyond the format; absent for zeros and for int8
  uint64_t overflowed = 0;              // finite values beyond the format's largest after rounding
  uint64_t subnormal = 0;  // nonzero magnitudes below the smallest normal value (int8: below half a step, so zero)
  uint64_t flushed = 0;    // of these, what becomes zero
  // Energy of the rounding errors of `subnormal` / energy of the tensor, in the sample where it is largest.
  double lost_energy = 0;
  uint64_t lost_sample = 0;
  uint64_t overflowed_up = 0;  // of `overflowed`, positive ones
  bool output = false;         // of the model
  bool violates = false;       // part of a finding
};

// What a format does to the operand of a Softmax, as its result shows. Those of the worst sample.
struct SoftmaxRow {
  std::string node;
  std::string op;
  std::string operand;  // tensor
  std::string tensor;   // the result
  // fp16, bf16: only values that overflow are replaced (by infinities), all others are exact; int8: all are rounded.
  SoftmaxLoss loss;
};

// A value inside a composite operator; see hidden.h. Counts are sums, largest values and losses those of the worst
// sample.
struct HiddenRow {
  std::string node;
  std::string op;
  std::string tensor;  // the operator's result
  HiddenFigures figures;
  double factor = 0;  // largest magnitude / largest finite value of the format
  bool violates = false;
};

// A float constant with values that the format cannot hold, or that are infinite to begin with.
struct ConstantRow {
  std::string constant;
  std::vector<std::string> nodes;  // that read it
  uint64_t elements = 0;
  uint64_t nonfinite = 0;
  double max_abs = 0;  // of finite values
  uint64_t overflowed = 0;
  uint64_t subnormal = 0, flushed = 0;
  double lost_energy = 0;
};

struct PreflightResult {
  std::string model, reference;
  RunInfo reference_info;
  DType format = DType::kF16;
  std::optional<double> limit;       // largest finite value; absent for int8
  std::optional<double> min_normal;  // absent for int8
  uint64_t samples = 0;
  std::vector<std::string> pinned;
  std::vector<RangeRow> tensors;  // inputs, then graph order
  std::vector<HiddenRow> hidden;  // graph order
  std::vector<ConstantRow> constants;
  std::vector<SoftmaxRow> softmax;  // graph order; fp16, bf16: only those whose operand overflows
  std::vector<Finding> findings;    // faults in graph order, then notes
  std::vector<std::string> notes;
  double seconds = 0;
};

}  // namespace paritas
