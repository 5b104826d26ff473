#include "paritas/locate/softmax_range.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "paritas/locate/reduction.h"
#include "paritas/onnx/op_facts.h"
#include "paritas/tensor/float_formats.h"

namespace paritas {
namespace {

constexpr double kWeight = 1e-7;

struct Sums {
  SoftmaxLoss loss;
  double energy = 0, lost = 0;

  void result(double exact, double stored) {
    if (!std::isfinite(exact)) return;
    if (!std::isfinite(stored)) {
      ++loss.result_nonfinite;
      return;
    }
    energy += exact * exact;
    lost += (stored - exact) * (stored - exact);
  }
};

// In place: the logarithm of each element's weight.
void log_softmax(std::vector<double>& row) {
  const double largest = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (const double value : row) sum += std::exp(value - largest);
  const double log_sum = std::log(sum);
  for (double& value : row) value = value - largest - log_sum;
}

}  // namespace

Result<std::optional<SoftmaxLoss>> softmax_loss(const ::onnx::NodeProto& node, int64_t opset, const Tensor& operand,
                                                const std::function<double(double)>& store) {
  const bool log = node.op_type() == "LogSoftmax";
  if (!onnx_model::is_onnx_domain(node) || (node.op_type() != "Softmax" && !log) || operand.count() == 0)
    return std::nullopt;
  int64_t given = opset < 13 ? 1 : -1;
  for (const auto& attribute : node.attribute())
    if (attribute.name() == "axis") given = attribute.i();
  const auto axis = axis_of(given, operand.shape.size());
  if (!axis) return std::nullopt;
  PARITAS_ASSIGN(const TensorView x, TensorView::of(operand));
  Sums sums;
  // Before opset 13 everything from the axis on is one row.
  for_rows(x, reduction_of(operand.shape, *axis, opset < 13 ? operand.shape.size() - 1 : *axis),
           [&](std::vector<double>& row) {
             if (row.empty()) return;
             std::vector<double> stored = row;
             for (double& value : stored)
               if (std::isfinite(value)) value = store(value);
             const std::vector<double> given_row = row;
             log_softmax(row);
             log_softmax(stored);
             const double top = *std::max_element(row.begin(), row.end());
             for (size_t i = 0; i < row.size(); ++i) {
               if (std::isfinite(given_row[i]) && row[i] - top >= std::log(kWeight))
                 sums.loss.weighted_max_abs = std::max(sums.loss.weighted_max_abs, std::abs(given_row[i]));
               sums.result(log ? row[i] : std::exp(row[i]), log ? stored[i] : std::exp(stored[i]));
             }
           });
  sums.loss.result_loss = sums.energy > 0 ? sums.lost / sums.energy : sums.lost > 0 ? INFINITY : 0;
  return sums.loss;
}

}  // namespace paritas
