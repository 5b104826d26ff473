// Names of metrics as gates, CSV columns and JSON use them.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "paritas/base/json.h"
#include "paritas/metrics/pair_metrics.h"

namespace paritas {

struct MetricName {
  std::string_view name;
  std::string_view unit;         // "tensor" (the tensor's own), "dB", "1" (none), "elements", "ulp"
  std::string_view description;  // one line
  // What it can be, whatever is compared; NaN apart.
  double lowest = 0;
  double highest = std::numeric_limits<double>::infinity();
};

const std::vector<MetricName>& metric_names();
bool is_metric(std::string_view name);
const MetricName* find_metric(std::string_view name);  // nullptr: no metric

// The value, or nullopt when this pair has none (no ULP between integers, no tolerance declared, no distance between
// names).
std::optional<double> metric_value(const PairMetrics& metrics, std::string_view name);

Json to_json(const PairMetrics& metrics);
// The inverse, bit by bit: a stored result can be judged and merged like a fresh one.
Result<PairMetrics> pair_metrics_from_json(const Json& json, const std::string& subject);

}  // namespace paritas
