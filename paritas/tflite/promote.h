// Makes intermediate tensors outputs of the main graph, so that any runtime hands them out.
#pragma once

#include <vector>

#include "paritas/tflite/model.h"

namespace paritas::tflite {

// Tensors of the main graph that can be promoted: made by an operator, of a type that we handle, no variable, and no
// output already. In the order of the operators that make them.
std::vector<int> promotable(const Model& model);

// Writes the model to `to` with `tensors` as further outputs behind its own. The file is copied as it is, weights
// included; the new list of outputs stands at its end, and two offsets point there (the graph's outputs, and the
// signatures, which become none, because they would no longer fit the graph).
Status promote(const Model& model, const std::vector<int>& tensors, const Path& to);

}  // namespace paritas::tflite
