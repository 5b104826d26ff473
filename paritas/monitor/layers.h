// Which tensor of the device stands for which layer of the reference.
#pragma once

#include "paritas/compare/pairing.h"
#include "paritas/monitor/side.h"

namespace paritas {

struct LayerPair {
  std::string reference, device;
  std::string rule;  // compare's rules, with " + dequantised" or " + activation in the quantiser" behind
};

struct LayerPairing {
  std::vector<LayerPair> pairs;  // the reference's order
  std::vector<std::string> unmatched_reference, unmatched_device;
};

// What one side has to say about its graph, for tests without a runtime.
struct LayerNames {
  std::vector<TensorInfo> tensors;
  std::unordered_map<std::string, std::string> twins, activations;
};

// Outputs pair by name alone. An intermediate whose device tensor is quantised pairs with the dequantised twin, which
// is what later layers read. Where the device has no Clip or Relu of its own because the quantiser behind cuts as it
// does, the reference's activation stands for the layer, not its input, which has no counterpart.
Result<LayerPairing> pair_layers(const LayerNames& reference, const LayerNames& device, const PairingRules& rules,
                                 const std::string& reference_subject, const std::string& device_subject);

}  // namespace paritas
