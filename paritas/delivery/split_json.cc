#include "paritas/delivery/split.h"
#include "paritas/delivery/verify.h"

namespace paritas {

Json to_json(const SplitResult& result) {
  Json candidates = Json::array();
  for (const CutCost& cost : result.candidates)
    candidates.push_back({{"name", cost.name},
                          {"tensors", cost.tensors},
                          {"elements", cost.elements},
                          {"bytes", cost.bytes},
                          {"front_nodes", cost.front_nodes},
                          {"rear_nodes", cost.rear_nodes},
                          {"split", cost.split},
                          {"front_placement", cost.front_placement},
                          {"front_on_device", cost.front_on_device},
                          {"verdict", name(cost.verdict)},
                          {"deciding", cost.deciding},
                          {"allowed", cost.allowed},
                          {"chosen", cost.chosen}});
  Json manifest = to_json(result.manifest);
  manifest.erase("verification");  // stands beside it
  return {{"schema", "paritas.split/1"},
          {"verdict", name(result.verdict)},
          {"reasons", result.reasons},
          {"model", result.model},
          {"model_sha256", result.model_sha256},
          {"package", result.package.empty() ? Json() : Json(result.package)},
          {"refused", result.refused.empty() ? Json() : Json(result.refused)},
          {"candidates", std::move(candidates)},
          {"manifest", std::move(manifest)},
          {"verification", result.verification ? to_json(*result.verification) : Json()},
          {"notes", result.notes},
          {"seconds", json_number(result.seconds)}};
}

}  // namespace paritas
