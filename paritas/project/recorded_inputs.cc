#include "paritas/project/recorded_inputs.h"

#include <fmt/format.h>

#include "paritas/compare/compare.h"
#include "paritas/recording/named_tensors.h"

namespace paritas {
namespace {

// What keeps the recorded tensor from being the declared one; empty: nothing.
Result<std::string> disagreement(const Tensor& declared, const Tensor& recorded, const TensorInfo& info,
                                 const std::optional<QuantisationRule>& rule) {
  if (declared.shape != recorded.shape)
    return fmt::format("shape {}, not {}", to_string(recorded.shape), to_string(declared.shape));
  PARITAS_ASSIGN(const auto quantised, compare_quantised_input(declared, recorded, rule, info.quantisation));
  if (quantised) return quantised->equal ? std::string() : quantised->text;
  // Codes against codes count as they are.
  const bool codes = declared.dtype == recorded.dtype;
  PARITAS_ASSIGN(const TensorComparison pair, compare_pair(info.name, Role::kInput, declared, recorded, {},
                                                           std::nullopt, codes ? std::nullopt : info.quantisation));
  if (pair.metrics->differing == 0) return std::string();
  return fmt::format("{} of {} elements differ", pair.metrics->differing, pair.metrics->count);
}

}  // namespace

Result<RecordedInputs> hold_against_declared(const std::vector<NamedTensors>& declared,
                                             const std::map<std::string, QuantisationRule>& rules,
                                             SampleStream& recorded, const std::string& side) {
  RecordedInputs held;
  const uint64_t count = recorded.sample_count();
  for (uint64_t i = 0; i < count; ++i) {
    PARITAS_ASSIGN(const Sample sample, recorded.sample(i));
    for (const auto& [name, tensor] : declared[declared.size() == 1 ? 0 : i]) {
      const Tensor* found = find_tensor(sample.tensors, name);
      const TensorInfo* info = recorded.info().find(name);
      if (found == nullptr || info == nullptr) {
        held.absent.insert(name);
        continue;
      }
      std::optional<QuantisationRule> rule;
      if (auto it = rules.find(name); it != rules.end()) rule = it->second;
      PARITAS_ASSIGN(const std::string text, disagreement(tensor, *found, *info, rule));
      if (text.empty()) continue;
      held.samples.insert(sample.id);
      held.differing.push_back(fmt::format("{}: the declared input is not what the {} recorded: {}{}", name, side, text,
                                           count > 1 ? fmt::format(" ({})", sample.id) : ""));
    }
  }
  return held;
}

}  // namespace paritas
