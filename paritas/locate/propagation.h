// How deviation travels through the graph: which tensors deviate, and from which of them a path of deviating tensors
// leads to a place where it matters.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "paritas/locate/types.h"
#include "paritas/onnx/graph_index.h"

namespace paritas {

// A tensor deviates when the device alone has NaN or infinities, or its cosine is under 0.99, or its scale is off by
// more than a tenth; unless storing the reference in the device's type would cost as much (a tensor of values that the
// type flushes to zero cannot come out better).
inline constexpr double kDivergenceCosine = 0.99;
inline constexpr double kDivergenceScale = 0.1;
bool deviates(const PairMetrics& metrics);
// metrics.storage must be filled for the exemption to apply.
bool explained_by_storage(const PairMetrics& metrics);
// The same without the exemption: whether the figures differ at all, for whatever reason.
bool diverges(const PairMetrics& metrics);

// Tensors (of rows) from which deviation reaches one of `sinks` along tensors that all diverge. A tensor without
// figures does not stop a path. `fed` tensors do: what runs behind them reads the reference's values.
std::unordered_set<std::string> reaching(const std::vector<NodeRow>& rows, const onnx_model::GraphIndex& index,
                                         const std::unordered_set<std::string>& sinks,
                                         const std::unordered_set<std::string>& fed);

}  // namespace paritas
