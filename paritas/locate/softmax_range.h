// What a format does to the operand of a Softmax as far as the Softmax's result is concerned: masked values may be lost
// without harm, and they may ruin the scale of all others.
#pragma once

#include <functional>
#include <optional>

#include <paritas_onnx_proto/onnx-ml.pb.h>

#include "paritas/tensor/tensor.h"

namespace paritas {

struct SoftmaxLoss {
  // Largest magnitude of operands with weight: exp(x - max) is 1e-7 (about float32's epsilon) or more.
  double weighted_max_abs = 0;
  // Of the result, computed in double from stored operands: sum (r~ - r)^2 / sum r^2 over what stays finite, and how
  // many results are not finite any more.
  double result_loss = 0;
  uint64_t result_nonfinite = 0;
};

// Softmax and LogSoftmax of ONNX. `opset`: of the node's domain. `store` gives what becomes of a finite value. nullopt
// for other operators and axes that the tensor does not have.
Result<std::optional<SoftmaxLoss>> softmax_loss(const ::onnx::NodeProto& node, int64_t opset, const Tensor& operand,
                                                const std::function<double(double)>& store);

}  // namespace paritas
