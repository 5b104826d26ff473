#include "paritas/locate/probe_checks.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "paritas/base/threads.h"
#include "paritas/locate/graph_patterns.h"

namespace paritas {
namespace {

// rms of what is left when rounding the result is taken off, as independent errors.
double beyond(double rms, double storage_rms) {
  return std::sqrt(std::max(0.0, rms * rms - storage_rms * storage_rms));
}

Result<ProbeFigures> figures_of(const CheckInput& input, const NodeRow& row) {
  const PairMetrics& m = row.local->metrics;
  ProbeFigures f;
  f.node = row.name;
  f.op = row.op;
  f.tensor = row.tensor;
  f.island = row.local->island;
  f.max_abs = m.max_abs;
  f.mean_abs = m.mean_abs;
  f.rms = m.rmse;
  f.representable = row.local->representable && m.nonfinite.device_only == 0;
  if (m.storage) {
    f.storage_max = m.storage->max_abs;
    f.storage_rms = m.storage->rms;
  }
  auto rounded = input.evidence.rounded_inputs.find(row.tensor);
  const Tensor* local = input.local(row.tensor);
  if (rounded == input.evidence.rounded_inputs.end() || rounded->second.shape != row.shape || local == nullptr)
    return f;
  PARITAS_ASSIGN(const PairMetrics in, compare_tensors(input.evidence.reference.at(row.tensor), rounded->second, {}));
  f.input_max = in.nonfinite.device_only > 0 ? INFINITY : in.max_abs;
  f.input_rms = in.nonfinite.device_only > 0 ? INFINITY : in.rmse;
  if (!f.representable || in.nonfinite.device_only > 0) return f;
  MetricOptions options;
  options.storage_type = input.storage;
  PARITAS_ASSIGN(const PairMetrics kernel, compare_tensors(rounded->second, *local, options));
  if (kernel.finite != kernel.count) return f;
  f.kernel_max = kernel.max_abs;
  f.kernel_rms = kernel.storage ? beyond(kernel.rmse, kernel.storage->rms) : kernel.rmse;
  f.remainder = std::max(0.0, f.max_abs - f.storage_max - *f.input_max);
  return f;
}

// Does something outside of `path` read the tensor, or is it an output of the graph?
bool leaves(const NodeRow& row, const std::string& path, const onnx_model::GraphIndex& index) {
  if (index.is_output(row.tensor)) return true;
  const auto& readers = index.consumers(row.tensor);
  return std::any_of(readers.begin(), readers.end(), [&](int reader) {
    return index.nodes()[static_cast<size_t>(reader)].name.rfind(path + "/", 0) != 0;
  });
}

void add(BlockFigures& block, const NodeRow& row, const onnx_model::GraphIndex& index) {
  ++block.tensors;
  if (row.local) {
    ++block.probed;
    const PairMetrics& m = row.local->metrics;
    if (m.nonfinite.device_only > 0) {
      if (block.device_only++ == 0) block.worst = row.name;
    } else if (std::isfinite(m.nmse)) {
      block.nmse_sum += m.nmse;
      if (m.nmse > block.nmse_max && block.device_only == 0) block.worst = row.name;
      block.nmse_max = std::max(block.nmse_max, m.nmse);
    }
    if (row.local->x_baseline) block.x_storage_max = std::max(block.x_storage_max, *row.local->x_baseline);
  }
  if (const PairMetrics* accumulated = row.best_accumulated(); accumulated != nullptr && leaves(row, block.path, index))
    block.accumulated_out =
        std::max(block.accumulated_out, accumulated->nonfinite.device_only > 0 ? INFINITY : accumulated->nmse);
}

}  // namespace

const NodeRow* CheckInput::row(const std::string& tensor) const {
  auto it = std::find_if(rows.begin(), rows.end(), [&](const NodeRow& r) { return r.tensor == tensor; });
  return it == rows.end() ? nullptr : &*it;
}

const Tensor* CheckInput::local(const std::string& tensor) const {
  auto it = evidence.probes.local.find(tensor);
  auto reference = evidence.reference.find(tensor);
  if (it == evidence.probes.local.end() || reference == evidence.reference.end()) return nullptr;
  return it->second.shape == reference->second.shape ? &it->second : nullptr;
}

Result<Tensor> CheckInput::value(const std::string& tensor) const {
  if (auto it = evidence.reference.find(tensor); it != evidence.reference.end()) return it->second;
  return constant_value(evidence.prepared->folded, evidence.prepared->index, tensor);
}

std::string CheckInput::island(const std::string& tensor, const std::vector<int>& nodes, bool& whole) const {
  for (const auto& island : evidence.islands) {
    if (std::find(island.outputs.begin(), island.outputs.end(), tensor) == island.outputs.end()) continue;
    whole = std::includes(island.nodes.begin(), island.nodes.end(), nodes.begin(), nodes.end());
    return island.name;
  }
  whole = false;
  return {};
}

std::string module_path(const std::string& node) {
  const size_t slash = node.rfind('/');
  return slash == std::string::npos ? std::string() : node.substr(0, slash);
}

std::vector<BlockFigures> roll_up(const std::vector<NodeRow>& rows, const onnx_model::GraphIndex& index) {
  std::vector<BlockFigures> blocks;
  std::unordered_map<std::string, size_t> at;
  for (const NodeRow& row : rows) {
    if (!is_float(row.dtype)) continue;
    const std::string path = module_path(row.name);
    int depth = 0;
    for (size_t end = path.find('/', 1); !path.empty(); end = path.find('/', end + 1)) {
      const std::string outer = path.substr(0, end);
      ++depth;
      auto [it, fresh] = at.emplace(outer, blocks.size());
      if (fresh) {
        blocks.emplace_back();
        blocks.back().path = outer;
        blocks.back().depth = depth;
      }
      add(blocks[it->second], row, index);
      if (end == std::string::npos) break;
    }
  }
  return blocks;
}

Result<std::vector<ProbeFigures>> probe_figures(const CheckInput& input, int threads) {
  std::vector<const NodeRow*> probed;
  for (const NodeRow& row : input.rows)
    if (row.local) probed.push_back(&row);
  std::vector<ProbeFigures> figures(probed.size());
  std::vector<std::optional<Error>> errors(probed.size());
  parallel_for(probed.size(), threads, [&](size_t i, int) {
    auto made = figures_of(input, *probed[i]);
    if (made)
      figures[i] = std::move(*made);
    else
      errors[i] = made.error();
  });
  for (auto& error : errors)
    if (error) return tl::make_unexpected(std::move(*error));
  return figures;
}

Result<ProbeChecks> check_probes(const Evidence& evidence, const std::vector<NodeRow>& rows,
                                 std::optional<DType> storage, int threads) {
  const CheckInput input{evidence, rows, storage};
  ProbeChecks checks;
  PARITAS_ASSIGN(checks.probes, probe_figures(input, threads));
  checks.blocks = roll_up(rows, evidence.prepared->index);
  PARITAS_TRY(add_softmax(input, checks));
  PARITAS_TRY(add_norms(input, checks));
  PARITAS_TRY(add_sums(input, checks));
  return checks;
}

}  // namespace paritas
