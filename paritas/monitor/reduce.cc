#include "paritas/monitor/reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "paritas/compare/summary.h"

namespace paritas {
namespace {

const std::vector<std::string>& monitored_metrics() {
  static const std::vector<std::string> metrics = {"mean_abs", "mse",  "cosine",     "max_abs",
                                                   "sqnr_db",  "nmse", "x_baseline", "differing"};
  return metrics;
}

// Lower of the middle two; infinities take part, since a layer that is lost on most samples has no finite median.
double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 2];
}

void reduce_layer(const std::vector<MonitorRecord>& records, size_t i, MonitoredLayer& layer) {
  bool judged = false;
  for (const MonitorRecord& record : records) {
    const LayerRecord& one = record.layers[i];
    if (!one.problem.empty()) {
      if (std::find(layer.problems.begin(), layer.problems.end(), one.problem) == layer.problems.end())
        layer.problems.push_back(one.problem);
    } else {
      ++layer.samples;
    }
    layer.undecided += one.undecided;
    layer.nonfinite += one.nonfinite;
    layer.gated |= one.gated;
    if (!one.baseline.empty()) layer.baseline = one.baseline;
    if (!one.flag.empty() && layer.flagged++ == 0) {
      layer.flag = one.flag;
      layer.flag_sample = record.id;
    }
    if (!judged || one.verdict < layer.verdict) {
      layer.verdict = one.verdict;
      layer.rule = one.rule;
      layer.verdict_sample = record.id;
      judged = true;
    }
  }
  for (const std::string& metric : monitored_metrics()) {
    std::vector<std::pair<double, std::string>> values;
    for (const MonitorRecord& record : records)
      if (const auto it = record.layers[i].metrics.find(metric); it != record.layers[i].metrics.end())
        values.emplace_back(it->second, record.id);
    if (!values.empty()) layer.metrics.push_back(summary_of_metric(metric, values));
  }
}

void roll_up(MonitorResult& result) {
  for (const MonitoredLayer& layer : result.layers) {
    if (layer.samples == 0) continue;
    auto it = std::find_if(result.blocks.begin(), result.blocks.end(),
                           [&](const MonitoredBlock& block) { return block.path == layer.block; });
    if (it == result.blocks.end()) it = result.blocks.insert(result.blocks.end(), {layer.block, 0, 0, {}, 0});
    ++it->layers;
    it->flagged += layer.flagged > 0;
    const MetricSummary* nmse = layer.find("nmse");
    if (nmse != nullptr && (it->worst_layer.empty() || nmse->median > it->worst_nmse)) {
      it->worst_layer = layer.name;
      it->worst_nmse = nmse->median;
    }
  }
}

std::optional<double> nmse_of(const LayerRecord& layer) {
  const auto it = layer.metrics.find("nmse");
  return it == layer.metrics.end() || std::isnan(it->second) ? std::nullopt : std::optional(it->second);
}

void find_amplified(const std::vector<MonitorRecord>& records, MonitorResult& result) {
  std::vector<double> inner(records.size(), 0);
  std::vector<size_t> inner_layer(records.size(), result.layers.size());
  for (size_t s = 0; s < records.size(); ++s)
    for (size_t i = 0; i < result.layers.size(); ++i) {
      const auto nmse = nmse_of(records[s].layers[i]);
      if (result.layers[i].role != Role::kIntermediate || !nmse) continue;
      if (inner_layer[s] == result.layers.size() || *nmse > inner[s]) {
        inner[s] = *nmse;
        inner_layer[s] = i;
      }
    }
  if (records.size() < 3) return;  // no median to speak of
  const double inner_median = median_of(inner);
  for (size_t i = 0; i < result.layers.size(); ++i) {
    if (result.layers[i].role != Role::kOutput) continue;
    std::vector<double> values;
    for (const MonitorRecord& record : records)
      if (const auto nmse = nmse_of(record.layers[i])) values.push_back(*nmse);
    if (values.empty()) continue;
    const double median = median_of(values);
    for (size_t s = 0; s < records.size(); ++s) {
      const auto nmse = nmse_of(records[s].layers[i]);
      if (!nmse || inner_layer[s] == result.layers.size() || !(*nmse > kAmplifiedOutput * median) ||
          !(inner[s] <= kAmplifiedInner * inner_median))
        continue;
      result.amplified.push_back({records[s].id, result.layers[i].name, *nmse, median, inner[s], inner_median,
                                  result.layers[inner_layer[s]].name});
    }
  }
}

void cover(const std::vector<MonitorRecord>& records, MonitorResult& result) {
  for (size_t k = 0; !records.empty() && k < records.front().inputs.size(); ++k) {
    InputCoverage& input = result.coverage.inputs[k];
    std::vector<ChannelSums> total;
    for (const MonitorRecord& record : records) {
      const InputRecord& one = record.inputs[k];
      if (one.constant) input.constant.push_back(record.id);
      if (one.saturated) input.saturated.push_back(record.id);
      total.resize(std::max(total.size(), one.channels.size()));
      for (size_t c = 0; c < one.channels.size(); ++c) {
        const ChannelSums& sums = one.channels[c];
        if (sums.count == 0) continue;
        total[c].low = total[c].count == 0 ? sums.low : std::min(total[c].low, sums.low);
        total[c].high = total[c].count == 0 ? sums.high : std::max(total[c].high, sums.high);
        total[c].sum += sums.sum;
        total[c].squares += sums.squares;
        total[c].count += sums.count;
      }
    }
    for (const ChannelSums& sums : total) {
      const auto n = static_cast<double>(sums.count);
      const double mean = sums.count == 0 ? NAN : sums.sum / n;
      input.channels.push_back({sums.low, sums.high, mean,
                                sums.count == 0 ? NAN : std::sqrt(std::max(0.0, sums.squares / n - mean * mean))});
    }
  }
  std::map<int64_t, uint64_t> groups;
  bool labels = false;
  for (const MonitorRecord& record : records)
    if (!record.tasks.empty())
      for (const ClassificationRow& row : record.tasks.front().rows) labels |= row.label.has_value();
  for (const MonitorRecord& record : records)
    if (!record.tasks.empty())
      for (const ClassificationRow& row : record.tasks.front().rows) {
        if (labels && row.label) ++groups[*row.label];
        if (!labels && !row.reference.first.empty()) ++groups[row.reference.first.front()];
      }
  if (!groups.empty()) result.coverage.groups_by = labels ? "labels" : "the reference's first class";
  for (const auto& [index, count] : groups) result.coverage.groups.push_back({index, count});
}

}  // namespace

const MetricSummary* MonitoredLayer::find(const std::string& metric) const {
  for (const MetricSummary& summary : metrics)
    if (summary.metric == metric) return &summary;
  return nullptr;
}

MetricSummary summary_of_metric(const std::string& metric, const std::vector<std::pair<double, std::string>>& values) {
  MetricSummary s;
  s.metric = metric;
  const bool reversed = smaller_is_worse(metric);
  const auto worse = [&](double a, double b) {  // NaN is worse than anything
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && !std::isnan(b);
    return reversed ? a < b : a > b;
  };
  std::vector<double> finite;
  const std::pair<double, std::string>* worst = nullptr;
  for (const auto& value : values) {
    if (worst == nullptr || worse(value.first, worst->first)) worst = &value;
    if (!std::isfinite(value.first)) continue;
    finite.push_back(value.first);
    s.mean += value.first;
  }
  s.samples = finite.size();
  s.worst = worst->first;
  s.worst_sample = worst->second;
  if (finite.empty()) {
    const bool same =
        std::all_of(values.begin(), values.end(), [&](const auto& v) { return v.first == values.front().first; });
    s.mean = s.median = s.p99 = same ? values.front().first : NAN;
    return s;
  }
  s.mean /= static_cast<double>(finite.size());
  std::sort(finite.begin(), finite.end());
  s.median = finite[(finite.size() - 1) / 2];
  const size_t tail = finite.size() / 100;
  s.p99 = reversed ? finite[tail] : finite[finite.size() - 1 - tail];
  return s;
}

void reduce(const std::vector<MonitorRecord>& records, MonitorResult& result) {
  result.compared = records.size();
  for (size_t i = 0; i < result.layers.size(); ++i) reduce_layer(records, i, result.layers[i]);
  roll_up(result);
  find_amplified(records, result);
  cover(records, result);
  for (const MonitorRecord& record : records) result.files[record.id] = record.file;
}

}  // namespace paritas
