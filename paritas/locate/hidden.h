// Values that composite operators form inside and never hand out: the mean square of a normalisation, the exponentials
// of a Softmax. Computed in double from the recorded inputs, by the operator's definition.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <paritas_onnx_proto/onnx-ml.pb.h>

#include "paritas/tensor/tensor.h"

namespace paritas {

struct HiddenFigures {
  std::string what;         // "mean square", "exp(x - max)"
  uint64_t values = 0;      // finite ones; the others come from inputs that are not finite
  double max_abs = 0;       // largest of them
  uint64_t overflowed = 0;  // beyond the format's largest after rounding
  uint64_t subnormal = 0;   // nonzero and below the format's smallest normal value
  uint64_t flushed = 0;     // of these, rounded to zero
  // Of the operator's result (normalisations: before scale and bias), when this value alone is kept in the format and
  // all else is exact: sum (r~ - r)^2 / sum r^2 over what stays finite, and how many results are not finite any more.
  double result_loss = 0;
  uint64_t result_nonfinite = 0;
};

// What `node` forms inside from these inputs (a nullptr stands for an input that is left out or not known); empty for
// operators that have no such value, or a form that is not looked into. `opset` is that of the operator's domain.
Result<std::vector<HiddenFigures>> hidden_values(const ::onnx::NodeProto& node, int64_t opset,
                                                 const std::vector<const Tensor*>& inputs, DType format);

// Operators that hidden_values() looks into.
bool has_hidden_values(const ::onnx::NodeProto& node);

}  // namespace paritas
