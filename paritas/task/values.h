// Elements of an output as real numbers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paritas/recording/sample_stream.h"

namespace paritas {

struct RealValues {
  Shape shape;
  std::vector<double> values;
  double step = 0;  // of the quantisation (the largest of its scales); 0 for floats
};

// Floats are widened; integers are dequantised by the recording's quantisation, else by `declared`. Errors: bool, an
// integer tensor without any quantisation, a quantisation that does not fit the shape. `subject` names tensor and side.
Result<RealValues> real_values(const Tensor& tensor, const TensorInfo* info,
                               const std::optional<Quantisation>& declared, const std::string& subject);

// Whole numbers, stored as integers or as floats (some exports write class ids as floats). A float that is not whole
// or not finite becomes nullopt.
Result<std::vector<std::optional<int64_t>>> whole_values(const Tensor& tensor, const std::string& subject);

const Tensor* find_tensor(const NamedTensors& tensors, const std::string& name);

// "it has scores, boxes": for the error about an output that is not there.
std::string list_names(const NamedTensors& tensors);

}  // namespace paritas
