// The two recordings, value by value. Internal to this folder.
#pragma once

#include <map>
#include <memory>

#include "paritas/compare/pairing.h"
#include "paritas/explain/network.h"
#include "paritas/explain/types.h"
#include "paritas/explain/value_figures.h"
#include "paritas/recording/sample_stream.h"

namespace paritas {

struct Sides {
  std::unique_ptr<SampleStream> reference, device;  // nullptr: not given
  bool same_model = false;
  uint64_t samples = 0;
  // Per value of the network: the reference's tensor and the rule, or nothing.
  std::vector<std::optional<NamePair>> pairs;
};

// `float_sha256`: of the float model, empty when not given. Errors: recordings of other models; sample counts.
Result<Sides> open_sides(const std::optional<Path>& reference, const std::optional<Path>& device,
                         const Network& network, const std::string& model_sha256, const std::string& float_sha256,
                         const PairingRules& names);

// One quantiser for the whole tensor, of at most 16 bits; nullopt: none, or another kind.
std::optional<TensorQuantiser> tensor_quantiser(const NetworkValue& value);

// Real values of a value in a sample; nullopt: not recorded.
Result<std::optional<RealTensor>> device_tensor(const NetworkValue& value, const NamedTensors& sample);
Result<std::optional<RealTensor>> reference_tensor(const Sides& sides, size_t index, const NetworkValue& value,
                                                   const NamedTensors& sample);

}  // namespace paritas
