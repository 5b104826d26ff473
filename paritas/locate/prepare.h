// The model as locate works on it: free dimensions pinned, and everything that does not depend on input values
// evaluated once on the reference and turned into constants.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "paritas/onnx/edit.h"
#include "paritas/runtime/inputs.h"
#include "paritas/runtime/runner.h"

namespace paritas {

struct Prepared {
  onnx_model::Model folded;                         // pinned, constants folded
  onnx_model::GraphIndex index;                     // of `folded`
  onnx_model::ValueDependence dependence;           // of `folded`
  std::unordered_map<std::string, Tensor> outputs;  // of the model as given (pinned), on the reference
  std::vector<std::string> notes;
};

// `model` is pinned already. Runs it once on the reference, with the constants that are to be folded marked.
Result<Prepared> prepare(const onnx_model::Model& model, const NamedTensors& inputs, Runner& reference);

}  // namespace paritas
