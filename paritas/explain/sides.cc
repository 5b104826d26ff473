#include "paritas/explain/sides.h"

#include <set>

#include <fmt/format.h>

#include "paritas/recording/named_tensors.h"
#include "paritas/recording/quantisation.h"
#include "paritas/recording/recording.h"

namespace paritas {
namespace {

constexpr std::string_view kBehind = "_DequantizeLinear_Output";  // as ONNX Runtime's quantiser names them
constexpr std::string_view kInFront = "_QuantizeLinear_Input";

std::string without(const std::string& text, std::string_view end) {
  if (text.size() <= end.size() || !std::string_view(text).ends_with(end)) return {};
  return text.substr(0, text.size() - end.size());
}

struct Candidate {
  std::string name, rule;
};

// What the float model may call a value, the surest first.
std::vector<Candidate> candidates(const NetworkValue& value) {
  std::vector<Candidate> list;
  const auto add = [&](const std::string& name, const char* rule) {
    if (!name.empty()) list.push_back({name, rule});
  };
  add(value.real, "");
  add(without(value.real, kBehind), "behind its quantiser (T_DequantizeLinear_Output is T)");
  add(value.name, value.real.empty() ? "" : "behind its quantiser (the quantised tensor's own name)");
  add(without(value.name, kInFront), "behind its quantiser (T_QuantizeLinear_Input is T)");
  return list;
}

Result<std::vector<std::optional<NamePair>>> pair_values(const Network& network, const RunInfo& info,
                                                         const PairingRules& rules, const std::string& subject) {
  std::vector<std::string> names;
  for (const TensorInfo& tensor : info.tensors) names.push_back(tensor.name);
  const std::set<std::string> known(names.begin(), names.end());
  std::map<std::string, std::pair<size_t, std::string>> wanted;  // name for the pairing -> value, rule
  std::vector<std::string> ordered;
  for (size_t i = 0; i < network.values.size(); ++i) {
    Candidate chosen{network.values[i].name, ""};
    for (const Candidate& candidate : candidates(network.values[i]))
      if (known.count(candidate.name) != 0) {
        chosen = candidate;
        break;
      }
    if (wanted.emplace(chosen.name, std::make_pair(i, chosen.rule)).second) ordered.push_back(chosen.name);
  }
  PARITAS_ASSIGN(const Pairing pairing, pair_names(names, ordered, rules, subject, network.subject));
  std::vector<std::optional<NamePair>> pairs(network.values.size());
  for (const NamePair& pair : pairing.pairs) {
    const auto& [value, rule] = wanted.at(pair.device);
    pairs[value] = pair;
    if (!rule.empty()) pairs[value]->rule = pair.rule == "exact" ? rule : pair.rule + ", " + rule;
  }
  return pairs;
}

Status check_model(const SampleStream& stream, const std::string& sha256, const char* which) {
  if (sha256.empty() || stream.info().model_sha256.empty() || stream.info().model_sha256 == sha256) return {};
  return input_error(stream.subject(), fmt::format("is a recording of another file than {}", which),
                     "record that model, or give the one that was recorded");
}

}  // namespace

Result<Sides> open_sides(const std::optional<Path>& reference, const std::optional<Path>& device,
                         const Network& network, const std::string& model_sha256, const std::string& float_sha256,
                         const PairingRules& names) {
  Sides sides;
  sides.pairs.resize(network.values.size());
  if (device) {
    PARITAS_ASSIGN(sides.device, open_samples(*device, {}));
    PARITAS_TRY(check_model(*sides.device, model_sha256, "--model"));
    sides.samples = sides.device->sample_count();
  }
  if (!reference) return sides;
  PARITAS_ASSIGN(sides.reference, open_samples(*reference, {}));
  const RunInfo& info = sides.reference->info();
  sides.same_model = !model_sha256.empty() && info.model_sha256 == model_sha256;
  if (!sides.same_model) PARITAS_TRY(check_model(*sides.reference, float_sha256, "--float"));
  if (sides.device && sides.device->sample_count() != sides.reference->sample_count())
    return input_error(sides.device->subject(),
                       fmt::format("has {} samples, {} has {}", sides.device->sample_count(),
                                   sides.reference->subject(), sides.reference->sample_count()),
                       "record the same samples on both sides");
  sides.samples = sides.reference->sample_count();
  if (sides.same_model) {
    for (size_t i = 0; i < network.values.size(); ++i)
      sides.pairs[i] = NamePair{network.values[i].name, network.values[i].name, "one model"};
    return sides;
  }
  PARITAS_ASSIGN(sides.pairs, pair_values(network, info, names, sides.reference->subject()));
  return sides;
}

std::optional<TensorQuantiser> tensor_quantiser(const NetworkValue& value) {
  if (!value.quantisation || !value.code_type || bits(*value.code_type) > 16) return std::nullopt;
  const Quantisation& q = *value.quantisation;
  if (q.scale.size() != 1 || !(q.scale[0] > 0)) return std::nullopt;
  return TensorQuantiser{*value.code_type, q.scale[0],
                         q.zero_point.empty() ? 0.0 : static_cast<double>(q.zero_point[0])};
}

Result<std::optional<RealTensor>> device_tensor(const NetworkValue& value, const NamedTensors& sample) {
  if (!value.real.empty())
    if (const Tensor* tensor = find_tensor(sample, value.real)) return RealTensor{*tensor, {}};
  if (!value.codes.empty()) {
    const Tensor* tensor = find_tensor(sample, value.codes);
    if (tensor == nullptr) return std::nullopt;
    RealTensor result{*tensor, {}};
    PARITAS_ASSIGN(result.affine, affine_of(*value.quantisation, tensor->shape, value.name));
    return result;
  }
  if (const Tensor* tensor = find_tensor(sample, value.name)) return RealTensor{*tensor, {}};
  return std::nullopt;
}

Result<std::optional<RealTensor>> reference_tensor(const Sides& sides, size_t index, const NetworkValue& value,
                                                   const NamedTensors& sample) {
  if (sides.same_model) return device_tensor(value, sample);
  if (!sides.pairs[index]) return std::nullopt;
  const Tensor* tensor = find_tensor(sample, sides.pairs[index]->reference);
  if (tensor == nullptr) return std::nullopt;
  RealTensor result{*tensor, {}};
  const TensorInfo* info = sides.reference->info().find(sides.pairs[index]->reference);
  if (info != nullptr && info->quantisation && is_integer(tensor->dtype)) {
    PARITAS_ASSIGN(result.affine, affine_of(*info->quantisation, tensor->shape, info->name));
  }
  return result;
}

}  // namespace paritas
