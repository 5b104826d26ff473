// Inputs of many samples, asked for one by one: nothing of a sample is held when the next is read.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "paritas/onnx/model.h"
#include "paritas/recording/sample_range.h"
#include "paritas/recording/sample_stream.h"

namespace paritas {

class SampleSource {
 public:
  virtual ~SampleSource() = default;
  virtual uint64_t count() const = 0;
  virtual std::string id(uint64_t index) const = 0;  // "sample-000000"
  virtual Result<NamedTensors> inputs(uint64_t index) = 0;
};

// Samples that were given one by one (files that stay where they are).
std::unique_ptr<SampleSource> given_samples(std::vector<NamedTensors> samples, const SampleRange& range = {});

// The inputs of `model` that stand in a recording or a folder of test data; `shared` holds further ones that are the
// same for every sample. An input that is in both is refused.
Result<std::unique_ptr<SampleSource>> recorded_samples(std::unique_ptr<SampleStream> stream,
                                                       const onnx_model::Model& model, NamedTensors shared,
                                                       const SampleRange& range = {});

// SHA-256 over names, types, shapes and values.
Result<std::string> sha256_of_inputs(const NamedTensors& inputs);

}  // namespace paritas
