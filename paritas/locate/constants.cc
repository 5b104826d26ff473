#include "paritas/locate/constants.h"

namespace paritas {

std::vector<std::pair<std::string, const ::onnx::TensorProto*>> constants_of(const ::onnx::GraphProto& graph) {
  std::vector<std::pair<std::string, const ::onnx::TensorProto*>> all;
  for (const auto& initializer : graph.initializer()) all.emplace_back(initializer.name(), &initializer);
  for (const auto& node : graph.node()) {
    if (node.op_type() != "Constant" || node.output_size() != 1) continue;
    for (const auto& attribute : node.attribute())
      if (attribute.name() == "value" && attribute.has_t()) all.emplace_back(node.output(0), &attribute.t());
  }
  return all;
}

Result<std::unordered_map<std::string, StorageBaseline>> constants_out_of_range(const Prepared& prepared, DType storage,
                                                                                int threads) {
  std::unordered_map<std::string, StorageBaseline> found;
  for (const auto& [name, proto] : constants_of(prepared.folded.graph())) {
    const auto dtype = dtype_from_onnx(proto->data_type());
    if (!dtype || !is_float(*dtype)) continue;
    PARITAS_ASSIGN(const Tensor value, prepared.folded.tensor(*proto));
    MetricOptions options;
    options.storage_type = storage;
    options.threads = threads;
    PARITAS_ASSIGN(const PairMetrics metrics, compare_tensors(value, value, options));
    if (metrics.storage && (metrics.storage->overflowed > 0 || metrics.storage->subnormal > 0))
      found.emplace(name, *metrics.storage);
  }
  return found;
}

}  // namespace paritas
