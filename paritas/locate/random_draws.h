// What locate withholds where random operators make it untellable (judge/random_draws.h).
#pragma once

#include "paritas/judge/random_draws.h"
#include "paritas/locate/evidence.h"

namespace paritas {

// An output that depends on a draw is not judged: what would be a verdict becomes invalid. True when it does.
// A missing output stays missing.
bool withhold_random(const onnx_model::RandomDependence* random, TensorComparison& pair);

// Takes figures that compare two draws out of nodes, outputs, decisions and the probe effect, and says so.
void withhold_random(const onnx_model::RandomDependence& random, const std::vector<onnx_model::Island>& islands,
                     const onnx_model::GraphIndex& index, LocateResult& result);

// Adds the results of random operators, seeded or not, to tensors that are to be fed from the reference.
void add_drawn(const Prepared& prepared, const std::unordered_map<std::string, Tensor>& reference,
               std::vector<std::string>& tensors);

}  // namespace paritas
