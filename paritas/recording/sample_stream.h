// One interface for everything that yields samples of tensors: a recording on disk, a loose file, a live run.
// Comparison code never knows which it has.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "paritas/recording/provenance.h"
#include "paritas/tensor/tensor.h"

namespace paritas {

// Tensors with their names, in an order that matters to whoever made the list.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

struct Sample {
  std::string id;        // "sample-000000"
  NamedTensors tensors;  // in the order of RunInfo::tensors where known
};

class SampleStream {
 public:
  virtual ~SampleStream() = default;
  virtual const RunInfo& info() const = 0;
  virtual const std::string& subject() const = 0;  // for messages: the path, or the target
  virtual uint64_t sample_count() const = 0;
  // Below sample_count(), in any order and as often as wanted. Tensors may stay in files.
  virtual Result<Sample> sample(uint64_t index) = 0;
};

}  // namespace paritas
