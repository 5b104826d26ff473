// Sensitivity: what one island's device error, injected alone into the reference run, does to the final outputs. Found by
// group testing: the errors (local result minus reference) of many islands are added at once, and only groups that move the
// outputs materially are taken apart. A few dozen runs of one session find the culprits among thousands of nodes.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "paritas/locate/prepare.h"

namespace paritas {

struct InjectionRequest {
  const onnx_model::Model* model = nullptr;                               // folded, decisions fed if they are to be
  NamedTensors inputs;                                                    // all graph inputs of `model`
  std::vector<std::string> tensors;                                       // candidates, graph order
  const std::unordered_map<std::string, Tensor>* reference = nullptr;
  const std::unordered_map<std::string, Tensor>* local = nullptr;         // the device's local results
  std::vector<std::string> outputs;                                       // float outputs that deviate
  std::unordered_map<std::string, double> observed_nmse;                  // per output: the device's deviation (inf: NaN/Inf)
  std::vector<std::string> first;                                         // candidates to test alone before any group
  double seconds = 2.0;                                                   // budget
};

// An effect is material when it explains at least this share of an output's observed deviation.
inline constexpr double kMaterialShare = 0.1;

struct Sensitivities {
  // Tensors injected alone: largest NMSE over the outputs (inf when they became NaN or infinite), and the share of the
  // observed deviation that this is.
  struct Effect {
    double nmse = 0;
    double share = 0;
    bool material() const { return share >= kMaterialShare; }
  };
  std::unordered_map<std::string, Effect> alone;
  double all_share = 0;      // all local errors together
  bool complete = true;      // false: the budget ran out before every material group was taken apart
  int runs = 0;
  double seconds = 0;
};

Result<Sensitivities> measure_sensitivity(Runner& reference, const InjectionRequest& request);

}  // namespace paritas
