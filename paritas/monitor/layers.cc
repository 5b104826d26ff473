#include "paritas/monitor/layers.h"

#include <unordered_set>

namespace paritas {
namespace {

constexpr const char* kTwinSuffix = "_DequantizeLinear_Output";  // ONNX Runtime's quantiser

}  // namespace

Result<LayerPairing> pair_layers(const LayerNames& reference, const LayerNames& device, const PairingRules& rules,
                                 const std::string& reference_subject, const std::string& device_subject) {
  std::vector<std::string> reference_names, device_names;
  std::unordered_set<std::string> on_device, outputs;
  for (const TensorInfo& t : reference.tensors) {
    reference_names.push_back(t.name);
    if (t.role == Role::kOutput) outputs.insert(t.name);
  }
  for (const TensorInfo& t : device.tensors) {
    device_names.push_back(t.name);
    on_device.insert(t.name);
  }
  PARITAS_ASSIGN(const Pairing found,
                 pair_names(reference_names, device_names, rules, reference_subject, device_subject));
  std::unordered_map<std::string, const NamePair*> by_reference;
  for (const NamePair& pair : found.pairs) by_reference[pair.reference] = &pair;
  const auto twin_of = [&](const std::string& tensor) -> std::string {
    const auto it = device.twins.find(tensor);
    return it != device.twins.end() && on_device.count(it->second) != 0 ? it->second : std::string();
  };
  // What the reference's activations stand for where the device has none: activation -> device tensor.
  std::unordered_map<std::string, LayerPair> folded;
  std::unordered_set<std::string> replaced;
  for (const auto& [input, activation] : reference.activations) {
    const auto pair = by_reference.find(input);
    if (pair == by_reference.end() || by_reference.count(activation) != 0 || outputs.count(activation) != 0) continue;
    const std::string twin = twin_of(pair->second->device);
    if (twin.empty() || device.activations.count(pair->second->device) != 0) continue;
    folded[activation] = {activation, twin, pair->second->rule + " + activation in the quantiser"};
    replaced.insert(input);
  }
  LayerPairing result;
  std::unordered_set<std::string> used;
  for (const TensorInfo& t : reference.tensors) {
    const auto pair = by_reference.find(t.name);
    LayerPair made{t.name, {}, {}};
    if (const auto it = folded.find(t.name); it != folded.end()) {
      made = it->second;
    } else if (pair != by_reference.end() && replaced.count(t.name) == 0) {
      made.device = pair->second->device;
      made.rule = pair->second->rule;
      const std::string twin = outputs.count(t.name) != 0 ? std::string() : twin_of(made.device);
      if (!twin.empty()) {
        used.insert(made.device);
        made.device = twin;
        made.rule += " + dequantised";
      }
    } else if (on_device.count(t.name + kTwinSuffix) != 0 && outputs.count(t.name) == 0 &&
               replaced.count(t.name) == 0) {
      made.device = t.name + kTwinSuffix;
      made.rule = std::string("suffix ") + kTwinSuffix;
    } else {
      result.unmatched_reference.push_back(t.name);
      continue;
    }
    used.insert(made.device);
    result.pairs.push_back(std::move(made));
  }
  for (const TensorInfo& t : device.tensors)
    if (used.count(t.name) == 0) result.unmatched_device.push_back(t.name);
  return result;
}

}  // namespace paritas
