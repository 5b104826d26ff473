#include "paritas/locate/hidden.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <unordered_map>

#include "paritas/locate/reduction.h"
#include "paritas/onnx/op_facts.h"
#include "paritas/tensor/float_formats.h"

namespace paritas {
namespace {

int64_t int_attribute(const ::onnx::NodeProto& node, const std::string& name, int64_t otherwise) {
  for (const auto& attribute : node.attribute())
    if (attribute.name() == name) return attribute.i();
  return otherwise;
}

double float_attribute(const ::onnx::NodeProto& node, const std::string& name, double otherwise) {
  for (const auto& attribute : node.attribute())
    if (attribute.name() == name) return static_cast<double>(attribute.f());
  return otherwise;
}

std::string text_attribute(const ::onnx::NodeProto& node, const std::string& name) {
  for (const auto& attribute : node.attribute())
    if (attribute.name() == name) return attribute.s();
  return {};
}

// A value that is kept in the format, and the results that are made from it.
class Keeping {
 public:
  Keeping(std::string what, DType format) : format_(format) { figures_.what = std::move(what); }

  double keep(double value) {
    if (!std::isfinite(value)) return value;
    const double kept = round_to_format(value, format_);
    const double magnitude = std::abs(value);
    ++figures_.values;
    figures_.max_abs = std::max(figures_.max_abs, magnitude);
    figures_.overflowed += !std::isfinite(kept);
    if (magnitude > 0 && magnitude < min_normal(format_)) {
      ++figures_.subnormal;
      figures_.flushed += kept == 0;
    }
    return kept;
  }
  void result(double exact, double with_kept) {
    if (!std::isfinite(exact)) return;
    if (!std::isfinite(with_kept)) {
      ++figures_.result_nonfinite;
      return;
    }
    energy_ += exact * exact;
    loss_ += (with_kept - exact) * (with_kept - exact);
  }
  HiddenFigures finish() {
    figures_.result_loss = energy_ > 0 ? loss_ / energy_ : loss_ > 0 ? INFINITY : 0;
    return figures_;
  }

 private:
  DType format_;
  HiddenFigures figures_;
  double energy_ = 0, loss_ = 0;
};

using Row = std::vector<double>;

// --- normalisations -----------------------------------------------------------------------------------------------

struct Normalisation {
  Reduction reduction;
  bool subtract_mean = true;
  double epsilon = 1e-5;
};

HiddenFigures mean_square(const TensorView& x, const TensorView* added, const Normalisation& norm, DType format) {
  Keeping keeping("mean square", format);
  uint64_t at = 0;
  Row other(norm.reduction.length);
  for_rows(x, norm.reduction, [&](Row& row) {
    if (added != nullptr) {
      load_as_double(added->dtype(), added->bytes(), at, other);
      for (size_t i = 0; i < row.size(); ++i) row[i] += other[i];
      at += row.size();
    }
    const auto count = static_cast<double>(row.size());
    double mean = 0, square = 0;
    if (norm.subtract_mean) {
      for (const double value : row) mean += value / count;
      for (double& value : row) value -= mean;
    }
    for (const double value : row) square += value * value / count;
    const double kept = keeping.keep(square);
    for (const double value : row)
      keeping.result(value / std::sqrt(square + norm.epsilon), value / std::sqrt(kept + norm.epsilon));
  });
  return keeping.finish();
}

std::optional<Normalisation> normalisation_of(const ::onnx::NodeProto& node, const Shape& shape) {
  const std::string& op = node.op_type();
  Normalisation norm;
  norm.epsilon = float_attribute(node, "epsilon", op.starts_with("Skip") ? 1e-12 : 1e-5);
  norm.subtract_mean = op.find("Simplified") == std::string::npos && op != "RMSNormalization";
  if (op == "InstanceNormalization") {
    if (shape.size() < 3) return std::nullopt;
    norm.reduction = reduction_of(shape, 2, shape.size() - 1);
  } else if (op == "GroupNormalization") {
    const int64_t groups = int_attribute(node, "num_groups", 0);
    if (shape.size() < 2 || groups <= 0 || shape[1] % groups != 0) return std::nullopt;
    norm.reduction = reduction_of(shape, 1, shape.size() - 1);
    norm.reduction.outer *= static_cast<uint64_t>(groups);
    norm.reduction.length /= static_cast<uint64_t>(groups);
  } else {
    const auto axis = axis_of(int_attribute(node, "axis", -1), shape.size());
    if (!axis) return std::nullopt;
    norm.reduction = reduction_of(shape, *axis, shape.size() - 1);
  }
  return norm;
}

using Inputs = std::vector<const Tensor*>;
using Found = Result<std::vector<HiddenFigures>>;

Found of_normalisation(const ::onnx::NodeProto& node, const Inputs& inputs, DType format) {
  const auto norm = normalisation_of(node, inputs[0]->shape);
  if (!norm) return std::vector<HiddenFigures>{};
  PARITAS_ASSIGN(const TensorView x, TensorView::of(*inputs[0]));
  std::optional<TensorView> added;
  if (node.op_type().starts_with("Skip")) {
    // A broadcast skip and the optional bias are not looked into.
    const bool biased = inputs.size() > 4 && !node.input(4).empty();
    if (inputs.size() < 2 || inputs[1] == nullptr || inputs[1]->shape != inputs[0]->shape || biased)
      return std::vector<HiddenFigures>{};
    PARITAS_ASSIGN(added, TensorView::of(*inputs[1]));
  }
  return std::vector{mean_square(x, added ? &*added : nullptr, *norm, format)};
}

// The variance that a BatchNormalization reads: a constant, but what comes of it depends on the input.
Found of_batch_normalization(const ::onnx::NodeProto& node, const Inputs& inputs, DType format) {
  const Shape& shape = inputs[0]->shape;
  if (inputs.size() < 5 || shape.size() < 2) return std::vector<HiddenFigures>{};
  const auto channels = static_cast<uint64_t>(shape[1]);
  std::vector<Row> parameters;  // scale, bias, mean, variance
  for (size_t i = 1; i < 5; ++i) {
    if (inputs[i] == nullptr || inputs[i]->count() != channels) return std::vector<HiddenFigures>{};
    PARITAS_ASSIGN(const TensorView view, TensorView::of(*inputs[i]));
    load_as_double(view.dtype(), view.bytes(), 0, parameters.emplace_back(channels));
  }
  PARITAS_ASSIGN(const TensorView x, TensorView::of(*inputs[0]));
  const double epsilon = float_attribute(node, "epsilon", 1e-5);
  Keeping keeping("variance", format);
  Row kept(channels);
  for (size_t c = 0; c < channels; ++c) kept[c] = keeping.keep(parameters[3][c]);
  uint64_t row_number = 0;
  for_rows(x, reduction_of(shape, 2, shape.size() - 1), [&](Row& row) {
    const size_t c = row_number++ % channels;
    for (const double value : row) {
      const double scaled = parameters[0][c] * (value - parameters[2][c]);
      keeping.result(scaled / std::sqrt(parameters[3][c] + epsilon) + parameters[1][c],
                     scaled / std::sqrt(kept[c] + epsilon) + parameters[1][c]);
    }
  });
  return std::vector{keeping.finish()};
}

// |x|^p summed along an axis: LpNormalization.
Found of_lp_normalization(const ::onnx::NodeProto& node, const Inputs& inputs, DType format) {
  const auto axis = axis_of(int_attribute(node, "axis", -1), inputs[0]->shape.size());
  const int64_t p = int_attribute(node, "p", 2);
  if (!axis || (p != 1 && p != 2)) return std::vector<HiddenFigures>{};
  PARITAS_ASSIGN(const TensorView x, TensorView::of(*inputs[0]));
  Keeping keeping(p == 1 ? "sum of magnitudes" : "sum of squares", format);
  for_rows(x, reduction_of(inputs[0]->shape, *axis, *axis), [&](Row& row) {
    double sum = 0;
    for (const double value : row) sum += p == 1 ? std::abs(value) : value * value;
    const double kept = keeping.keep(sum);
    const auto norm = [p](double of) { return p == 1 ? of : std::sqrt(of); };
    for (const double value : row) keeping.result(value / norm(sum), value / norm(kept));
  });
  return std::vector{keeping.finish()};
}

// --- Softmax ------------------------------------------------------------------------------------------------------

Found of_softmax(const ::onnx::NodeProto& node, int64_t opset, const Inputs& inputs, DType format) {
  const Shape& shape = inputs[0]->shape;
  const auto axis = axis_of(int_attribute(node, "axis", opset < 13 ? 1 : -1), shape.size());
  if (!axis) return std::vector<HiddenFigures>{};
  PARITAS_ASSIGN(const TensorView x, TensorView::of(*inputs[0]));
  const bool log = node.op_type() == "LogSoftmax";
  Keeping keeping("exp(x - max)", format);
  // Before opset 13 everything from the axis on is one row.
  for_rows(x, reduction_of(shape, *axis, opset < 13 ? shape.size() - 1 : *axis), [&](Row& row) {
    if (row.empty()) return;
    const double largest = *std::max_element(row.begin(), row.end());
    double sum = 0, kept_sum = 0;
    Row kept(row.size());
    for (size_t i = 0; i < row.size(); ++i) {
      const double exact = std::exp(row[i] - largest);
      kept[i] = keeping.keep(exact);
      sum += exact;
      kept_sum += kept[i];
    }
    for (size_t i = 0; i < row.size(); ++i) {
      if (log)
        keeping.result(row[i] - largest - std::log(sum), row[i] - largest - std::log(kept_sum));
      else
        keeping.result(std::exp(row[i] - largest) / sum, kept[i] / kept_sum);
    }
  });
  return std::vector{keeping.finish()};
}

// --- element by element -------------------------------------------------------------------------------------------

struct Pointwise {
  const char* what;
  double (*hidden)(double x);
  double (*result)(double x, double hidden);
};

double tanh_gelu(double x, double cube) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * cube)));
}

constexpr Pointwise kSigmoidForm = {"exp(-x)", [](double x) { return std::exp(-x); },
                                    [](double, double hidden) { return 1 / (1 + hidden); }};
constexpr Pointwise kSoftplusForm = {"exp(x)", [](double x) { return std::exp(x); },
                                     [](double, double hidden) { return std::log1p(hidden); }};
constexpr Pointwise kGeluForm = {"x^3", [](double x) { return x * x * x; }, tanh_gelu};

constexpr uint64_t kPiece = 65536;  // elements read at a time

Found of_pointwise(const Pointwise& form, const Tensor& input, DType format) {
  PARITAS_ASSIGN(const TensorView x, TensorView::of(input));
  Keeping keeping(form.what, format);
  Row values;
  for (uint64_t first = 0; first < x.count(); first += kPiece) {
    values.resize(std::min(kPiece, x.count() - first));
    load_as_double(x.dtype(), x.bytes(), first, values);
    for (const double value : values) {
      const double hidden = form.hidden(value);
      const double kept = keeping.keep(hidden);
      keeping.result(form.result(value, hidden), form.result(value, kept));
    }
  }
  return std::vector{keeping.finish()};
}

// x^n, also where the reference's own type cannot hold it. Only for one exponent for all.
Found of_pow(const Inputs& inputs, DType format) {
  if (inputs.size() < 2 || inputs[1] == nullptr || inputs[1]->count() != 1) return std::vector<HiddenFigures>{};
  PARITAS_ASSIGN(const TensorView x, TensorView::of(*inputs[0]));
  PARITAS_ASSIGN(const TensorView n, TensorView::of(*inputs[1]));
  Row exponent(1);
  load_as_double(n.dtype(), n.bytes(), 0, exponent);
  Keeping keeping("x^n", format);
  Row values;
  for (uint64_t first = 0; first < x.count(); first += kPiece) {
    values.resize(std::min(kPiece, x.count() - first));
    load_as_double(x.dtype(), x.bytes(), first, values);
    for (const double value : values) {
      const double power = std::pow(value, exponent[0]);
      keeping.result(power, keeping.keep(power));
    }
  }
  return std::vector{keeping.finish()};
}

enum class Kind { kNormalisation, kBatchNormalization, kLpNormalization, kSoftmax, kSigmoid, kSoftplus, kGelu, kPow };

// An operator of ONNX and one of com.microsoft with the same name mean the same here.
std::optional<Kind> kind_of(const ::onnx::NodeProto& node) {
  static const std::unordered_map<std::string, Kind> kKinds = {
      {"LayerNormalization", Kind::kNormalisation},
      {"RMSNormalization", Kind::kNormalisation},
      {"SimplifiedLayerNormalization", Kind::kNormalisation},
      {"SkipLayerNormalization", Kind::kNormalisation},
      {"SkipSimplifiedLayerNormalization", Kind::kNormalisation},
      {"InstanceNormalization", Kind::kNormalisation},
      {"GroupNormalization", Kind::kNormalisation},
      {"BatchNormalization", Kind::kBatchNormalization},
      {"LpNormalization", Kind::kLpNormalization},
      {"Softmax", Kind::kSoftmax},
      {"LogSoftmax", Kind::kSoftmax},
      {"Sigmoid", Kind::kSigmoid},
      {"Softplus", Kind::kSoftplus},
      {"FastGelu", Kind::kGelu},
      {"Gelu", Kind::kGelu},
      {"Pow", Kind::kPow}};
  if (!onnx_model::is_onnx_domain(node) && node.domain() != "com.microsoft") return std::nullopt;
  const auto found = kKinds.find(node.op_type());
  if (found == kKinds.end()) return std::nullopt;
  if (node.op_type() == "Gelu" && text_attribute(node, "approximate") != "tanh") return std::nullopt;
  if (node.op_type() == "FastGelu" && node.input_size() > 1) return std::nullopt;  // a bias is added first
  return found->second;
}

}  // namespace

bool has_hidden_values(const ::onnx::NodeProto& node) { return kind_of(node).has_value(); }

Found hidden_values(const ::onnx::NodeProto& node, int64_t opset, const Inputs& inputs, DType format) {
  const auto kind = kind_of(node);
  if (!kind || inputs.empty() || inputs[0] == nullptr || !is_float(inputs[0]->dtype) || inputs[0]->count() == 0)
    return std::vector<HiddenFigures>{};
  switch (*kind) {
    case Kind::kNormalisation:
      return of_normalisation(node, inputs, format);
    case Kind::kBatchNormalization:
      return of_batch_normalization(node, inputs, format);
    case Kind::kLpNormalization:
      return of_lp_normalization(node, inputs, format);
    case Kind::kSoftmax:
      return of_softmax(node, opset, inputs, format);
    case Kind::kSigmoid:
      return of_pointwise(kSigmoidForm, *inputs[0], format);
    case Kind::kSoftplus:
      return of_pointwise(kSoftplusForm, *inputs[0], format);
    case Kind::kGelu:
      return of_pointwise(kGeluForm, *inputs[0], format);
    case Kind::kPow:
      return of_pow(inputs, format);
  }
  return std::vector<HiddenFigures>{};
}

}  // namespace paritas
