#include "paritas/package/chain.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paritas/package/portable_target.h"
#include "paritas/recording/named_tensors.h"
#include "paritas/runtime/run_info.h"

namespace paritas {
namespace {

constexpr const char* kNoFallback = "session.disable_cpu_ep_fallback";

std::string names_of(const std::vector<PortInfo>& ports) {
  std::vector<std::string> names;
  for (const PortInfo& port : ports) names.push_back(port.name);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

std::string dims_text(const std::vector<int64_t>& dims) {
  std::vector<std::string> words;
  for (const int64_t dim : dims) words.push_back(dim < 0 ? "?" : std::to_string(dim));
  return fmt::format("[{}]", fmt::join(words, ","));
}

// A session may leave dimensions free, or not know them at all.
bool shape_fits(const Shape& shape, const std::vector<int64_t>& dims) {
  if (dims.empty()) return true;
  if (dims.size() != shape.size()) return false;
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] >= 0 && dims[i] != shape[i]) return false;
  return true;
}

Result<Session> open_stage(Runner& runner, const Stage& stage) {
  auto session = stage.model != nullptr ? runner.open(*stage.model) : runner.open_file(stage.file);
  if (!session) return tl::make_unexpected(std::move(session).error());
  const std::string subject = stage.model != nullptr ? stage.model->subject() : stage.file.string();
  for (const auto& [what, expected, found] : {std::tuple("inputs", &stage.inputs, &session->info().inputs),
                                              std::tuple("outputs", &stage.outputs, &session->info().outputs)})
    if (const std::string text = port_difference(*expected, *found); !text.empty())
      return input_error(
          subject, fmt::format("the {} of \"{}\" are not what the package says: {}", what, stage.name, text),
          "the file is of another model, or its ports were renamed (give a mapping file to paritas split)");
  return session;
}

// Applications load a part with what the manifest says beside its target: that must be what is tried here.
Status check_declared(const PackagePart& part, const TargetSpec& spec, const Target& target,
                      const std::string& subject) {
  auto wrong = [&](const std::string& what, const auto& declared, const auto& real) {
    return input_error(subject,
                       fmt::format("the part \"{}\" declares {} {}, its target {} means {}", part.name, what, declared,
                                   part.target, real),
                       "the manifest was edited, or another version of the provider sets other defaults: split again");
  };
  if (part.on_device != is_for_device(spec)) return wrong("on_device", part.on_device, !part.on_device);
  if (part.optimisation != target.optimisation) return wrong("optimisation", part.optimisation, target.optimisation);
  if (part.threads != target.threads) return wrong("threads", part.threads, target.threads);
  const auto options = portable_options(target);
  for (const auto& [key, value] : part.options)
    if (const auto it = options.find(key); it == options.end() || it->second != value)
      return wrong("the option " + key, value, it == options.end() ? std::string("none") : it->second);
  for (const auto& [key, value] : options)
    if (part.options.count(key) == 0) return wrong("the option " + key, "none", value);
  return {};
}

}  // namespace

bool is_for_device(const TargetSpec& spec) { return spec.name != "cpu"; }

Target without_fallback(Target target) {
  if (is_for_device(target.spec) && target.capabilities.fallback_switch) target.session_entries[kNoFallback] = "1";
  return target;
}

std::string port_difference(const std::vector<PackagePort>& expected, const std::vector<PortInfo>& found) {
  for (const PackagePort& port : expected) {
    const auto it = std::find_if(found.begin(), found.end(), [&](const PortInfo& f) { return f.name == port.name; });
    if (it == found.end()) return fmt::format("\"{}\" is absent; the session has {}", port.name, names_of(found));
    if (it->dtype && *it->dtype != port.dtype)
      return fmt::format("\"{}\" is {} instead of {}", port.name, name(*it->dtype), name(port.dtype));
    if (!shape_fits(port.shape, it->dims))
      return fmt::format("\"{}\" is {} instead of {}", port.name, dims_text(it->dims), to_string(port.shape));
  }
  for (const PortInfo& port : found)
    if (std::none_of(expected.begin(), expected.end(), [&](const PackagePort& e) { return e.name == port.name; }))
      return fmt::format("the session has \"{}\" too", port.name);
  return {};
}

Result<Chain> Chain::open(std::vector<Stage> stages, const WorkerOptions& worker, const Path& scratch) {
  Chain chain;
  for (Stage& stage : stages) {
    PARITAS_ASSIGN(Runner runner,
                   Runner::start_in(scratch, fmt::format("stage-{}", chain.size()), stage.target, worker));
    PARITAS_ASSIGN(Session session, open_stage(runner, stage));
    chain.opened_.push_back(Opened{std::move(stage), std::move(runner), std::move(session)});
  }
  return chain;
}

PlacementCounts Chain::placement(size_t i) const {
  return count_assignment(stage(i).target, session(i).assignment, session(i).partitions);
}

Result<NamedTensors> Chain::run_stage(size_t i, const NamedTensors& tensors) {
  const Stage& stage = opened_[i].stage;
  NamedTensors fed;
  for (const PackagePort& port : stage.inputs) {
    const Tensor* tensor = find_tensor(tensors, port.tensor);
    if (tensor == nullptr)
      return input_error(stage.name, fmt::format("reads \"{}\", and nothing was given for it", port.tensor),
                         "give it as an input");
    if (tensor->dtype != port.dtype || tensor->shape != port.shape)
      return input_error(stage.name,
                         fmt::format("\"{}\" is {} {}, the package wants {} {}", port.tensor, name(tensor->dtype),
                                     to_string(tensor->shape), name(port.dtype), to_string(port.shape)),
                         "a package takes the shapes for which it was made");
    fed.emplace_back(port.name, *tensor);
  }
  PARITAS_ASSIGN(RunReply reply, opened_[i].session.run(fed));
  NamedTensors made;
  for (const PackagePort& port : stage.outputs) {
    const Tensor* tensor = find_tensor(reply.outputs, port.name);
    if (tensor == nullptr) return runtime_error(stage.name, fmt::format("did not give \"{}\"", port.name));
    if (tensor->dtype != port.dtype || tensor->shape != port.shape)
      return runtime_error(stage.name,
                           fmt::format("gave {} {} for \"{}\", the package says {} {}", name(tensor->dtype),
                                       to_string(tensor->shape), port.tensor, name(port.dtype), to_string(port.shape)));
    made.emplace_back(port.tensor, *tensor);
  }
  return made;
}

Result<NamedTensors> Chain::run(const NamedTensors& inputs) {
  NamedTensors known = inputs, made;
  for (size_t i = 0; i < size(); ++i) {
    PARITAS_ASSIGN(const NamedTensors outputs, run_stage(i, known));
    known.insert(known.end(), outputs.begin(), outputs.end());
    made.insert(made.end(), outputs.begin(), outputs.end());
  }
  return made;
}

Result<std::vector<Stage>> stages_of(const Package& package, const RuntimeSearch& search) {
  std::vector<Stage> stages;
  for (const PackagePart& part : package.manifest.parts) {
    PARITAS_ASSIGN(const TargetSpec spec, parse_portable(part.target, search, package.path_of(kManifestName).string()));
    Stage stage;
    stage.name = part.name;
    PARITAS_ASSIGN(stage.target, resolve_target(spec, search));
    if (stage.target.provider != part.provider)
      return input_error(package.path_of(kManifestName).string(),
                         fmt::format("the target {} of \"{}\" is on {} here, the package says {}", part.target,
                                     part.name, stage.target.provider, part.provider));
    PARITAS_TRY(check_declared(part, spec, stage.target, package.path_of(kManifestName).string()));
    stage.target = without_fallback(std::move(stage.target));
    stage.file = package.path_of(part.file);
    stage.inputs = part.inputs;
    stage.outputs = part.outputs;
    stages.push_back(std::move(stage));
  }
  return stages;
}

}  // namespace paritas
