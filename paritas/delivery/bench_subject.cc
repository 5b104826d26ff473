#include "paritas/delivery/bench_subject.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paritas/base/sha256.h"
#include "paritas/onnx/edit.h"
#include "paritas/package/chain.h"
#include "paritas/package/record_package.h"
#include "paritas/recording/named_tensors.h"
#include "paritas/recording/recording.h"
#include "paritas/runtime/inputs.h"

namespace paritas {
namespace {

bool same_bytes(const Tensor& a, const Tensor& b) {
  if (a.dtype != b.dtype || a.shape != b.shape) return false;
  const auto left = TensorView::of(a), right = TensorView::of(b);
  return left && right && std::ranges::equal(left->bytes(), right->bytes());
}

// The sample of the package's reference whose inputs these are; the first one when none are given.
Result<std::optional<Sample>> reference_sample(const Package& package, const NamedTensors& inputs) {
  PARITAS_ASSIGN(const Path folder, resolve_inside(package.folder, package.manifest.reference.folder));
  PARITAS_ASSIGN(const auto stream, open_samples(folder, OpenOptions{/*verify_hashes=*/true}));
  for (uint64_t i = 0; i < stream->sample_count(); ++i) {
    PARITAS_ASSIGN(Sample sample, stream->sample(i));
    const bool fits = std::all_of(inputs.begin(), inputs.end(), [&](const auto& input) {
      const Tensor* recorded = find_tensor(sample.tensors, input.first);
      return recorded != nullptr && same_bytes(*recorded, input.second);
    });
    if (fits) return std::optional<Sample>(std::move(sample));
  }
  return std::optional<Sample>();
}

Result<BenchStage> part_stage(const Stage& part) {
  BenchStage stage;
  stage.name = part.name;
  stage.file = part.file;
  stage.target = as_application(part.target);
  for (const PackagePort& port : part.inputs) stage.inputs.emplace_back(port.name, port.tensor);
  for (const PackagePort& port : part.outputs) stage.outputs.emplace_back(port.name, port.tensor);
  if (part.target.simulate) {
    PARITAS_ASSIGN(auto model, onnx_model::Model::load(part.file));
    stage.copy = std::make_shared<const onnx_model::Model>(std::move(model));
    stage.edited = "the simulator rounds every tensor of it";
  }
  return stage;
}

// Inputs and expected outputs of the package, from its reference.
Status take_reference(const Package& package, const NamedTensors& inputs, BenchSubject& subject) {
  PARITAS_ASSIGN(const auto sample, reference_sample(package, inputs));
  for (const ContractPort& port : package.manifest.inputs) {
    const Tensor* tensor = find_tensor(inputs, port.name);
    if (tensor == nullptr && inputs.empty() && sample) tensor = find_tensor(sample->tensors, port.name);
    if (tensor == nullptr)
      return input_error(subject.name, fmt::format("its input \"{}\" is not given", port.name),
                         "give all inputs, or none to take those of the reference in the package");
    subject.inputs.emplace_back(port.name, *tensor);
  }
  PARITAS_TRY(check_package_inputs(package, subject.inputs));
  if (!sample) {
    subject.notes.push_back(
        "these inputs are not in the package's reference, so what was timed is held against nothing");
    return {};
  }
  for (const ContractPort& port : package.manifest.outputs)
    if (const Tensor* tensor = find_tensor(sample->tensors, port.name))
      subject.reference_outputs.emplace_back(port.name, *tensor);
  return {};
}

}  // namespace

Target as_application(Target target) {
  if (!target.simulate && target.spec.options.count("opt") == 0) target.optimisation = "all";
  for (const auto& [key, value] : target.capabilities.fastest) target.provider_options.try_emplace(key, value);
  return target;
}

Result<BenchSubject> model_subject(const std::string& path, const Target& target, const NamedTensors& inputs,
                                   const std::map<std::string, int64_t>& dims) {
  BenchSubject subject;
  subject.name = path;
  subject.kind = "model";
  PARITAS_ASSIGN(auto given, onnx_model::Model::load(path));
  PARITAS_ASSIGN(subject.sha256, sha256_of_file(path));
  PARITAS_TRY(check_inputs(given, inputs));
  std::vector<std::string> pinned;
  PARITAS_ASSIGN(auto model, pin_to_inputs(given, inputs, dims, &pinned));
  BenchStage stage;
  stage.name = "model";
  stage.file = path;
  stage.target = as_application(target);
  if (target.simulate) {
    stage.edited = "the simulator rounds every tensor of it";
  } else if (!pinned.empty() && !target.capabilities.free_dimensions) {
    stage.edited = fmt::format("{} takes no free dimensions: {}", target.spec.text, fmt::join(pinned, ", "));
  }
  for (const auto& [name, tensor] : inputs) stage.inputs.emplace_back(name, name);
  for (const auto& output : onnx_model::describe_outputs(given)) {
    stage.outputs.emplace_back(output.name, output.name);
    subject.outputs.push_back(output.name);
  }
  if (!stage.edited.empty()) stage.copy = std::make_shared<const onnx_model::Model>(std::move(model));
  subject.stages.push_back(std::move(stage));
  subject.inputs = inputs;
  subject.reference_model = path;
  return subject;
}

Result<BenchSubject> package_subject(const std::string& folder, const RuntimeSearch& search,
                                     const NamedTensors& inputs) {
  BenchSubject subject;
  subject.name = folder;
  subject.kind = "package";
  PARITAS_ASSIGN(const Package package, open_package(folder));
  subject.sha256 = package.manifest_sha256;
  PARITAS_ASSIGN(const std::vector<Stage> parts, stages_of(package, search));
  for (const Stage& part : parts) {
    PARITAS_ASSIGN(BenchStage stage, part_stage(part));
    subject.stages.push_back(std::move(stage));
  }
  for (const ContractPort& port : package.manifest.outputs) {
    subject.outputs.push_back(port.name);
    if (!port.role.empty()) subject.roles[port.name] = port.role;
  }
  PARITAS_TRY(take_reference(package, inputs, subject));
  PARITAS_ASSIGN(subject.declared, declared_in(package));
  // Labels are one a row of all samples, and one sample is timed.
  if (package.manifest.reference.samples > 1)
    for (const auto& [task, labels] : subject.declared->labels)
      subject.notes.push_back(fmt::format("the labels of the task \"{}\" belong to all samples: not used here", task));
  if (package.manifest.reference.samples > 1) subject.declared->labels.clear();
  PARITAS_ASSIGN(subject.gates, package_gates(package, package.manifest.chain_gates));
  return subject;
}

}  // namespace paritas
