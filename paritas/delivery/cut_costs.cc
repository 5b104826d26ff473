// What proposed cuts cost, and which of them hold.
#include <algorithm>

#include <fmt/format.h>

#include "paritas/delivery/split.h"
#include "paritas/locate/locate.h"

namespace paritas {
namespace {

CutCost cost_of(const CrossMatrix& matrix, const SplitRequest& request) {
  CutCost cost;
  cost.name = matrix.name;
  cost.split = name(matrix.split);
  cost.front_nodes = matrix.front_nodes;
  cost.rear_nodes = matrix.rear_nodes;
  for (const CutTensorRow& row : matrix.tensors) {
    cost.tensors.push_back(row.name);
    if (!row.metrics) continue;  // a graph input: it need not come from the device
    if (const auto count = element_count(row.shape)) cost.elements += *count;
    cost.bytes += row.bytes;
  }
  const Target& device = request.parts.front().target;
  const uint64_t all = matrix.front_placement.total(), there = matrix.front_placement.on(device.provider);
  cost.front_placement = all == 0 ? "not told" : fmt::format("{} of {} nodes on {}", there, all, device.provider);
  cost.front_on_device = !device.capabilities.device || (all > 0 && there == all);
  for (const MatrixCell& cell : matrix.cells) {
    if (!cell.front_on_device || cell.rear_on_device) continue;
    cost.verdict = cell.verdict;
    cost.deciding = cell.failure.empty() ? cell.deciding : cell.failure;
    const bool right = matrix.split == SplitStatus::kExact || matrix.split == SplitStatus::kOptimiser;
    cost.allowed = right && cell.failure.empty() && cost.front_on_device &&
                   (cell.verdict == Verdict::kPass || cell.verdict == Verdict::kNotJudged);
  }
  // What keeps a cut from being taken, not a gate that holds.
  if (!cost.front_on_device) cost.deciding = "not all on the device: " + cost.front_placement;
  if (cost.deciding.empty() && !matrix.reasons.empty()) cost.deciding = matrix.reasons.front();
  return cost;
}

}  // namespace

Result<std::vector<CutCost>> cost_of_cuts(const SplitRequest& request, std::vector<std::string>* notes) {
  LocateRequest locate_request;
  locate_request.model = request.model;
  locate_request.inputs = request.samples.front();
  locate_request.dims = request.dims;
  locate_request.reference = request.reference;
  locate_request.device = request.parts.front().target;
  locate_request.gates = request.contract.chain_gates;
  // A cell has no tasks and no boundary tensors but what judge_tasks tells.
  auto& gates = locate_request.gates.gates;
  gates.erase(std::remove_if(gates.begin(), gates.end(),
                             [](const Gate& gate) { return !gate.task.empty() || !gate.role.empty(); }),
              gates.end());
  for (const Gate& gate : request.contract.chain_gates.gates)
    for (const auto& [output, role] : request.contract.roles)
      if (!gate.role.empty() && gate.role == role) {
        Gate exact = gate;
        exact.tensor = output;
        exact.role.clear();
        gates.push_back(std::move(exact));
      }
  locate_request.worker = request.worker;
  locate_request.scratch_root = request.scratch_root;
  locate_request.memory_budget = request.memory_budget;
  locate_request.threads = request.threads;
  locate_request.tool_version = request.tool_version;
  locate_request.progress = request.progress;
  locate_request.cuts.automatic = request.automatic;
  locate_request.cuts.given = request.cuts;
  locate_request.cuts.only = true;
  locate_request.cuts.judge_tasks = request.judge_tasks;
  PARITAS_ASSIGN(const LocateResult located, locate(locate_request));
  std::vector<CutCost> costs;
  if (!located.cross_matrices) return costs;
  for (const CrossMatrix& matrix : located.cross_matrices->cuts) costs.push_back(cost_of(matrix, request));
  if (notes != nullptr)
    notes->insert(notes->end(), located.cross_matrices->notes.begin(), located.cross_matrices->notes.end());
  CutCost* cheapest = nullptr;
  for (CutCost& cost : costs)
    if (cost.allowed && (cheapest == nullptr || cost.bytes < cheapest->bytes)) cheapest = &cost;
  if (cheapest != nullptr) cheapest->chosen = true;
  return costs;
}

}  // namespace paritas
