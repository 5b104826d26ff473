// How near a decision was: what separates the reference's picks from the device's, in the reference's own scores,
// beside the errors of those scores.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "paritas/locate/evidence.h"
#include "paritas/locate/types.h"

namespace paritas {

// Fills tie, gathers and outputs of each decision.
Status describe_decisions(const Evidence& evidence, const std::vector<NodeRow>& rows, std::optional<DType> storage,
                          std::vector<DecisionReport>& decisions);

// Pure parts. Indices are decision tensors of the reference and the device.

// `picks` of the scores along `axis`, the reference's and the device's (TopK, ArgMax, ArgMin), each of equal shape.
// `ordered`: positions count, not the set alone.
Result<DecisionTie> tie_of_picks(const Tensor& scores, int64_t axis, bool largest, bool ordered,
                                 const Tensor& reference, const Tensor& device);
// Greater, Less and the like: left and right broadcast to the shape of the decision.
Result<DecisionTie> tie_of_comparison(const Tensor& left, const Tensor& right, const Tensor& reference,
                                      const Tensor& device);
// NonZero: coordinates [rank, n], where n may differ.
Result<DecisionTie> tie_of_nonzero(const Tensor& scores, const Tensor& reference, const Tensor& device);

// Which error is large enough: two values that are each off by e change places only when they are at most 2 e apart.
std::string explained_by(const DecisionTie& tie);

// Nodes that gather by the decision: reached from it through integers and booleans alone.
std::vector<std::string> gathers_by(const onnx_model::GraphIndex& index, const std::string& decision,
                                    const std::function<bool(const std::string& tensor)>& is_float_tensor);

}  // namespace paritas
