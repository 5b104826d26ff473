#include "paritas/locate/random_draws.h"

#include <algorithm>
#include <unordered_set>

namespace paritas {
namespace {

using onnx_model::RandomDependence;

const char* kDrawnProbe = "draws random numbers: two results of it cannot be compared";

}  // namespace

bool withhold_random(const RandomDependence* random, TensorComparison& pair) {
  std::string reason = cannot_tell(random, pair.name);
  if (reason.empty() || pair.status == PairStatus::kMissingDevice || pair.status == PairStatus::kMissingReference)
    return false;
  if (pair.verdict != Verdict::kNotJudged) pair.verdict = Verdict::kInvalid;
  pair.rule = std::move(reason);
  return true;
}

void withhold_random(const RandomDependence& random, const std::vector<onnx_model::Island>& islands,
                     const onnx_model::GraphIndex& index, LocateResult& result) {
  if (!random.any()) return;
  // An island that draws is drawn anew on the device, whatever it is fed with.
  std::unordered_set<std::string> drawn(random.drawn.begin(), random.drawn.end()), drawing;
  for (const auto& island : islands)
    for (const int node : island.nodes)
      for (const auto& output : index.nodes()[static_cast<size_t>(node)].outputs)
        if (drawn.count(output) != 0) drawing.insert(island.outputs.begin(), island.outputs.end());
  for (NodeRow& row : result.nodes) {
    if (drawn.count(row.tensor) != 0 || drawing.count(row.tensor) != 0) {
      row.local.reset();
      row.range = RangeViolation::kNone;
      row.range_of_constant = false;
      row.not_probed = kDrawnProbe;
    }
    if (!random.depends(row.tensor)) continue;
    row.accumulated.reset();
    row.accumulated_forced.reset();
    row.inherited_nmse.reset();
    row.accumulated_graph.clear();
    row.forced_graph.clear();
  }
  for (OutputRow& row : result.outputs) withhold_random(&random, row.pair);
  std::erase_if(result.probe_effect, [&](const ProbeEffect& effect) { return random.depends(effect.output); });
  for (DecisionReport& decision : result.decisions)
    if (random.depends(decision.tensor)) {
      decision.tie.emplace();
      decision.tie->not_taken = cannot_tell(&random, decision.tensor);
    }
  result.notes.push_back("what depends on random operators has no accumulated error: it would compare two draws");
}

void add_drawn(const Prepared& prepared, const std::unordered_map<std::string, Tensor>& reference,
               std::vector<std::string>& tensors) {
  for (const auto& tensor : onnx_model::random_dependence(prepared.folded, prepared.index, false).drawn)
    if (reference.count(tensor) != 0 && std::find(tensors.begin(), tensors.end(), tensor) == tensors.end())
      tensors.push_back(tensor);
}

}  // namespace paritas
