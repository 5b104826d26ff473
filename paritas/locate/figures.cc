#include "paritas/locate/figures.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include <fmt/format.h>

#include "paritas/base/threads.h"
#include "paritas/locate/decisions.h"
#include "paritas/recording/named_tensors.h"

namespace paritas {
namespace {

class RowMaker {
 public:
  RowMaker(const Evidence& evidence, std::optional<DType> storage) : evidence_(evidence), storage_(storage) {
    for (const auto& island : evidence.islands) {
      for (const auto& output : island.outputs) island_of_tensor_[output] = &island;
      for (int node : island.nodes) island_of_node_[node] = &island;
    }
    for (const DecisionReport& decision : evidence.decisions) decisions_.insert(decision.tensor);
  }

  // Everything but the metrics.
  std::vector<NodeRow> skeleton() const {
    std::vector<NodeRow> rows;
    const Prepared& prepared = *evidence_.prepared;
    for (size_t i = 0; i < prepared.index.nodes().size(); ++i) {
      const auto& node = prepared.index.nodes()[i];
      for (const std::string& tensor : node.outputs) {
        auto reference = evidence_.reference.find(tensor);
        if (reference == evidence_.reference.end() || !prepared.dependence.depends(tensor)) continue;
        NodeRow row;
        row.name = node.name;
        row.op = node.op;
        row.tensor = tensor;
        row.dtype = reference->second.dtype;
        row.shape = reference->second.shape;
        row.ran_on = evidence_.placement.provider.size() > i ? evidence_.placement.provider[i] : std::string();
        row.decision = decisions_.count(tensor) != 0;
        describe_probe(row, static_cast<int>(i));
        note_constants(node, row);
        rows.push_back(std::move(row));
      }
    }
    return rows;
  }

  Status fill(NodeRow& row) const {
    const Tensor& reference = evidence_.reference.at(row.tensor);
    if (!is_float(row.dtype)) return fill_integer(row, reference);
    PARITAS_TRY(accumulated(row, reference, evidence_.marked, row.accumulated));
    if (row.accumulated) row.accumulated_graph = graph_of(evidence_.marked, row.tensor);
    if (evidence_.marked_forced) {
      PARITAS_TRY(accumulated(row, reference, *evidence_.marked_forced, row.accumulated_forced));
      if (row.accumulated_forced) row.forced_graph = forced_graph(row.tensor);
    }
    return local(row, reference);
  }

 private:
  void describe_probe(NodeRow& row, int node) const {
    auto it = island_of_node_.find(node);
    if (it == island_of_node_.end()) {
      if (is_float(row.dtype)) row.not_probed = "no island";
      return;
    }
    const auto& island = *it->second;
    if (auto failed = evidence_.probes.not_probed.find(island.name); failed != evidence_.probes.not_probed.end())
      row.not_probed = failed->second;
    else if (island_of_tensor_.count(row.tensor) == 0)
      row.not_probed = island.nodes.size() > 1 ? evidence_.island_kind + island.name : "nothing reads it";
    if (auto where = evidence_.probes.ran_on.find(island.name); where != evidence_.probes.ran_on.end())
      row.probe_ran_on = where->second;
  }

  // The worst of the node's constants: one that overflows, else the one that loses most.
  void note_constants(const onnx_model::GraphIndex::Node& node, NodeRow& row) const {
    for (const auto* list : {&node.inputs, &node.captures})
      for (const std::string& input : *list) {
        auto it = evidence_.bad_constants.find(input);
        if (it == evidence_.bad_constants.end()) continue;
        auto badness = [](const StorageBaseline& s) { return std::pair(s.overflowed > 0, s.lost_energy); };
        if (row.constant_storage && badness(*row.constant_storage) >= badness(it->second)) continue;
        row.constant = input;
        row.constant_storage = it->second;
      }
  }

  Result<std::optional<PairMetrics>> metrics(const Tensor& reference, const Tensor& device) const {
    if (reference.shape != device.shape) return std::optional<PairMetrics>();
    MetricOptions options;
    if (storage_) options.storage_type = storage_;
    PARITAS_ASSIGN(PairMetrics m, compare_tensors(reference, device, options));
    return std::optional<PairMetrics>(std::move(m));
  }

  Status fill_integer(NodeRow& row, const Tensor& reference) const {
    auto device = evidence_.marked.tensors.find(row.tensor);
    if (device == evidence_.marked.tensors.end() || device->second.shape != reference.shape) return {};
    PARITAS_ASSIGN(PairMetrics m, compare_tensors(reference, device->second, {}));
    row.accumulated = std::move(m);
    row.accumulated_graph = graph_of(evidence_.marked, row.tensor);
    return {};
  }

  std::string forced_graph(const std::string& tensor) const {
    const std::string graph = graph_of(*evidence_.marked_forced, tensor);
    return graph == "all marks" ? "forced" : "forced, " + graph;
  }

  Status accumulated(const NodeRow& row, const Tensor& reference, const MarkedRun& run,
                     std::optional<PairMetrics>& target) const {
    auto device = run.tensors.find(row.tensor);
    if (device == run.tensors.end()) return {};
    PARITAS_ASSIGN(target, metrics(reference, device->second));
    return {};
  }

  Status local(NodeRow& row, const Tensor& reference) const {
    auto result = evidence_.probes.local.find(row.tensor);
    if (result == evidence_.probes.local.end()) return {};
    PARITAS_ASSIGN(auto m, metrics(reference, result->second));
    if (!m) {
      row.not_probed = "its probe gave another shape";
      return {};
    }
    LocalError local;
    local.metrics = std::move(*m);
    local.island = island_of_tensor_.at(row.tensor)->name;
    if (local.metrics.storage) {
      local.representable = local.metrics.storage->representable();
      if (local.representable && local.metrics.storage->max_abs > 0 && std::isfinite(local.metrics.max_abs))
        local.x_baseline = local.metrics.max_abs / local.metrics.storage->max_abs;
    }
    if (auto rounded = evidence_.rounded_inputs.find(row.tensor); rounded != evidence_.rounded_inputs.end())
      if (rounded->second.shape == reference.shape) {
        PARITAS_ASSIGN(PairMetrics input, compare_tensors(reference, rounded->second, {}));
        local.input_baseline = input.nonfinite.device_only > 0 ? INFINITY : input.max_abs;
      }
    PARITAS_TRY(inherited(row, result->second, local.metrics));
    row.local = std::move(local);
    return {};
  }

  // |accumulated - local|^2 / |reference|^2, element by element.
  Status inherited(NodeRow& row, const Tensor& local, const PairMetrics& local_metrics) const {
    const MarkedRun& run = evidence_.marked_forced ? *evidence_.marked_forced : evidence_.marked;
    auto device = run.tensors.find(row.tensor);
    if (device == run.tensors.end() || device->second.shape != local.shape) return {};
    PARITAS_ASSIGN(PairMetrics m, compare_tensors(local, device->second, {}));
    const double error = m.error_norm * m.error_norm;
    const double energy = local_metrics.reference_norm * local_metrics.reference_norm;
    row.inherited_nmse = energy > 0 ? error / energy : error > 0 ? INFINITY : 0;
    return {};
  }

  const Evidence& evidence_;
  std::optional<DType> storage_;
  std::unordered_map<std::string, const onnx_model::Island*> island_of_tensor_;
  std::unordered_map<int, const onnx_model::Island*> island_of_node_;
  std::unordered_set<std::string> decisions_;
};

}  // namespace

Result<std::vector<NodeRow>> make_rows(const Evidence& evidence, std::optional<DType> storage, int threads) {
  const RowMaker maker(evidence, storage);
  std::vector<NodeRow> rows = maker.skeleton();
  std::vector<std::optional<Error>> errors(rows.size());
  parallel_for(rows.size(), threads, [&](size_t i, int) {
    if (auto status = maker.fill(rows[i]); !status) errors[i] = status.error();
  });
  for (auto& error : errors)
    if (error) return tl::make_unexpected(std::move(*error));
  return rows;
}

bool are_names(DType type) { return is_integer(type) && !metrics::has_codes(type); }

Result<std::vector<OutputRow>> judge_outputs(const OutputsOf& outputs, const GateSet& gates,
                                             std::optional<DType> storage, int threads) {
  std::vector<OutputRow> rows;
  for (const std::string& output : outputs.index->outputs()) {
    OutputRow row;
    const Tensor* device = find_tensor(*outputs.device, output);
    auto reference = outputs.reference->find(output);
    row.pair.name = output;
    row.pair.role = Role::kOutput;
    if (reference == outputs.reference->end()) {
      row.pair.status = PairStatus::kMissingReference;
    } else if (device == nullptr) {
      row.pair.status = PairStatus::kMissingDevice;
      row.pair.reference = SideInfo{reference->second.dtype, reference->second.shape};
    } else {
      MetricOptions options;
      options.threads = threads;
      if (is_float(reference->second.dtype)) options.storage_type = storage;
      options.names = are_names(reference->second.dtype);
      PARITAS_TRY(gates.configure(output, options));
      PARITAS_ASSIGN(row.pair, compare_pair(output, Role::kOutput, reference->second, *device, options));
    }
    judge_tensor(gates, row.pair);
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<std::vector<OutputRow>> make_outputs(const Evidence& evidence, const GateSet& gates,
                                            std::optional<DType> storage, int threads) {
  const auto& index = evidence.prepared->index;
  PARITAS_ASSIGN(auto rows, judge_outputs({&index, &evidence.prepared->outputs, &evidence.device_outputs}, gates,
                                          storage, threads));
  std::vector<std::string> changed;
  for (const DecisionReport& decision : evidence.decisions)
    if (decision.changed()) changed.push_back(decision.tensor);
  const auto behind = nodes_behind(index, changed);
  for (OutputRow& row : rows) {
    const int producer = index.producer(row.pair.name);
    row.behind_decision = producer >= 0 && behind[static_cast<size_t>(producer)];
  }
  return rows;
}

namespace {

// What `run` made of an output, beside the unmarked run.
Result<std::optional<MarkedOutput>> beside(const Tensor& unmarked, const MarkedRun& run, const std::string& output,
                                           std::string graph) {
  auto marked = run.tensors.find(output);
  if (marked == run.tensors.end()) return std::optional<MarkedOutput>();
  MarkedOutput made;
  made.graph = std::move(graph);
  PARITAS_ASSIGN(const bool equal, equal_bytes(unmarked, marked->second));
  made.changed = !equal;
  made.max = made.nmse = NAN;
  if (unmarked.shape == marked->second.shape) {
    PARITAS_ASSIGN(PairMetrics m, compare_tensors(unmarked, marked->second, {}));
    made.max = m.device_max;
    made.nmse = m.nmse;
  }
  return std::optional<MarkedOutput>(std::move(made));
}

}  // namespace

Result<std::vector<ProbeEffect>> make_probe_effect(const Evidence& evidence) {
  std::vector<ProbeEffect> effects;
  for (const auto& [name, unmarked] : evidence.device_outputs) {
    PARITAS_ASSIGN(auto all, beside(unmarked, evidence.marked, name, graph_of(evidence.marked, name)));
    if (!all) continue;
    ProbeEffect effect;
    effect.output = name;
    PARITAS_ASSIGN(const PairMetrics self, compare_tensors(unmarked, unmarked, {}));
    effect.unmarked = self.device_max;
    effect.graphs.push_back({"unmarked", self.device_max, false, 0});
    if (evidence.few) {
      PARITAS_ASSIGN(auto few, beside(unmarked, *evidence.few, name, fmt::format("{} marks", evidence.few_marks)));
      if (few) effect.graphs.push_back(std::move(*few));
    }
    effect.marked = all->max;
    effect.changed = all->changed;
    effect.graphs.push_back(std::move(*all));
    effects.push_back(std::move(effect));
  }
  return effects;
}

}  // namespace paritas
