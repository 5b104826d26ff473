#include "paritas/judge/metric_table.h"

#include <array>

namespace paritas {
namespace {

using Getter = std::optional<double> (*)(const PairMetrics&);

struct Entry {
  MetricName meta;
  Getter get;
};

double as_double(uint64_t value) { return static_cast<double>(value); }

const std::array kEntries = {
    Entry{{"max_abs", "tensor", "largest absolute difference"},
          [](const PairMetrics& m) { return std::optional(m.max_abs); }},
    Entry{{"mean_abs", "tensor", "mean absolute difference (MAE)"},
          [](const PairMetrics& m) { return std::optional(m.mean_abs); }},
    Entry{{"mse", "tensor^2", "mean squared difference"}, [](const PairMetrics& m) { return std::optional(m.mse); }},
    Entry{{"rmse", "tensor", "root of mse"}, [](const PairMetrics& m) { return std::optional(m.rmse); }},
    Entry{{"nmse", "1", "energy of the difference / energy of the reference"},
          [](const PairMetrics& m) { return std::optional(m.nmse); }},
    Entry{{"sqnr_db", "dB", "-10 log10(nmse)", -std::numeric_limits<double>::infinity()},
          [](const PairMetrics& m) { return std::optional(m.sqnr_db); }},
    Entry{{"cosine", "1", "cosine similarity", -1, 1}, [](const PairMetrics& m) { return std::optional(m.cosine); }},
    Entry{{"cosine_distance", "1", "1 - cosine, computed without cancellation", 0, 2},
          [](const PairMetrics& m) { return std::optional(m.cosine_distance); }},
    Entry{{"scale_ratio", "1", "norm of the device / norm of the reference"},
          [](const PairMetrics& m) { return std::optional(m.scale_ratio); }},
    Entry{{"max_rel", "1", "largest |d| / max(|x|, floor)"},
          [](const PairMetrics& m) { return std::optional(m.max_rel); }},
    Entry{{"max_ulp", "ulp", "largest distance in units in the last place of the coarser type"},
          [](const PairMetrics& m) { return m.max_ulp ? std::optional(as_double(*m.max_ulp)) : std::nullopt; }},
    Entry{{"differing", "elements", "elements that are not equal"},
          [](const PairMetrics& m) { return std::optional(as_double(m.differing)); }},
    Entry{{"max_integer_difference", "steps", "largest difference of integers"},
          [](const PairMetrics& m) {
            return m.max_integer_difference ? std::optional(as_double(*m.max_integer_difference)) : std::nullopt;
          }},
    Entry{{"max_step", "steps", "largest difference in quantisation steps"},
          [](const PairMetrics& m) { return m.steps ? std::optional(m.steps->max) : std::nullopt; }},
    Entry{{"mean_step", "steps", "mean absolute difference in quantisation steps"},
          [](const PairMetrics& m) { return m.steps ? std::optional(m.steps->mean) : std::nullopt; }},
    Entry{{"outside", "elements", "elements outside the declared atol + rtol |x|"},
          [](const PairMetrics& m) { return m.outside ? std::optional(as_double(*m.outside)) : std::nullopt; }},
    Entry{{"abs_p50", "tensor", "median of |d|"},
          [](const PairMetrics& m) { return m.abs_quantiles ? std::optional((*m.abs_quantiles)[0]) : std::nullopt; }},
    Entry{{"abs_p90", "tensor", "90th percentile of |d|"},
          [](const PairMetrics& m) { return m.abs_quantiles ? std::optional((*m.abs_quantiles)[1]) : std::nullopt; }},
    Entry{{"abs_p99", "tensor", "99th percentile of |d|"},
          [](const PairMetrics& m) { return m.abs_quantiles ? std::optional((*m.abs_quantiles)[2]) : std::nullopt; }},
    Entry{{"abs_p999", "tensor", "99.9th percentile of |d|"},
          [](const PairMetrics& m) { return m.abs_quantiles ? std::optional((*m.abs_quantiles)[3]) : std::nullopt; }},
};

const Entry* find_entry(std::string_view name) {
  for (const Entry& entry : kEntries)
    if (entry.meta.name == name) return &entry;
  return nullptr;
}

}  // namespace

const std::vector<MetricName>& metric_names() {
  static const std::vector<MetricName> names = [] {
    std::vector<MetricName> all;
    for (const Entry& entry : kEntries) all.push_back(entry.meta);
    return all;
  }();
  return names;
}

bool is_metric(std::string_view name) { return find_entry(name) != nullptr; }

const MetricName* find_metric(std::string_view name) {
  const Entry* entry = find_entry(name);
  return entry == nullptr ? nullptr : &entry->meta;
}

std::optional<double> metric_value(const PairMetrics& metrics, std::string_view name) {
  const Entry* entry = find_entry(name);
  if (entry == nullptr || (metrics.names && name != "differing")) return std::nullopt;
  return entry->get(metrics);
}

}  // namespace paritas
