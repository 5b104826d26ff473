// Proposes where to cut a model.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "paritas/onnx/cut.h"

namespace paritas::onnx_model {

// Bytes of a tensor; nullopt: not known, or no tensor at all (it is never cut then).
using TensorBytes = std::function<std::optional<uint64_t>(const std::string& tensor)>;

// At most `count` cuts that check_cut accepts, spread over the network: its nodes that depend on input values are
// divided into `count` equal stretches in graph order, and of each the cheapest place is taken. A place costs a unit
// for each tensor and for each doubling of the bytes; the border of a module (by node names) is worth units the higher
// it stands. Each half has at least 2 % of the nodes. No two cuts are the same set. Fewer come back where a stretch has
// no place. In graph order, named "auto-1"...
std::vector<Cut> propose_cuts(const Model& model, const GraphIndex& index, const ValueDependence& dependence, int count,
                              const TensorBytes& bytes);

}  // namespace paritas::onnx_model
