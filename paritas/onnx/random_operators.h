// Operators that draw random numbers, and the tensors that depend on what they draw. Known from the graph alone: two
// runs that happen to agree prove nothing about them.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "paritas/onnx/graph_index.h"

namespace paritas::onnx_model {

struct RandomOperator {
  std::string node;    // of the main graph, as in the index
  std::string op;      // "RandomNormalLike"; in a body or function too
  std::string inside;  // operator of the main graph whose body or function holds it; empty: it is `node` itself
  bool seeded = false;
};

struct RandomDependence {
  std::vector<RandomOperator> operators;                     // those that draw, graph order
  std::unordered_map<std::string, std::vector<int>> behind;  // tensor -> indices into `operators`, ascending
  std::vector<std::string> drawn;                            // outputs of the nodes that draw (or hold what draws)

  bool any() const { return !operators.empty(); }
  bool depends(const std::string& tensor) const { return behind.count(tensor) != 0; }
  // Empty when `tensor` does not depend on any.
  std::vector<RandomOperator> operators_behind(const std::string& tensor) const;
};

// RandomNormal, RandomUniform, their Like forms, Multinomial, Bernoulli, Dropout whose training_mode may be true, and
// ONNX Runtime's Sampling, BiasDropout and BitmaskDropout; in bodies of If, Loop and Scan and in functions, too.
//
// `seeds_repeat`: operators with a `seed` attribute are left out. ONNX Runtime's CPU kernels draw by it alone, whatever
// else the graph holds: the first run of a session equals the first run of any other session, of any half of the model,
// in any process (a second run goes on with the sequence). Providers other than the CPU's promise nothing of the kind.
RandomDependence random_dependence(const Model& model, const GraphIndex& index, bool seeds_repeat);

}  // namespace paritas::onnx_model
