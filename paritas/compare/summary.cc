#include "paritas/compare/summary.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "paritas/judge/metric_table.h"

namespace paritas {
namespace {

struct Value {
  double value;
  const std::string* sample;
};

MetricSummary summary_of(const std::string& metric, const std::vector<Value>& values) {
  MetricSummary s;
  s.metric = metric;
  const bool reversed = smaller_is_worse(metric);
  std::vector<double> finite;
  const Value* worst = nullptr;
  // A NaN is worse than anything.
  const auto worse = [&](double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && !std::isnan(b);
    return reversed ? a < b : a > b;
  };
  for (const Value& v : values) {
    if (worst == nullptr || worse(v.value, worst->value)) worst = &v;
    if (!std::isfinite(v.value)) continue;
    finite.push_back(v.value);
    s.mean += v.value;
  }
  s.samples = finite.size();
  s.worst = worst->value;
  s.worst_sample = *worst->sample;
  if (finite.empty()) {  // equal everywhere: an infinite SQNR is its mean as well
    const bool same =
        std::all_of(values.begin(), values.end(), [&](const Value& v) { return v.value == values.front().value; });
    s.mean = s.median = s.p99 = same ? values.front().value : NAN;
    return s;
  }
  s.mean /= static_cast<double>(finite.size());
  std::sort(finite.begin(), finite.end());
  s.median = finite[(finite.size() - 1) / 2];
  const size_t tail = finite.size() / 100;  // values that may be worse than p99
  s.p99 = reversed ? finite[tail] : finite[finite.size() - 1 - tail];
  return s;
}

}  // namespace

const std::vector<std::string>& summarised_metrics() {
  static const std::vector<std::string> metrics = {"mean_abs", "mse",      "nmse",      "sqnr_db",  "cosine",
                                                   "max_abs",  "max_step", "mean_step", "differing"};
  return metrics;
}

bool smaller_is_worse(const std::string& metric) { return metric == "cosine" || metric == "sqnr_db"; }

bool has_energy(const PairMetrics& metrics) { return !metrics.names && !metrics.max_integer_difference; }

std::optional<double> summarised_value(const PairMetrics& metrics, const std::string& metric) {
  const bool of_energy = metric == "cosine" || metric == "nmse" || metric == "sqnr_db";
  return of_energy && !has_energy(metrics) ? std::nullopt : metric_value(metrics, metric);
}

std::vector<TensorSummary> summarise(const std::vector<TensorComparison>& tensors) {
  std::vector<TensorSummary> summaries;
  std::unordered_map<std::string, size_t> position;
  std::vector<std::vector<std::vector<Value>>> values;
  const auto& metrics = summarised_metrics();
  for (const TensorComparison& t : tensors) {
    if (!t.metrics || t.role == Role::kInput) continue;
    const auto [it, added] = position.emplace(t.name, summaries.size());
    if (added) {
      summaries.push_back({t.name, {}});
      values.emplace_back(metrics.size());
    }
    for (size_t m = 0; m < metrics.size(); ++m)
      if (const auto value = summarised_value(*t.metrics, metrics[m]))
        values[it->second][m].push_back({*value, &t.sample});
  }
  for (size_t i = 0; i < summaries.size(); ++i)
    for (size_t m = 0; m < metrics.size(); ++m)
      if (!values[i][m].empty()) summaries[i].metrics.push_back(summary_of(metrics[m], values[i][m]));
  return summaries;
}

}  // namespace paritas
