#include "paritas/explain/explain.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paritas/base/glob.h"
#include "paritas/base/nearest.h"
#include "paritas/base/sha256.h"
#include "paritas/explain/decide.h"
#include "paritas/explain/layout.h"
#include "paritas/explain/network.h"
#include "paritas/explain/sides.h"
#include "paritas/explain/weight_figures.h"
#include "paritas/weights/weights.h"

namespace paritas {
namespace {

class Explainer {
 public:
  explicit Explainer(const ExplainRequest& request) : request_(request) {}

  Result<ExplainResult> run() {
    PARITAS_TRY(load());
    PARITAS_ASSIGN(std::vector<size_t> chosen, choose());
    if (request_.worst > 0) {  // two readings, so that memory follows the layers that are shown
      PARITAS_TRY(take_values(chosen, true));
      keep_worst(chosen);
      counters_.clear();
      shared_.clear();
    }
    PARITAS_TRY(take_values(chosen, false));
    for (const size_t index : chosen) {
      LayerExplanation layer;
      PARITAS_TRY(fill(network_.layers[index], layer.figures));
      decide(layer, sides_.samples);
      result_.layers.push_back(std::move(layer));
    }
    return std::move(result_);
  }

 private:
  Status load() {
    result_.model = request_.model.string();
    PARITAS_ASSIGN(network_, read_network(request_.model));
    PARITAS_ASSIGN(weights_, weights_of(request_.model));
    PARITAS_ASSIGN(result_.model_sha256, sha256_of_file(request_.model));
    std::string float_sha256;
    if (request_.float_model) {
      result_.float_model = request_.float_model->string();
      PARITAS_ASSIGN(float_network_, read_network(*request_.float_model));
      PARITAS_ASSIGN(float_weights_, weights_of(*request_.float_model));
      PARITAS_ASSIGN(float_sha256, sha256_of_file(*request_.float_model));
    }
    if (request_.reference) result_.reference = request_.reference->string();
    if (request_.device) result_.device = request_.device->string();
    PARITAS_ASSIGN(sides_, open_sides(request_.reference, request_.device, network_, result_.model_sha256, float_sha256,
                                      request_.names));
    result_.samples = sides_.samples;
    return {};
  }

  bool is_meant(const NetworkLayer& layer, const std::string& text) const {
    const NetworkValue& value = network_.values[layer.output];
    const bool pattern = text.find_first_of("*?") != std::string::npos;
    std::vector<std::string> names = {layer.name};
    if (!pattern) names.insert(names.end(), {value.name, value.codes, value.real});
    if (!pattern && sides_.pairs[layer.output]) names.push_back(sides_.pairs[layer.output]->reference);
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return !name.empty() && (pattern ? glob_match(text, name) : name == text);
    });
  }

  Result<std::vector<size_t>> choose() const {
    std::vector<size_t> all(network_.layers.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = i;
    if (request_.worst > 0) {
      if (!sides_.device || !sides_.reference)
        return usage_error("--worst", "needs --reference and --device, whose layers it compares",
                           "record both with `paritas run --marks all`, or name layers");
      return all;
    }
    std::vector<size_t> chosen;
    std::set<size_t> taken;
    for (const std::string& text : request_.layers) {
      bool found = false;
      for (const size_t index : all) {
        if (!is_meant(network_.layers[index], text)) continue;
        found = true;
        if (taken.insert(index).second) chosen.push_back(index);
      }
      if (found) continue;
      std::vector<std::string> names;
      for (const NetworkLayer& layer : network_.layers) names.push_back(layer.name);
      names = nearest_first(text, std::move(names));
      names.resize(std::min<size_t>(names.size(), 3));
      return usage_error(text, fmt::format("{} has no such layer or tensor", network_.subject),
                         fmt::format("nearest: {}", fmt::join(names, ", ")));
    }
    return chosen;
  }

  Status take_values(const std::vector<size_t>& chosen, bool errors_only) {
    for (const size_t index : chosen) {
      const NetworkLayer& layer = network_.layers[index];
      std::vector<size_t> values = layer.inputs;
      values.push_back(layer.output);
      for (const size_t value : values)
        counters_.try_emplace(value, tensor_quantiser(network_.values[value]), errors_only);
      const auto quantiser = tensor_quantiser(network_.values[layer.output]);
      if (layer.concat && quantiser && !errors_only)
        for (const size_t input : layer.inputs) shared_.try_emplace({layer.output, input}, *quantiser);
    }
    for (uint64_t sample = 0; sample < sides_.samples; ++sample) PARITAS_TRY(take_sample(sample));
    return {};
  }

  Status take_sample(uint64_t sample) {
    Sample x, y;
    if (sides_.reference) {
      PARITAS_ASSIGN(x, sides_.reference->sample(sample));
    }
    if (sides_.device) {
      PARITAS_ASSIGN(y, sides_.device->sample(sample));
    }
    for (auto& [value, counter] : counters_) {
      PARITAS_ASSIGN(const auto reference, reference_tensor(sides_, value, network_.values[value], x.tensors));
      PARITAS_ASSIGN(const auto device, device_tensor(network_.values[value], y.tensors));
      const bool both = reference && device;
      const bool comparable = both && reference->tensor.shape == device->tensor.shape;
      if (both && !comparable) other_shape_.insert(value);
      // A value that one sample lacks would mix samples in its figures.
      if (sample == 0 && both) compared_.insert(value);
      if (both != (compared_.count(value) != 0))
        return input_error(sides_.device ? sides_.device->subject() : "",
                           fmt::format("tensor \"{}\" is not in every sample", network_.values[value].name),
                           "record it in all");
      PARITAS_TRY(counter.add(reference ? &*reference : nullptr, device ? &*device : nullptr, comparable));
      for (auto& [key, shared] : shared_) {
        if (key.second != value || !(reference || device)) continue;
        PARITAS_TRY(shared.add(reference ? *reference : *device));
        shared_source_[key] = reference ? "reference" : "device";
      }
    }
    return {};
  }

  void keep_worst(std::vector<size_t>& chosen) const {
    std::vector<std::pair<double, size_t>> ranked;
    for (const size_t index : chosen) {
      const ValueFigures figures = value_figures(network_.layers[index].output);
      if (figures.error) ranked.emplace_back(figures.error->nmse, index);
    }
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    chosen.clear();
    for (size_t i = 0; i < ranked.size() && i < request_.worst; ++i) chosen.push_back(ranked[i].second);
  }

  ValueFigures value_figures(size_t value) const {
    ValueFigures figures;
    figures.name = network_.values[value].name;
    if (sides_.pairs[value]) {
      figures.reference = sides_.pairs[value]->reference;
      figures.rule = sides_.pairs[value]->rule;
    }
    counters_.at(value).finish(figures);
    if (other_shape_.count(value) != 0) figures.error.reset();
    return figures;
  }

  Status fill(const NetworkLayer& layer, LayerFigures& f) {
    f.name = layer.name;
    f.op = layer.op;
    f.same_model = sides_.same_model;
    f.residual = layer.add;
    f.output = value_figures(layer.output);
    for (const size_t input : layer.inputs) f.inputs.push_back(value_figures(input));
    for (const size_t input : layer.inputs) {
      const auto found = shared_.find({layer.output, input});
      const auto source = shared_source_.find({layer.output, input});
      if (found == shared_.end() || source == shared_source_.end()) continue;
      SharedScale shared = found->second.figures();
      shared.tensor = network_.values[input].name;
      shared.source = source->second;
      f.shared.push_back(std::move(shared));
    }
    add_bounds(layer, f);
    PARITAS_TRY(add_weights(layer, f));
    PARITAS_TRY(add_layout(layer, f));
    list_gaps(layer, f);
    return {};
  }

  // The layer's own activation, of the operator or folded from the float model.
  std::optional<Bounds> bounds_of(const NetworkLayer& layer) const {
    if (layer.bounds) return layer.bounds;
    if (!float_network_) return std::nullopt;
    const NetworkValue& value = network_.values[layer.output];
    const std::string name = sides_.pairs[layer.output] ? sides_.pairs[layer.output]->reference : value.name;
    for (const NetworkLayer& other : float_network_->layers)
      if (float_network_->values[other.output].name == name && other.bounds) {
        Bounds bounds = *other.bounds;
        bounds.text += " of the float model";
        return bounds;
      }
    return std::nullopt;
  }

  void add_bounds(const NetworkLayer& layer, LayerFigures& f) const {
    const auto bounds = bounds_of(layer);
    if (bounds) f.activation = bounds->text;
    if (!f.output.quantiser) return;
    QuantiserFigures& q = *f.output.quantiser;
    const auto at = [&](double end, double bound) { return std::abs(end - bound) <= q.scale; };
    q.low_is_bound = bounds && bounds->low && at(q.low, *bounds->low);
    q.high_is_bound = bounds && bounds->high && at(q.high, *bounds->high);
    const bool unknown = !bounds && !float_network_;
    q.low_may_be_bound = unknown && at(q.low, 0);
    q.high_may_be_bound = unknown && at(q.high, 6);
    const auto note = [&](bool is, bool may, uint64_t count, const char* which, double end) {
      if (count == 0 || !(is || may)) return;
      const double share = 100.0 * static_cast<double>(count) / static_cast<double>(q.count);
      f.notes.push_back(
          is ? fmt::format("{:.3g} % of the codes stand at the {} limit, {:.4g}: the bound of {}, no saturation", share,
                           which, end, bounds->text)
             : fmt::format("{:.3g} % of the codes stand at the {} limit, {:.4g}: it may be the bound of a folded "
                           "Relu or Clip, which the float model would tell",
                           share, which, end));
    };
    note(q.low_is_bound, q.low_may_be_bound, q.at_low, "lower", q.low);
    note(q.high_is_bound, q.high_may_be_bound, q.at_high, "upper", q.high);
  }

  Status add_weights(const NetworkLayer& layer, LayerFigures& f) const {
    for (const Weight& weight : weights_.weights) {
      if (weight.reader != layer.name) continue;
      const Weight* floating = nullptr;
      size_t found = 0;
      for (const Weight& other : float_weights_.weights)
        if (other.name == weight.name) {
          floating = &other;
          ++found;
        }
      if (found > 1) floating = nullptr;
      PARITAS_ASSIGN(WeightFigures figures, weight_figures(weight, floating, layer.weight_axis));
      figures.bias = weight.input == 2 && weight.tensor.shape.size() == 1;
      if (figures.bias && figures.error && f.output.quantiser)
        figures.bias_output_steps = figures.error->max_abs / f.output.quantiser->scale;
      if (figures.quantised && !figures.error && request_.float_model)
        f.not_looked_at.push_back(fmt::format("the error of weight {}: the float model has {}", weight.name,
                                              found == 0  ? "none of this name"
                                              : found > 1 ? "several of this name"
                                                          : "another shape"));
      f.weights.push_back(std::move(figures));
    }
    for (const auto& [name, why] : weights_.unread) f.not_looked_at.push_back(fmt::format("weight {}: {}", name, why));
    return {};
  }

  Status add_layout(const NetworkLayer& layer, LayerFigures& f) {
    f.layout.in_place = f.layout.best = std::numeric_limits<double>::quiet_NaN();
    if (compared_.count(layer.output) == 0) {
      f.layout.text = "not looked at: the layer's output is not in both recordings";
      return {};
    }
    if (f.output.error && f.output.error->nmse <= kLayoutSuspects) {
      f.layout = {LayoutState::kRuledOut,
                  f.output.error->nmse,
                  f.layout.best,
                  {},
                  false,
                  fmt::format("ruled out: values match in place (NMSE {:.2g})", f.output.error->nmse)};
      return {};
    }
    PARITAS_ASSIGN(const Sample x, sides_.reference->sample(0));
    PARITAS_ASSIGN(const Sample y, sides_.device->sample(0));
    const NetworkValue& value = network_.values[layer.output];
    PARITAS_ASSIGN(const auto reference, reference_tensor(sides_, layer.output, value, x.tensors));
    PARITAS_ASSIGN(const auto device, device_tensor(value, y.tensors));
    PARITAS_ASSIGN(const std::vector<double> a, real_values(*reference));
    PARITAS_ASSIGN(const std::vector<double> b, real_values(*device));
    f.layout = layout_of(a, reference->tensor.shape, b, device->tensor.shape);
    return {};
  }

  void list_gaps(const NetworkLayer& layer, LayerFigures& f) const {
    const auto gap = [&](std::string text) { f.not_looked_at.push_back(std::move(text)); };
    const bool quantised = std::any_of(f.weights.begin(), f.weights.end(), [](const auto& w) { return w.quantised; });
    if (quantised && !request_.float_model && !f.same_model) gap("weights against the float ones (no --float)");
    if (!sides_.reference) gap("what the data asks of the quantiser, what it clips, errors, layout (no --reference)");
    if (!sides_.device) gap("the device's values: levels used, codes at the limits, errors (no --device)");
    const NetworkValue& value = network_.values[layer.output];
    if (value.quantisation && !f.output.quantiser)
      gap(fmt::format("the quantiser of {}: per channel, or of more than 16 bits", value.name));
    if (sides_.reference && !sides_.pairs[layer.output])
      gap(fmt::format("errors: the reference recording has no tensor for {}", value.name));
    else if (sides_.reference && sides_.device && compared_.count(layer.output) == 0)
      gap(fmt::format("errors: {} is not in both recordings", value.name));
    if (other_shape_.count(layer.output) != 0) gap(fmt::format("errors: the shapes of {} differ", value.name));
    if (layer.outputs > 1) gap(fmt::format("{} further outputs", layer.outputs - 1));
    if (f.output.distribution && f.output.distribution->nonfinite > 0)
      f.notes.push_back(fmt::format("{} values of the {} are not finite, and left out",
                                    f.output.distribution->nonfinite, f.output.source));
  }

  static Result<std::vector<double>> real_values(const RealTensor& tensor) {
    PARITAS_ASSIGN(const TensorView view, TensorView::of(tensor.tensor));
    std::vector<double> values(static_cast<size_t>(view.count()));
    load_as_double(view.dtype(), view.bytes(), 0, values);
    if (tensor.affine) dequantise(*tensor.affine, 0, values);
    return values;
  }

  const ExplainRequest& request_;
  ExplainResult result_;
  Network network_;
  std::optional<Network> float_network_;
  Weights weights_, float_weights_;
  Sides sides_;
  std::map<size_t, ValueCounter> counters_;
  std::map<std::pair<size_t, size_t>, SharedCounter> shared_;
  std::map<std::pair<size_t, size_t>, std::string> shared_source_;
  std::set<size_t> compared_, other_shape_;
};

}  // namespace

Result<ExplainResult> explain(const ExplainRequest& request) {
  if (request.layers.empty() == (request.worst == 0))
    return usage_error("explain", "give layers, or --worst N", "paritas explain '*' takes every layer");
  return Explainer(request).run();
}

}  // namespace paritas
