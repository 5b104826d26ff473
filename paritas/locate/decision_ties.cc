#include "paritas/locate/decision_ties.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "paritas/locate/decisions.h"
#include "paritas/locate/graph_patterns.h"
#include "paritas/locate/nms_ties.h"
#include "paritas/tensor/float_formats.h"

namespace paritas {
namespace {

Result<std::vector<double>> doubles(const Tensor& tensor) {
  PARITAS_ASSIGN(const TensorView view, TensorView::of(tensor));
  std::vector<double> values(view.count());
  load_as_double(view.dtype(), view.bytes(), 0, values);
  return values;
}

// A margin at values of this size.
void widen(DecisionTie& tie, double margin, double at) {
  ++tie.compared;
  if (tie.margin && margin <= *tie.margin) return;
  tie.margin = margin;
  tie.at = std::abs(at);
}

void nearest(DecisionTie& tie, double gap) {
  if (!tie.runner_up || gap < *tie.runner_up) tie.runner_up = gap;
}

// One row of scores: elements [0, n) at a stride.
struct Row {
  const double* values;
  size_t n, stride;
  double operator[](size_t i) const { return values[i * stride]; }
};

// Picks of one row, as indices; nullopt when one is beyond it.
std::optional<std::vector<size_t>> picks_of(const std::vector<double>& all, size_t first, size_t count, size_t stride,
                                            size_t n) {
  std::vector<size_t> picks;
  for (size_t k = 0; k < count; ++k) {
    double at = all[first + k * stride];
    if (at < 0) at += static_cast<double>(n);
    if (!(at >= 0 && at < static_cast<double>(n))) return std::nullopt;
    picks.push_back(static_cast<size_t>(at));
  }
  return picks;
}

void runner_up(const Row& row, const std::vector<size_t>& picks, bool largest, DecisionTie& tie) {
  if (picks.size() >= row.n) return;
  std::vector<bool> picked(row.n, false);
  for (size_t pick : picks) picked[pick] = true;
  double last = INFINITY, next = -INFINITY;
  for (size_t i = 0; i < row.n; ++i) {
    const double value = largest ? row[i] : -row[i];
    if (picked[i])
      last = std::min(last, value);
    else
      next = std::max(next, value);
  }
  if (std::isfinite(last) && std::isfinite(next)) nearest(tie, std::max(0.0, last - next));
}

void compare_row(const Row& row, const std::vector<size_t>& reference, const std::vector<size_t>& device, bool largest,
                 bool ordered, DecisionTie& tie) {
  if (ordered) {
    for (size_t k = 0; k < reference.size(); ++k)
      if (reference[k] != device[k])
        widen(tie, std::abs(row[reference[k]] - row[device[k]]),
              std::max(std::abs(row[reference[k]]), std::abs(row[device[k]])));
    return;
  }
  const std::unordered_set<size_t> r(reference.begin(), reference.end()), d(device.begin(), device.end());
  double best = -INFINITY, worst = INFINITY, at = 0;  // of those dropped, and of those taken instead
  for (size_t pick : reference)
    if (d.count(pick) == 0) best = std::max(best, largest ? row[pick] : -row[pick]);
  for (size_t pick : device)
    if (r.count(pick) == 0) worst = std::min(worst, largest ? row[pick] : -row[pick]);
  at = std::max(std::abs(best), std::abs(worst));
  if (std::isfinite(best) && std::isfinite(worst)) widen(tie, std::abs(best - worst), at);
}

// Index into a tensor that is broadcast to `to`.
class Broadcast {
 public:
  Broadcast(const Shape& shape, const Shape& to) : stride_(to.size(), 0), to_(to) {
    size_t stride = 1;
    for (size_t back = 1; back <= shape.size() && back <= to.size(); ++back) {
      const int64_t dim = shape[shape.size() - back];
      if (dim != 1) stride_[to.size() - back] = stride;
      stride *= static_cast<size_t>(dim);
    }
  }
  static bool fits(const Shape& shape, const Shape& to) {
    if (shape.size() > to.size()) return false;
    for (size_t back = 1; back <= shape.size(); ++back)
      if (shape[shape.size() - back] != 1 && shape[shape.size() - back] != to[to.size() - back]) return false;
    return true;
  }
  size_t operator()(size_t flat) const {
    size_t at = 0;
    for (size_t i = to_.size(); i-- > 0;) {
      at += flat % static_cast<size_t>(to_[i]) * stride_[i];
      flat /= static_cast<size_t>(to_[i]);
    }
    return at;
  }

 private:
  std::vector<size_t> stride_;
  const Shape& to_;
};

Result<std::unordered_set<size_t>> flat_indices(const Tensor& coordinates, const Shape& shape) {
  std::unordered_set<size_t> flat;
  if (coordinates.shape.size() != 2 || coordinates.shape[0] != static_cast<int64_t>(shape.size()))
    return input_error("", "coordinates do not fit the tensor");
  PARITAS_ASSIGN(const auto values, doubles(coordinates));
  const auto n = static_cast<size_t>(coordinates.shape[1]);
  for (size_t i = 0; i < n; ++i) {
    size_t at = 0;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      const double c = values[axis * n + i];
      if (!(c >= 0 && c < static_cast<double>(shape[axis]))) return input_error("", "a coordinate is out of range");
      at = at * static_cast<size_t>(shape[axis]) + static_cast<size_t>(c);
    }
    flat.insert(at);
  }
  return flat;
}

class Describer {
 public:
  Describer(const Evidence& evidence, const std::vector<NodeRow>& rows, std::optional<DType> storage)
      : evidence_(evidence), rows_(rows), storage_(storage), index_(evidence.prepared->index) {}

  Status describe(DecisionReport& report) const {
    const int producer = index_.producer(report.tensor);
    if (producer < 0) return {};
    const auto behind = nodes_behind(index_, {report.tensor});
    for (const auto& output : index_.outputs()) {
      const int maker = index_.producer(output);
      if (output == report.tensor || (maker >= 0 && behind[static_cast<size_t>(maker)]))
        report.outputs.push_back(output);
    }
    report.gathers = gathers_by(index_, report.tensor, [&](const std::string& tensor) {
      auto it = evidence_.reference.find(tensor);
      return it == evidence_.reference.end() || is_float(it->second.dtype);
    });
    auto device = evidence_.marked.tensors.find(report.tensor);
    if (device == evidence_.marked.tensors.end()) return {};
    const auto& node = index_.nodes()[static_cast<size_t>(producer)];
    PARITAS_ASSIGN(DecisionTie tie, tie_of(producer, evidence_.reference.at(report.tensor), device->second));
    add_errors(node, tie);
    report.tie = std::move(tie);
    return {};
  }

 private:
  int64_t attribute(int node, const char* name, int64_t otherwise) const {
    const auto& proto = evidence_.prepared->folded.graph().node(index_.nodes()[static_cast<size_t>(node)].proto_index);
    for (const auto& a : proto.attribute())
      if (a.name() == name) return a.i();
    return otherwise;
  }

  Result<Tensor> value(const std::string& tensor) const {
    if (auto it = evidence_.reference.find(tensor); it != evidence_.reference.end()) return it->second;
    return constant_value(evidence_.prepared->folded, index_, tensor);
  }

  Result<DecisionTie> tie_of(int producer, const Tensor& reference, const Tensor& device) const {
    const auto& node = index_.nodes()[static_cast<size_t>(producer)];
    DecisionTie none;
    PARITAS_ASSIGN(const Tensor first, value(node.inputs.front()));
    if (node.op == "TopK" || node.op == "ArgMax" || node.op == "ArgMin") {
      const bool top = node.op == "TopK";
      if (reference.shape != device.shape) {
        none.not_taken = "the device picks another number";
        return none;
      }
      return tie_of_picks(first, attribute(producer, "axis", top ? -1 : 0),
                          top ? attribute(producer, "largest", 1) != 0 : node.op == "ArgMax",
                          !top || attribute(producer, "sorted", 1) != 0, reference, device);
    }
    static const std::unordered_set<std::string> comparisons = {"Greater", "GreaterOrEqual", "Less", "LessOrEqual",
                                                                "Equal"};
    if (comparisons.count(node.op) != 0 && node.inputs.size() == 2) {
      PARITAS_ASSIGN(const Tensor second, value(node.inputs[1]));
      return tie_of_comparison(first, second, reference, device);
    }
    if (node.op == "NonZero") return tie_of_nonzero(first, reference, device);
    if (node.op == "NonMaxSuppression" && node.inputs.size() >= 2) return tie_of_nms(producer, reference, device);
    none.not_taken = "no margin is defined for " + node.op;
    return none;
  }

  // An optional input of one element.
  Result<std::optional<double>> scalar(const onnx_model::GraphIndex::Node& node, size_t input) const {
    if (input >= node.inputs.size() || node.inputs[input].empty()) return std::nullopt;
    PARITAS_ASSIGN(const Tensor tensor, value(node.inputs[input]));
    PARITAS_ASSIGN(const auto values, doubles(tensor));
    if (values.size() != 1) return input_error("", "a threshold is not one number");
    return values.front();
  }

  Result<DecisionTie> tie_of_nms(int producer, const Tensor& reference, const Tensor& device) const {
    const auto& node = index_.nodes()[static_cast<size_t>(producer)];
    NmsInputs inputs;
    PARITAS_ASSIGN(inputs.boxes, value(node.inputs[0]));
    PARITAS_ASSIGN(inputs.scores, value(node.inputs[1]));
    PARITAS_ASSIGN(const auto most, scalar(node, 2));
    PARITAS_ASSIGN(const auto overlap, scalar(node, 3));
    PARITAS_ASSIGN(inputs.score_threshold, scalar(node, 4));
    // As many as can be asked for: more than there are boxes.
    inputs.most_per_class = static_cast<int64_t>(std::clamp(most.value_or(0), 0.0, 1e15));
    inputs.iou_threshold = overlap.value_or(0);
    inputs.center_point_box = attribute(producer, "center_point_box", 0) != 0;
    return tie_of_suppression(inputs, reference, device);
  }

  void add_errors(const onnx_model::GraphIndex::Node& node, DecisionTie& tie) const {
    // An overlap is made from coordinates: their errors are in another unit, so nothing is set beside it.
    const bool nms = node.op == "NonMaxSuppression";
    if (nms && std::any_of(tie.boxes.begin(), tie.boxes.end(), [](const auto& b) { return b.margin_of == "overlap"; }))
      return;
    for (const auto& input : node.inputs)
      for (const NodeRow& row : rows_) {
        if (row.tensor != input || !is_float(row.dtype) || (nms && input != node.inputs[1])) continue;
        auto raise = [](std::optional<double>& target, const PairMetrics& m) {
          target = std::max(target.value_or(0), m.nonfinite.device_only > 0 ? INFINITY : m.max_abs);
        };
        if (row.local) raise(tie.local_error, row.local->metrics);
        if (row.accumulated) raise(tie.accumulated_error, *row.accumulated);
      }
    if (storage_ && tie.margin) {
      const double exponent = tie.at > 0 ? std::floor(std::log2(tie.at)) : -INFINITY;
      tie.storage_step = std::max(epsilon(*storage_) * std::exp2(exponent), min_subnormal(*storage_));
      if (tie.at > max_finite(*storage_)) tie.storage_step = INFINITY;
    }
    tie.explained_by = explained_by(tie);
  }

  const Evidence& evidence_;
  const std::vector<NodeRow>& rows_;
  std::optional<DType> storage_;
  const onnx_model::GraphIndex& index_;
};

}  // namespace

Result<DecisionTie> tie_of_picks(const Tensor& scores, int64_t axis, bool largest, bool ordered,
                                 const Tensor& reference, const Tensor& device) {
  DecisionTie tie;
  const auto rank = static_cast<int64_t>(scores.shape.size());
  if (axis < -rank || axis >= rank) return input_error("", "the axis is beyond the scores");
  const auto at = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  PARITAS_ASSIGN(const auto x, doubles(scores));
  PARITAS_ASSIGN(const auto r, doubles(reference));
  PARITAS_ASSIGN(const auto d, doubles(device));
  const auto n = static_cast<size_t>(scores.shape[at]);
  size_t inner = 1;
  for (size_t i = at + 1; i < scores.shape.size(); ++i) inner *= static_cast<size_t>(scores.shape[i]);
  if (x.empty() || r.empty()) return tie;
  const size_t rows = x.size() / n;
  const size_t count = r.size() / rows;
  if (count * rows != r.size() || d.size() != r.size()) return input_error("", "picks do not fit the scores");
  for (size_t i = 0; i < rows; ++i) {
    const size_t outer = i / inner, column = i % inner;
    const Row row{x.data() + outer * n * inner + column, n, inner};
    const auto picked = picks_of(r, outer * count * inner + column, count, inner, n);
    const auto otherwise = picks_of(d, outer * count * inner + column, count, inner, n);
    if (!picked || !otherwise) {
      tie.not_taken = "an index lies beyond the scores";
      continue;
    }
    runner_up(row, *picked, largest, tie);
    compare_row(row, *picked, *otherwise, largest, ordered, tie);
  }
  return tie;
}

Result<DecisionTie> tie_of_comparison(const Tensor& left, const Tensor& right, const Tensor& reference,
                                      const Tensor& device) {
  DecisionTie tie;
  if (reference.shape != device.shape || !Broadcast::fits(left.shape, reference.shape) ||
      !Broadcast::fits(right.shape, reference.shape)) {
    tie.not_taken = "shapes differ";
    return tie;
  }
  PARITAS_ASSIGN(const auto a, doubles(left));
  PARITAS_ASSIGN(const auto b, doubles(right));
  PARITAS_ASSIGN(const auto r, doubles(reference));
  PARITAS_ASSIGN(const auto d, doubles(device));
  const Broadcast left_at(left.shape, reference.shape), right_at(right.shape, reference.shape);
  for (size_t i = 0; i < r.size(); ++i) {
    const double x = a[left_at(i)], y = b[right_at(i)];
    const double gap = std::abs(x - y);
    if (!std::isfinite(gap)) continue;
    nearest(tie, gap);
    if ((r[i] != 0) != (d[i] != 0)) widen(tie, gap, std::max(std::abs(x), std::abs(y)));
  }
  return tie;
}

Result<DecisionTie> tie_of_nonzero(const Tensor& scores, const Tensor& reference, const Tensor& device) {
  DecisionTie tie;
  PARITAS_ASSIGN(const auto x, doubles(scores));
  PARITAS_ASSIGN(const auto r, flat_indices(reference, scores.shape));
  PARITAS_ASSIGN(const auto d, flat_indices(device, scores.shape));
  for (size_t i = 0; i < x.size(); ++i) {
    if (r.count(i) != 0) nearest(tie, std::abs(x[i]));
    if (r.count(i) != d.count(i)) widen(tie, std::abs(x[i]), x[i]);
  }
  return tie;
}

std::string explained_by(const DecisionTie& tie) {
  if (!tie.margin) return {};
  // Each of two values is off by half a step at most.
  if (tie.storage_step && *tie.margin <= *tie.storage_step) return "storage";
  if (tie.local_error && *tie.margin <= 2 * *tie.local_error) return "local";
  if (tie.accumulated_error && *tie.margin <= 2 * *tie.accumulated_error) return "accumulated";
  return tie.accumulated_error ? "nothing" : "";
}

std::vector<std::string> gathers_by(const onnx_model::GraphIndex& index, const std::string& decision,
                                    const std::function<bool(const std::string& tensor)>& is_float_tensor) {
  static const std::unordered_set<std::string> gathering = {
      "Gather", "GatherElements", "GatherND", "ScatterElements", "ScatterND", "Scatter", "Compress", "Where", "OneHot"};
  std::unordered_set<std::string> reached = {decision};
  std::vector<std::string> found;
  for (const auto& node : index.nodes()) {  // topological order: one pass is enough
    const bool reads = std::any_of(node.inputs.begin(), node.inputs.end(),
                                   [&](const std::string& input) { return reached.count(input) != 0; });
    if (!reads) continue;
    if (gathering.count(node.op) != 0) found.push_back(node.name);
    for (const auto& output : node.outputs)
      if (!is_float_tensor(output)) reached.insert(output);
  }
  return found;
}

Status describe_decisions(const Evidence& evidence, const std::vector<NodeRow>& rows, std::optional<DType> storage,
                          std::vector<DecisionReport>& decisions) {
  const Describer describer(evidence, rows, storage);
  for (DecisionReport& decision : decisions)
    if (auto status = describer.describe(decision); !status) {
      // One odd operator must not end the diagnosis.
      decision.tie = DecisionTie{};
      decision.tie->not_taken = status.error().cause;
    }
  return {};
}

}  // namespace paritas
