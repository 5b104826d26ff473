// Constants that the device's storage type cannot hold. They are charged to the nodes that read them.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "paritas/locate/prepare.h"
#include "paritas/metrics/pair_metrics.h"

namespace paritas {

// Initialisers, and the values of Constant nodes (some exporters write every weight as one), by tensor name.
std::vector<std::pair<std::string, const ::onnx::TensorProto*>> constants_of(const ::onnx::GraphProto& graph);

// Float initialisers of the folded model with a loss of range (overflow, energy lost, or values flushed to zero), by
// name.
Result<std::unordered_map<std::string, StorageBaseline>> constants_out_of_range(const Prepared& prepared, DType storage,
                                                                                int threads);

}  // namespace paritas
