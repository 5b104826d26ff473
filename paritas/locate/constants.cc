#include "paritas/locate/constants.h"

namespace paritas {

Result<std::unordered_map<std::string, StorageBaseline>> constants_out_of_range(const Prepared& prepared, DType storage,
                                                                                int threads) {
  std::unordered_map<std::string, StorageBaseline> found;
  for (const auto& initializer : prepared.folded.graph().initializer()) {
    const auto dtype = dtype_from_onnx(initializer.data_type());
    if (!dtype || !is_float(*dtype)) continue;
    PARITAS_ASSIGN(const Tensor value, prepared.folded.tensor(initializer));
    MetricOptions options;
    options.storage_type = storage;
    options.threads = threads;
    PARITAS_ASSIGN(const PairMetrics metrics, compare_tensors(value, value, options));
    if (metrics.storage && (metrics.storage->overflowed > 0 || metrics.storage->subnormal > 0))
      found.emplace(initializer.name(), *metrics.storage);
  }
  return found;
}

}  // namespace paritas
