#include "paritas/monitor/measure.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "paritas/compare/compare.h"
#include "paritas/compare/summary.h"
#include "paritas/judge/metric_table.h"

namespace paritas {
namespace {

const Tensor* find(const std::unordered_map<std::string, const Tensor*>& tensors, const std::string& name) {
  const auto it = tensors.find(name);
  return it == tensors.end() ? nullptr : it->second;
}

std::unordered_map<std::string, const Tensor*> by_name(const NamedTensors& tensors) {
  std::unordered_map<std::string, const Tensor*> found;
  for (const auto& [name, tensor] : tensors) found.emplace(name, &tensor);
  return found;
}

void fill_baseline(const MeasureContext& context, const LayerPair& pair, const PairMetrics& m, LayerRecord& layer) {
  if (!has_energy(m)) return;
  double baseline = 0;
  if (const auto step = context.device->steps().find(pair.device); step != context.device->steps().end()) {
    layer.baseline = "half a step";
    baseline = step->second / 2;
  } else if (m.storage) {
    layer.baseline = std::string(name(m.storage->type));
    if (!m.storage->representable()) {
      layer.baseline += ", which cannot hold it";
      return;
    }
    baseline = m.storage->max_abs;
  }
  if (baseline > 0 && std::isfinite(m.max_abs)) layer.metrics["x_baseline"] = m.max_abs / baseline;
}

void flag(const GateSet& profile, const PairMetrics& m, LayerRecord& layer) {
  layer.nonfinite = m.nonfinite.nan_other + m.nonfinite.opposite_inf + m.nonfinite.inf_finite > 0;
  if (!has_energy(m)) return;
  if (layer.nonfinite) layer.flag = "NaN or infinity on one side only";
  for (const Gate& gate : profile.gates) {
    const GateOutcome outcome = evaluate(gate, m);
    if (!outcome.value && !outcome.passed) layer.undecided = true;
    if (outcome.value && !outcome.passed && layer.flag.empty()) layer.flag = outcome.text;
  }
}

Result<TensorComparison> compare_layer(const MeasureContext& context, const LayerPair& pair, const Tensor* x,
                                       const Tensor* y) {
  const TensorInfo* of_reference = context.reference->info().find(pair.reference);
  const TensorInfo* of_device = context.device->info().find(pair.device);
  TensorComparison made;
  made.name = pair.reference;
  made.role = of_reference->role;
  made.status = x == nullptr ? PairStatus::kMissingReference : PairStatus::kMissingDevice;
  if (x != nullptr && y != nullptr) {
    MetricOptions options;
    options.threads = context.threads;
    const GateSubject subject(pair.reference, of_reference->role, declared_role(*context.project, pair.reference),
                              x->dtype);
    PARITAS_TRY(context.gates->configure(subject, options));
    if (is_float(x->dtype)) options.storage_type = context.storage_type;
    const auto id = [](const Tensor& t) { return t.dtype == DType::kI32 || t.dtype == DType::kI64; };
    options.names = id(*x) && id(*y) && !of_reference->quantisation && !of_device->quantisation;
    PARITAS_ASSIGN(made, compare_pair(pair.reference, of_reference->role, *x, *y, options, of_reference->quantisation,
                                      of_device->quantisation));
  }
  made.device_name = pair.device == pair.reference ? std::string() : pair.device;
  made.pairing = pair.rule;
  made.declared_role = declared_role(*context.project, pair.reference);
  judge_tensor(*context.gates, made);
  return made;
}

}  // namespace

std::string declared_role(const Project& project, const std::string& output) {
  for (const ProjectOutput& declared : project.outputs)
    if (declared.name == output) return declared.role;
  return {};
}

Result<std::vector<LayerRecord>> measure_layers(const MeasureContext& context, const NamedTensors& reference,
                                                const NamedTensors& device) {
  const auto of_reference = by_name(reference), of_device = by_name(device);
  std::vector<LayerRecord> layers;
  for (const LayerPair& pair : *context.pairs) {
    const Tensor* x = find(of_reference, pair.reference);
    const Tensor* y = find(of_device, pair.device);
    PARITAS_ASSIGN(const TensorComparison made, compare_layer(context, pair, x, y));
    LayerRecord& layer = layers.emplace_back();
    layer.gated = made.gated;
    layer.verdict = made.verdict;
    layer.rule = made.rule;
    if (!made.metrics) {
      layer.problem = x == nullptr ? "the reference did not hand it out"
                      : y == nullptr
                          ? "the device did not hand it out"
                          : fmt::format("shapes differ: {} and {}", to_string(x->shape), to_string(y->shape));
      continue;
    }
    for (const char* metric : {"mean_abs", "mse", "cosine", "max_abs", "sqnr_db", "nmse", "differing"})
      if (const auto value = summarised_value(*made.metrics, metric)) layer.metrics[metric] = *value;
    fill_baseline(context, pair, *made.metrics, layer);
    flag(*context.profile, *made.metrics, layer);
  }
  return layers;
}

Result<InputRecord> measure_input(const std::string& name, const ProjectInput* input, const Tensor& tensor) {
  InputRecord record;
  record.name = name;
  PARITAS_ASSIGN(const TensorView view, TensorView::of(tensor));
  std::vector<double> values(view.count());
  load_as_double(view.dtype(), view.bytes(), 0, values);
  uint64_t channels = 1, inner = 1;
  if (input != nullptr && input->steps && tensor.shape.size() == 4) {
    const bool nchw = input->steps->layout == Layout::kNchw;
    channels = static_cast<uint64_t>(tensor.shape[nchw ? 1 : 3]);
    inner = nchw ? static_cast<uint64_t>(tensor.shape[2] * tensor.shape[3]) : 1;
  }
  record.channels.resize(channels);
  for (size_t i = 0; i < values.size(); ++i) {
    ChannelSums& sums = record.channels[(i / inner) % channels];
    const double v = values[i];
    if (!std::isfinite(v)) continue;
    sums.low = sums.count == 0 ? v : std::min(sums.low, v);
    sums.high = sums.count == 0 ? v : std::max(sums.high, v);
    sums.sum += v;
    sums.squares += v * v;
    ++sums.count;
  }
  record.constant = std::all_of(record.channels.begin(), record.channels.end(),
                                [](const ChannelSums& sums) { return sums.low == sums.high; });
  uint64_t at_the_ends = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const ChannelSums& sums = record.channels[(i / inner) % channels];
    at_the_ends += values[i] == sums.low || values[i] == sums.high;
  }
  record.saturated = !record.constant && at_the_ends * 2 > values.size();
  return record;
}

}  // namespace paritas
