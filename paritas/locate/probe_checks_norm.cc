#include <algorithm>
#include <cmath>

#include "paritas/locate/graph_patterns.h"
#include "paritas/locate/probe_checks.h"
#include "paritas/metrics/groups.h"
#include "paritas/metrics/pair_metrics.h"

namespace paritas {
namespace {

// Calls visit(row, reference, device) for every element in memory order, with scale and bias taken out.
template <class Visit>
Status for_each_pair(const Tensor& reference, const Tensor& device, const std::vector<int>& rows,
                     const std::vector<double>& scale, const std::vector<double>& bias, Visit visit) {
  PARITAS_ASSIGN(const TensorView x, TensorView::of(reference));
  PARITAS_ASSIGN(const TensorView y, TensorView::of(device));
  GroupWalk walk(reference.shape, rows);
  std::vector<double> a(kBlockElements), b(kBlockElements);
  for (uint64_t first = 0; first < x.count(); first += kBlockElements) {
    const size_t n = std::min<uint64_t>(kBlockElements, x.count() - first);
    load_as_double(x.dtype(), x.bytes(), first, std::span(a).first(n));
    load_as_double(y.dtype(), y.bytes(), first, std::span(b).first(n));
    for (size_t i = 0; i < n; ++i, walk.next()) {
      const double s = scale.empty() ? 1 : scale[(first + i) % scale.size()];
      const double shift = bias.empty() ? 0 : bias[(first + i) % bias.size()];
      if (s != 0) visit(walk.group(), (a[i] - shift) / s, (b[i] - shift) / s);
    }
  }
  return {};
}

struct Row {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  double a = 1, b = 0;  // the fit
  bool broken = false;

  void fit(bool shift) {
    const double mx = shift && n > 0 ? x / n : 0, my = shift && n > 0 ? y / n : 0;
    const double variance = xx - n * mx * mx;
    a = variance > 0 ? (xy - n * mx * my) / variance : 1;
    b = my - a * mx;
  }
};

Result<std::vector<double>> doubles_of(const Tensor* tensor) {
  if (tensor == nullptr) return std::vector<double>();
  PARITAS_ASSIGN(const TensorView view, TensorView::of(*tensor));
  std::vector<double> values(view.count());
  load_as_double(view.dtype(), view.bytes(), 0, values);
  return values;
}

// A tensor that repeats over the last dimensions of `shape`.
bool fits(const Tensor& tensor, const Shape& shape) {
  if (tensor.count() == 1) return true;
  const auto& s = tensor.shape;
  return s.size() <= shape.size() && std::equal(s.rbegin(), s.rend(), shape.rbegin());
}

class Norms {
 public:
  Norms(const CheckInput& input, ProbeChecks& checks) : input_(input), checks_(checks) {}

  Status add(const NormSite& site) {
    const auto& prepared = *input_.evidence.prepared;
    auto reference = input_.evidence.reference.find(site.tensor);
    if (reference == input_.evidence.reference.end() || !prepared.dependence.depends(site.tensor)) return {};
    NormCheck check;
    check.kind = site.centred ? "LayerNormalization" : "RMSNormalization";
    check.node = prepared.index.nodes()[static_cast<size_t>(prepared.index.producer(site.tensor))].name;
    check.tensor = site.tensor;
    check.decomposed = site.decomposed;
    check.island = input_.island(site.tensor, site.nodes, check.whole);
    for (const auto& [role, tensor] : site.steps) {
      PARITAS_ASSIGN(auto step, step_of(role, tensor));
      check.steps.push_back(std::move(step));
    }
    const auto axes = resolved_axes(site.axes, site.to_the_end, reference->second.shape.size());
    const Tensor* device = input_.local(site.tensor);
    if (device == nullptr || axes.empty())
      ++checks_.not_probed;
    else
      PARITAS_TRY(imply(site, axes, reference->second, *device, check));
    checks_.norms.push_back(std::move(check));
    return {};
  }

 private:
  Result<NormStep> step_of(const std::string& role, const std::string& tensor) {
    NormStep step;
    step.role = role;
    step.tensor = tensor;
    if (const NodeRow* row = input_.row(tensor)) {
      step.node = row->name;
      step.op = row->op;
      if (const PairMetrics* m = row->best_accumulated())
        step.accumulated = m->nonfinite.device_only > 0 ? INFINITY : std::sqrt(m->nmse);
      if (row->local) step.representable = row->local->representable;
    }
    if (const Tensor* device = input_.local(tensor)) {
      PARITAS_ASSIGN(step.local, relative_error(input_.evidence.reference.at(tensor), *device));
    }
    return step;
  }

  Status imply(const NormSite& site, const std::vector<int>& axes, const Tensor& reference, const Tensor& device,
               NormCheck& check) {
    std::optional<Tensor> scale, bias;
    for (auto [name, target] : {std::pair(&site.scale, &scale), std::pair(&site.bias, &bias)}) {
      if (name->empty()) continue;
      auto value = input_.value(*name);
      if (!value || !is_float(value->dtype) || !fits(*value, reference.shape)) return {};  // cannot be taken out
      *target = std::move(*value);
    }
    PARITAS_ASSIGN(check.implied, fit_statistic(reference, device, axes, site.centred, scale ? &*scale : nullptr,
                                                bias ? &*bias : nullptr));
    return {};
  }

  const CheckInput& input_;
  ProbeChecks& checks_;
};

}  // namespace

Result<ImpliedStatistic> fit_statistic(const Tensor& reference, const Tensor& device, const std::vector<int>& axes,
                                       bool shift, const Tensor* scale, const Tensor* bias) {
  const auto row_axes = other_axes(axes, reference.shape.size());
  PARITAS_ASSIGN(const auto scales, doubles_of(scale));
  PARITAS_ASSIGN(const auto biases, doubles_of(bias));
  std::vector<Row> rows(GroupWalk(reference.shape, row_axes).groups());
  PARITAS_TRY(for_each_pair(reference, device, row_axes, scales, biases, [&](uint64_t group, double x, double y) {
    Row& row = rows[group];
    if (!std::isfinite(x) || !std::isfinite(y)) row.broken = true;
    row.n += 1;
    row.x += x;
    row.y += y;
    row.xx += x * x;
    row.xy += x * y;
  }));
  ImpliedStatistic implied;
  implied.rows = rows.size();
  double squares = 0;
  uint64_t whole = 0;
  for (Row& row : rows) {
    if (row.broken) {
      ++implied.broken_rows;
      continue;
    }
    row.fit(shift);
    ++whole;
    implied.scale_max = std::max(implied.scale_max, std::abs(row.a - 1));
    implied.shift_max = std::max(implied.shift_max, std::abs(row.b));
    squares += (row.a - 1) * (row.a - 1);
  }
  implied.scale_rms = whole > 0 ? std::sqrt(squares / static_cast<double>(whole)) : 0;
  double energy = 0, error = 0, rest = 0;
  PARITAS_TRY(for_each_pair(reference, device, row_axes, scales, biases, [&](uint64_t group, double x, double y) {
    const Row& row = rows[group];
    if (row.broken) return;
    energy += x * x;
    error += (y - x) * (y - x);
    const double left = y - (row.a * x + row.b);
    rest += left * left;
  }));
  if (energy > 0) {
    implied.result_rms = std::sqrt(error / energy);
    implied.rest_rms = std::sqrt(rest / energy);
  }
  return implied;
}

Result<RelativeError> relative_error(const Tensor& reference, const Tensor& device) {
  RelativeError result;
  double energy = 0, error = 0;
  PARITAS_TRY(for_each_pair(reference, device, {}, {}, {}, [&](uint64_t, double x, double y) {
    if (!std::isfinite(x)) return;
    if (!std::isfinite(y)) {
      ++result.device_only;
      return;
    }
    energy += x * x;
    error += (y - x) * (y - x);
    if (x != 0) result.max = std::max(result.max, std::abs(y - x) / std::abs(x));
  }));
  result.rms = error == 0 ? 0 : energy > 0 ? std::sqrt(error / energy) : INFINITY;
  return result;
}

Status add_norms(const CheckInput& input, ProbeChecks& checks) {
  Norms norms(input, checks);
  const auto& prepared = *input.evidence.prepared;
  for (const NormSite& site : find_norms(prepared.folded, prepared.index)) PARITAS_TRY(norms.add(site));
  return {};
}

}  // namespace paritas
