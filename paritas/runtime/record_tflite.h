// `paritas run` of a TFLite model.
#pragma once

#include "paritas/runtime/record.h"
#include "paritas/tflite/model.h"

namespace paritas {

Result<RunInfo> record_tflite(const RecordRequest& request);

// Every input is there once, by its tensor's name or by that of a signature, in the type and a shape that the model
// takes.
Status check_inputs(const tflite::Model& model, const NamedTensors& inputs);

// What a recording says of the tensors of a TFLite model: "17:CONV_2D" as node, quantisation as in the file.
TensorInfo describe_tensor(const tflite::Model& model, int tensor, Role role);

}  // namespace paritas
