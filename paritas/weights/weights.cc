#include "paritas/weights/weights.h"

#include "paritas/tflite/model.h"
#include "paritas/weights/read_onnx.h"

namespace paritas {
namespace {

bool is_weight(DType dtype, bool quantised) {
  if (is_float(dtype)) return true;
  return quantised && dtype != DType::kI64 && dtype != DType::kU64 && dtype != DType::kBool;
}

Quantisation widened(const tflite::Quantisation& q) { return {{q.scale.begin(), q.scale.end()}, q.zero_point, q.axis}; }

Result<Weights> weights_of_tflite(const Path& path) {
  PARITAS_ASSIGN(const tflite::Model model, tflite::Model::load(path));
  Weights result;
  result.subject = model.subject();
  std::vector<bool> taken(model.main().tensors.size(), false);
  for (const tflite::Op& op : model.main().ops)
    for (size_t i = 0; i < op.inputs.size(); ++i) {
      if (op.inputs[i] < 0) continue;
      const auto index = static_cast<size_t>(op.inputs[i]);
      const tflite::GraphTensor& tensor = model.main().tensors[index];
      if (taken[index] || !(tensor.constant || tensor.elsewhere)) continue;
      taken[index] = true;
      if (tensor.dtype && !is_weight(*tensor.dtype, tensor.quantisation.has_value())) continue;
      auto value = model.constant(0, tensor.index);
      if (!value) {
        result.unread.emplace_back(tensor.id, value.error().cause);
        continue;
      }
      Weight weight{tensor.id, {}, std::move(*value), {}, op.label(), op.name, static_cast<int>(i)};
      if (tensor.quantisation) weight.quantisation = widened(*tensor.quantisation);
      result.weights.push_back(std::move(weight));
    }
  return result;
}

}  // namespace

Result<Weights> weights_of(const Path& model) {
  return tflite::is_tflite(model) ? weights_of_tflite(model) : weights_of_onnx(model);
}

}  // namespace paritas
