// Prints what compare_tensors says, for metrics_numpy.py.
//
//   paritas-metrics-dump MANIFEST
//
// MANIFEST has a line per case: name, reference dtype, reference file, device dtype, device file, count, threads, atol,
// rtol, rel_floor, storage dtype (or -). The files hold bare elements. A JSON object per case goes to standard output;
// numbers have 17 digits, and those that are not finite are strings.
#include <cmath>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "paritas/base/json.h"
#include "paritas/metrics/pair_metrics.h"

namespace paritas {
namespace {

Result<Tensor> tensor(const std::string& dtype_name, const std::string& path, int64_t count) {
  const auto dtype = dtype_from_name(dtype_name);
  if (!dtype) return usage_error(dtype_name, "unknown dtype");
  PARITAS_ASSIGN(const auto file, File::open(path));
  return make_tensor(*dtype, {count}, Bytes::in_file(file, 0, file->size()), path);
}

Json to_json(const PairMetrics& m) {
  Json j;
  j["count"] = m.count;
  j["finite"] = m.finite;
  j["differing"] = m.differing;
  const NonfiniteCounts& n = m.nonfinite;
  j["nonfinite"] = {n.nan_nan, n.nan_other, n.same_inf, n.opposite_inf, n.inf_finite, n.device_only, n.reference_nan};
  const std::pair<const char*, double> numbers[] = {{"max_abs", m.max_abs},
                                                    {"max_abs_reference", m.max_abs_reference},
                                                    {"max_abs_device", m.max_abs_device},
                                                    {"mean_abs", m.mean_abs},
                                                    {"mse", m.mse},
                                                    {"rmse", m.rmse},
                                                    {"nmse", m.nmse},
                                                    {"sqnr_db", m.sqnr_db},
                                                    {"cosine_distance", m.cosine_distance},
                                                    {"cosine", m.cosine},
                                                    {"scale_ratio", m.scale_ratio},
                                                    {"max_rel", m.max_rel},
                                                    {"reference_min", m.reference_min},
                                                    {"reference_max", m.reference_max},
                                                    {"reference_max_abs", m.reference_max_abs},
                                                    {"device_min", m.device_min},
                                                    {"device_max", m.device_max},
                                                    {"device_max_abs", m.device_max_abs},
                                                    {"reference_norm", m.reference_norm},
                                                    {"error_norm", m.error_norm},
                                                    {"worst_outside", m.worst_outside}};
  for (const auto& [key, value] : numbers) j[key] = json_number(value);
  j["max_abs_index"] = m.max_abs_index;
  j["zero_norm"] = m.zero_norm;
  if (m.max_ulp) j["max_ulp"] = *m.max_ulp;
  if (m.max_integer_difference) j["max_integer_difference"] = *m.max_integer_difference;
  if (m.outside) j["outside"] = *m.outside;
  if (m.abs_quantiles)
    for (double q : *m.abs_quantiles) j["abs_quantiles"].push_back(json_number(q));
  if (m.storage) {
    const StorageBaseline& s = *m.storage;
    j["storage"] = {{"max_abs", json_number(s.max_abs)},
                    {"rms", json_number(s.rms)},
                    {"overflowed", s.overflowed},
                    {"max_over_limit", json_number(s.max_over_limit)},
                    {"subnormal", s.subnormal},
                    {"flushed", s.flushed},
                    {"lost_energy", json_number(s.lost_energy)}};
  }
  return j;
}

Result<Json> run(std::istringstream& line) {
  std::string name, x_type, x_path, y_type, y_path, storage;
  int64_t count = 0;
  MetricOptions options;
  double atol = 0, rtol = 0;
  line >> name >> x_type >> x_path >> y_type >> y_path >> count >> options.threads >> atol >> rtol >>
      options.rel_floor >> storage;
  if (!line) return usage_error("manifest", "a line is not complete");
  options.atol = atol;
  options.rtol = rtol;
  options.quantiles = true;
  if (storage != "-") options.storage_type = dtype_from_name(storage);
  PARITAS_ASSIGN(const Tensor x, tensor(x_type, x_path, count));
  PARITAS_ASSIGN(const Tensor y, tensor(y_type, y_path, count));
  PARITAS_ASSIGN(const PairMetrics metrics, compare_tensors(x, y, options));
  Json j = to_json(metrics);
  j["name"] = name;
  return j;
}

}  // namespace
}  // namespace paritas

int main(int argc, char** argv) {
  std::ifstream manifest(argc == 2 ? argv[1] : "");
  if (!manifest) {
    fmt::print(stderr, "usage: {} MANIFEST\n", argv[0]);
    return 2;
  }
  std::string text;
  while (std::getline(manifest, text)) {
    std::istringstream line(text);
    const auto result = paritas::run(line);
    if (!result) {
      fmt::print(stderr, "{}\n", result.error().message());
      return 3;
    }
    fmt::print("{}\n", paritas::dump_json(*result, -1));
  }
  return 0;
}
