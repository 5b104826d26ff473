// What a model of either format shows to a project: names, and what it can be fed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paritas/recording/sample_stream.h"

namespace paritas {

struct NamedPort {
  std::string name;
  std::optional<DType> dtype;
};

struct ModelNames {
  bool tflite = false;
  std::vector<NamedPort> inputs, outputs;
  std::vector<std::string> nodes;    // TFLite: "17:CONV_2D"
  std::vector<std::string> tensors;  // all that nodes make, outputs too
};

Result<ModelNames> names_of_model(const Path& model);

// The inputs are those of the model, in type and shape.
Status check_fed_inputs(const Path& model, const NamedTensors& inputs);

}  // namespace paritas
