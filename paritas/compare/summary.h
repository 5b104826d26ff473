// Figures of a tensor over many samples.
#pragma once

#include "paritas/compare/types.h"

namespace paritas {

// Per tensor (first appearance first) the metrics that people follow over a calibration set: mean, median, p99, worst
// and the sample of the worst. "Worse" is larger for errors and smaller for cosine and SQNR. Values that are not finite
// count as worst of all but enter no mean.
std::vector<TensorSummary> summarise(const std::vector<TensorComparison>& tensors);

// A metric of one pair as it is summarised and exported. Plain integers (ids, counts) have no direction or energy that
// means anything: no cosine, NMSE or SQNR. Quantised ones, whose real values are compared, have.
bool has_energy(const PairMetrics& metrics);
std::optional<double> summarised_value(const PairMetrics& metrics, const std::string& metric);

// Names of the metrics that are summarised, and for which a smaller value is worse.
const std::vector<std::string>& summarised_metrics();
bool smaller_is_worse(const std::string& metric);

}  // namespace paritas
