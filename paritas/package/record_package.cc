#include "paritas/package/record_package.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paritas/base/sha256.h"
#include "paritas/runtime/run_info.h"

namespace paritas {
namespace {

std::string inputs_text(const Package& package) {
  std::vector<std::string> words;
  for (const ContractPort& input : package.manifest.inputs)
    words.push_back(fmt::format("\"{}\" {} {}", input.name, name(input.dtype), to_string(input.shape)));
  return fmt::format("{}", fmt::join(words, ", "));
}

// Nodes of all parts; the requested provider is that of the first device part.
PlacementCounts placement_of(Chain& chain) {
  PlacementCounts all;
  for (size_t i = 0; i < chain.size(); ++i) {
    const PlacementCounts part = chain.placement(i);
    if (all.requested.empty() && chain.stage(i).target.capabilities.device) all.requested = part.requested;
    if (part.requested == all.requested) all.partitions += part.partitions;
    for (const auto& [provider, nodes] : part.nodes) {
      auto it = std::find_if(all.nodes.begin(), all.nodes.end(), [&](const auto& e) { return e.first == provider; });
      if (it == all.nodes.end())
        all.nodes.emplace_back(provider, nodes);
      else
        it->second += nodes;
    }
    for (const std::string& evidence : part.evidence)
      if (std::find(all.evidence.begin(), all.evidence.end(), evidence) == all.evidence.end())
        all.evidence.push_back(evidence);
  }
  if (all.requested.empty() && chain.size() > 0) all.requested = chain.stage(0).target.provider;
  return all;
}

std::string part_note(const PackagePart& part, const PlacementCounts& counts) {
  std::vector<std::string> words;
  for (const auto& [provider, nodes] : counts.nodes) words.push_back(fmt::format("{} on {}", nodes, provider));
  return fmt::format("part \"{}\" ({}) on {}: {} of the session{}", part.name, part.file, part.target,
                     words.empty() ? "placement not told" : fmt::format("{}", fmt::join(words, ", ")),
                     part.compiled ? "; a loaded context counts as one node" : "");
}

RunInfo info_of(const RecordPackageRequest& request, Chain& chain) {
  const Manifest& manifest = request.package->manifest;
  RunInfo info;
  info.tool_version = request.tool_version;
  info.model_path = request.package->folder.string();
  info.model_sha256 = manifest.source_sha256;
  info.opsets = manifest.opsets;
  info.producer = manifest.producer;
  info.target = "package:" + request.package->folder.string();
  info.pinned = manifest.pinned;
  info.placement = placement_of(chain);
  info.provider = info.placement->requested;
  info.marks = "boundary tensors";
  info.host = host_summary();
  info.notes.push_back(fmt::format("package of {}; SHA-256 of its manifest {}", manifest.source_name,
                                   request.package->manifest_sha256.substr(0, 12)));
  for (size_t i = 0; i < chain.size(); ++i) {
    const RuntimeIdentity identity = chain.identity(i);
    const Target& target = chain.stage(i).target;
    info.runtime = {identity.version, identity.path.string(), identity.sha256, {}};
    info.notes.push_back(part_note(manifest.parts[i], chain.placement(i)));
    info.notes.insert(info.notes.end(), target.notes.begin(), target.notes.end());
    if (target.provider_library.empty()) continue;
    info.provider_library = {"", target.provider_library, identity.provider_library_sha256, {}};
    info.options = target.provider_options;
    info.options.insert(target.session_entries.begin(), target.session_entries.end());
  }
  return info;
}

}  // namespace

std::optional<Path> package_of_target(const std::string& target) {
  constexpr std::string_view kPrefix = "package:";
  if (!target.starts_with(kPrefix)) return std::nullopt;
  return Path(target.substr(kPrefix.size()));
}

Result<RunInfo> record_on_inputs_of(RecordPackageRequest request, SampleStream& recorded) {
  request.samples.clear();
  for (uint64_t s = 0; s < recorded.sample_count(); ++s) {
    PARITAS_ASSIGN(const Sample sample, recorded.sample(s));
    NamedTensors inputs;
    for (const ContractPort& port : request.package->manifest.inputs)
      for (const auto& [name, tensor] : sample.tensors)
        if (name == port.name) inputs.emplace_back(name, tensor);
    if (inputs.size() < request.package->manifest.inputs.size())
      return input_error(
          recorded.subject(),
          fmt::format("does not hold every input of the package, which are {}", inputs_text(*request.package)),
          "record the reference with its inputs, or run the package with paritas run");
    request.samples.push_back(std::move(inputs));
  }
  return record_package(request);
}

Status check_package_inputs(const Package& package, const NamedTensors& inputs) {
  const auto& contract = package.manifest.inputs;
  const std::string subject = package.folder.string();
  for (const auto& [input, tensor] : inputs) {
    const auto it = std::find_if(contract.begin(), contract.end(), [&](const auto& c) { return c.name == input; });
    if (it == contract.end())
      return input_error(fmt::format("input \"{}\"", input),
                         fmt::format("is not in {}; it has {}", subject, inputs_text(package)));
    if (tensor.dtype != it->dtype || tensor.shape != it->shape)
      return input_error(fmt::format("input \"{}\"", input),
                         fmt::format("is {} {}, {} has {}", name(tensor.dtype), to_string(tensor.shape), subject,
                                     inputs_text(package)),
                         "a package takes the shapes for which it was made");
  }
  for (const ContractPort& port : contract)
    if (std::none_of(inputs.begin(), inputs.end(), [&](const auto& i) { return i.first == port.name; }))
      return input_error(subject, fmt::format("the input \"{}\" is missing", port.name),
                         fmt::format("give --input {}=FILE", port.name));
  return {};
}

std::vector<TensorInfo> describe_package_tensors(const Package& package, const NamedTensors& tensors,
                                                 const std::vector<Stage>& stages) {
  const Manifest& manifest = package.manifest;
  auto among = [](const std::vector<ContractPort>& ports, const std::string& name) {
    return std::any_of(ports.begin(), ports.end(), [&](const ContractPort& port) { return port.name == name; });
  };
  std::vector<TensorInfo> infos;
  for (const auto& [tensor_name, tensor] : tensors) {
    TensorInfo info;
    info.name = tensor_name;
    info.dtype = tensor.dtype;
    info.role = among(manifest.outputs, tensor_name)  ? Role::kOutput
                : among(manifest.inputs, tensor_name) ? Role::kInput
                                                      : Role::kIntermediate;
    for (size_t i = 0; i < manifest.parts.size() && i < stages.size(); ++i)
      if (manifest.parts[i].output_of(tensor_name) != nullptr) {
        info.node = manifest.parts[i].name;
        if (is_float(tensor.dtype)) info.storage_type = stages[i].target.capabilities.storage_type;
      }
    if (const BoundaryTensor* boundary = manifest.boundary(tensor_name)) info.op = boundary->op;
    infos.push_back(std::move(info));
  }
  return infos;
}

Result<RunInfo> record_package(const RecordPackageRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  const std::string started = utc_now();
  for (const NamedTensors& sample : request.samples) PARITAS_TRY(check_package_inputs(*request.package, sample));
  PARITAS_ASSIGN(auto writer, RecordingWriter::create(request.output, request.overwrite));
  PARITAS_ASSIGN(const ScratchFolder scratch, ScratchFolder::create(request.scratch_root));
  PARITAS_ASSIGN(auto stages, stages_of(*request.package, request.search));
  PARITAS_ASSIGN(Chain chain, Chain::open(stages, request.worker, scratch.path()));
  for (size_t i = 0; i < chain.size(); ++i)
    PARITAS_TRY(require_device_took_part(chain.stage(i).target, chain.placement(i)));
  RunInfo info = info_of(request, chain);
  for (size_t i = 0; i < request.samples.size(); ++i) {
    if (request.progress) request.progress(fmt::format("sample {} of {}", i + 1, request.samples.size()));
    PARITAS_ASSIGN(NamedTensors made, chain.run(request.samples[i]));
    NamedTensors tensors = request.samples[i];
    tensors.insert(tensors.end(), made.begin(), made.end());
    if (i == 0) info.tensors = describe_package_tensors(*request.package, tensors, stages);
    PARITAS_TRY(writer.add_sample(tensors));
  }
  if (auto hash = sha256_of_file(info.runtime.path)) info.runtime.sha256_after = *hash;
  if (!info.provider_library.path.empty())
    if (auto hash = sha256_of_file(info.provider_library.path)) info.provider_library.sha256_after = *hash;
  info.start = started;
  info.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  PARITAS_TRY(writer.finish(info));
  return info;
}

}  // namespace paritas
