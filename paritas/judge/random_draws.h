// What random operators make untellable: a difference between two runs may be the draw, and so may an agreement. Known
// from the graph, not from what two runs happen to give.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paritas/judge/finding.h"
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

// The note for outputs that depend on a draw; nullopt: none does.
std::optional<Finding> random_finding(const onnx_model::RandomDependence& random,
                                      const std::vector<std::string>& outputs);

}  // namespace paritas
