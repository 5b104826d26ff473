#include "paritas/judge/random_draws.h"

#include <set>

#include "paritas/judge/catalogue_consistency.h"

namespace paritas {
namespace {

using catalogue::RandomOperatorFacts;
using onnx_model::RandomDependence;

RandomOperatorFacts facts_of(const onnx_model::RandomOperator& drawn) {
  return {drawn.node, drawn.op, drawn.inside, drawn.seeded};
}

}  // namespace

RandomDependence random_draws(const onnx_model::Model& model, const onnx_model::GraphIndex& index,
                              const Target& reference, const Target& device, bool first_runs) {
  const bool on_cpu = !reference.capabilities.device && !device.capabilities.device;
  return onnx_model::random_dependence(model, index, first_runs && on_cpu);
}

std::string cannot_tell(const RandomDependence* random, const std::string& tensor) {
  if (random == nullptr || !random->depends(tensor)) return {};
  std::vector<RandomOperatorFacts> operators;
  for (const auto& drawn : random->operators_behind(tensor)) operators.push_back(facts_of(drawn));
  return catalogue::random_reason(operators);
}

std::optional<Finding> random_finding(const RandomDependence& random, const std::vector<std::string>& outputs) {
  catalogue::RandomFacts facts;
  std::set<int> operators;
  for (const std::string& output : outputs)
    if (const auto it = random.behind.find(output); it != random.behind.end()) {
      facts.outputs.push_back(output);
      operators.insert(it->second.begin(), it->second.end());
    }
  if (facts.outputs.empty()) return std::nullopt;
  for (const int i : operators) facts.operators.push_back(facts_of(random.operators[static_cast<size_t>(i)]));
  return catalogue::random_operators(facts);
}

}  // namespace paritas
