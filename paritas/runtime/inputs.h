// What a model is fed: checks against its declared inputs, and pinning of free dimensions.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "paritas/onnx/edit.h"
#include "paritas/recording/sample_stream.h"

namespace paritas {

// Checks names, element types, rank and fixed dimensions of the given inputs against the model. The message lists what
// the model has: input "image" is not in model.onnx; it has "images" float32 [1,3,160,160].
Status check_inputs(const onnx_model::Model& model, const NamedTensors& inputs);

// Pins every free dimension to the shapes of the given inputs. `dims` (NAME=N) must name free dimensions of the model
// and agree with the inputs. `pinned` receives what was pinned, as "batch=1".
Result<onnx_model::Model> pin_to_inputs(const onnx_model::Model& model, const NamedTensors& inputs,
                                        const std::map<std::string, int64_t>& dims, std::vector<std::string>* pinned);

}  // namespace paritas
