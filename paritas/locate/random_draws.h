// What random operators make untellable: a difference between two runs may be the draw, and so may an agreement. Known
// from the graph, not from what two runs happen to give.
#pragma once

#include "paritas/locate/evidence.h"
#include "paritas/onnx/random_operators.h"
#include "paritas/runtime/target.h"

namespace paritas {

// Random operators whose draws may differ between runs on the two targets. `first_runs`: of every session only the
// first run is compared; only then, and only on the CPU, is a seed enough (random_operators.h).
onnx_model::RandomDependence random_draws(const onnx_model::Model& model, const onnx_model::GraphIndex& index,
                                          const Target& reference, const Target& device, bool first_runs);

// Why nothing can be told about a tensor: "cannot tell: depends on ...". Empty: it depends on no draw. `random` may be
// null.
std::string cannot_tell(const onnx_model::RandomDependence* random, const std::string& tensor);

// An output that depends on a draw is not judged: what would be a verdict becomes invalid. True when it does.
// A missing output stays missing.
bool withhold_random(const onnx_model::RandomDependence* random, TensorComparison& pair);

// Takes figures that compare two draws out of nodes, outputs, decisions and the probe effect, and says so.
void withhold_random(const onnx_model::RandomDependence& random, const std::vector<onnx_model::Island>& islands,
                     const onnx_model::GraphIndex& index, LocateResult& result);

// Adds the results of random operators, seeded or not, to tensors that are to be fed from the reference.
void add_drawn(const Prepared& prepared, const std::unordered_map<std::string, Tensor>& reference,
               std::vector<std::string>& tensors);

// The note for outputs that depend on a draw; nullopt: none does.
std::optional<Finding> random_finding(const onnx_model::RandomDependence& random,
                                      const std::vector<std::string>& outputs);

}  // namespace paritas
