#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <stdexcept>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paritas/runtime/ort/library.h"
#include "paritas/runtime/ort/session_impl.h"
#include "paritas/runtime/qdq_variants.h"
#include "paritas/runtime/sim/operators.h"

namespace paritas::ort {
namespace {

GraphOptimizationLevel optimisation_level(const std::string& name) {
  if (name == "basic") return ORT_ENABLE_BASIC;
  if (name == "extended") return ORT_ENABLE_EXTENDED;
  if (name == "all") return ORT_ENABLE_ALL;
  return ORT_DISABLE_ALL;
}

// A graph with thousands of marked outputs is run a few times at most: the arena and the memory pattern, made for many
// runs of one shape, would keep what was freed; and threads that spin would take the cores from the other worker.
void settle_for_diagnosis(Ort::SessionOptions& options) {
  options.SetDeterministicCompute(true);
  options.DisableCpuMemArena();
  options.DisableMemPattern();
  options.AddConfigEntry("session.intra_op.allow_spinning", "0");
}

void apply_target(Ort::SessionOptions& options, const SessionRequest& request) {
  const Target& target = request.target;
  options.SetLogSeverityLevel(ORT_LOGGING_LEVEL_ERROR);
  options.SetIntraOpNumThreads(target.threads);
  options.SetInterOpNumThreads(target.inter_threads);
  options.SetExecutionMode(target.parallel ? ORT_PARALLEL : ORT_SEQUENTIAL);
  options.SetGraphOptimizationLevel(optimisation_level(target.optimisation));
  if (!request.as_application) settle_for_diagnosis(options);
  options.AddConfigEntry("session.record_ep_graph_assignment_info", "1");
  if (const auto setting = quant_qdq_setting(target); setting && !request.as_application)
    options.AddConfigEntry(kDisableQuantQdq, setting->c_str());
  for (const auto& [key, value] : target.session_entries) options.AddConfigEntry(key.c_str(), value.c_str());
  options.Add(sim::operator_domain());
}

PortInfo port(const std::string& name, const Ort::TypeInfo& type) {
  PortInfo result{name, std::nullopt, {}};
  if (type.GetONNXType() != ONNX_TYPE_TENSOR) return result;
  auto info = type.GetTensorTypeAndShapeInfo();  // a view into `type`
  result.dtype = dtype_from_onnx(info.GetElementType());
  result.dims = info.GetShape();
  return result;
}

void describe_ports(const Ort::Session& session, SessionInfo& info) {
  const auto inputs = session.GetInputNames();
  for (size_t i = 0; i < inputs.size(); ++i) info.inputs.push_back(port(inputs[i], session.GetInputTypeInfo(i)));
  const auto outputs = session.GetOutputNames();
  for (size_t i = 0; i < outputs.size(); ++i) info.outputs.push_back(port(outputs[i], session.GetOutputTypeInfo(i)));
}

void describe_assignment(const Ort::Session& session, const std::string& requested, SessionInfo& info) {
  std::map<std::string, int> partitions;
  for (const auto& subgraph : session.GetEpGraphAssignmentInfo()) {
    const std::string provider = subgraph.GetEpName();
    const int partition = partitions[provider]++;
    for (const auto& node : subgraph.GetNodes()) {
      const std::string domain = node.GetDomain();
      const std::string type = node.GetOperatorType();
      const bool standard = domain.empty() || domain == "ai.onnx";
      info.assignment.push_back({node.GetName(), standard ? type : domain + "::" + type, provider, partition});
    }
  }
  info.partitions = partitions[requested];
}

// Every file below `folder`, sorted.
std::vector<Path> files_below(const Path& folder) {
  std::vector<Path> files;
  std::error_code code;
  for (std::filesystem::recursive_directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    if (it->is_regular_file(code)) files.push_back(it->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The faults of ONNX Runtime's own graph transformers, which leave a lawful model that they then refuse (1.32: branches
// of If with pinned dimensions; an identity Cast beside an injected input). A provider's refusal reads otherwise.
bool blames_the_optimiser(const std::string& message) {
  for (const char* mark : {"[TypeInferenceError]", "[ShapeInferenceError]", "is not a graph input, initializer"})
    if (message.find(mark) != std::string::npos) return true;
  return false;
}

Ort::Session open_session(const Ort::Env& env, const SessionRequest& request, Ort::SessionOptions& options,
                          std::string& unoptimised_because) {
  try {
    return {env, request.model.c_str(), options};
  } catch (const Ort::Exception& e) {
    if (request.target.optimisation == "none" || !blames_the_optimiser(e.what())) throw;
    unoptimised_because = e.what();
  }
  options.SetGraphOptimizationLevel(ORT_DISABLE_ALL);
  try {
    return {env, request.model.c_str(), options};
  } catch (const Ort::Exception& e) {
    throw std::runtime_error(fmt::format("{} (and without optimisation: {})", unoptimised_because, e.what()));
  }
}

}  // namespace

struct Environment::Impl {
  LibraryInfo runtime;
  Ort::Env env{ORT_LOGGING_LEVEL_ERROR, "paritas"};
  struct Plugin {
    Path library;
    std::string ep_name;
    std::vector<Ort::ConstEpDevice> devices;
  };
  std::map<std::string, Plugin> plugins;  // by registration name

  Result<const Plugin*> plugin(const Target& target);
  Status append_provider(Ort::SessionOptions& options, const SessionRequest& request, const Path& trace_folder,
                         std::string& provider);
};

Result<const Environment::Impl::Plugin*> Environment::Impl::plugin(const Target& target) {
  const Path library = target.provider_library;
  if (auto known = plugins.find(target.provider); known != plugins.end()) {
    if (known->second.library == library) return &known->second;
    return runtime_error(library.string(), fmt::format("{} is already loaded from {} in this worker", target.provider,
                                                       known->second.library.string()));
  }
  std::error_code code;
  if (!std::filesystem::exists(library, code))
    return runtime_error(library.string(), fmt::format("no such file: the library of {} is absent", target.provider),
                         "check the path");
  std::set<const OrtEpDevice*> before;
  for (const auto& device : env.GetEpDevices()) before.insert(device);
  try {
    env.RegisterExecutionProviderLibrary(target.provider.c_str(), library.string());
  } catch (const Ort::Exception& e) {
    return runtime_error(
        library.string(),
        fmt::format("opening a session on {}: the library cannot be loaded as an execution provider: {}",
                    target.spec.text, e.what()),
        "check library=PATH and what the library needs");
  }
  // A plug-in may call its provider by any name, so what counts is which devices are new. It may list a device of its
  // own name beside others (QNN: NPU, GPU): those of the registered name come first.
  Plugin made{library, {}, {}};
  for (const auto& device : env.GetEpDevices()) {
    if (before.count(device) == 0) made.devices.push_back(device);
  }
  std::stable_partition(made.devices.begin(), made.devices.end(),
                        [&](const auto& device) { return device.EpName() == target.provider; });
  if (made.devices.empty())
    return runtime_error(library.string(), fmt::format("{} finds no device on this machine", target.provider),
                         "check that the accelerator and its driver are present");
  made.ep_name = made.devices.front().EpName();
  return &(plugins[target.provider] = std::move(made));
}

Status Environment::Impl::append_provider(Ort::SessionOptions& options, const SessionRequest& request,
                                          const Path& trace_folder, std::string& provider) {
  const Target& target = request.target;
  if (target.provider_library.empty()) return {};
  PARITAS_ASSIGN(const Plugin* plugin_, plugin(target));
  provider = plugin_->ep_name;
  std::unordered_map<std::string, std::string> entries(target.provider_options.begin(), target.provider_options.end());
  if (request.op_trace && target.capabilities.op_trace) {
    entries["enable_framework_op_trace"] = "1";
    entries["framework_op_trace_dir"] = trace_folder.string();
  }
  if (!request.profile_folder.empty() && target.capabilities.cycle_profile) {
    // What the user chose stays.
    entries.try_emplace("profiling_level", "detailed");
    entries.try_emplace("profiling_file_path", (request.profile_folder / "cycles.csv").string());
  }
  options.AppendExecutionProvider_V2(env, {plugin_->devices.front()}, entries);
  return {};
}

Environment::Environment(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Environment::~Environment() = default;

std::string Environment::version() const { return impl_->runtime.version; }
Path Environment::path() const { return impl_->runtime.path; }

Result<std::unique_ptr<Environment>> Environment::create(const Path& library) {
  PARITAS_ASSIGN(LibraryInfo loaded, load_library(library));
  return guarded("ONNX Runtime", "starting", [&]() -> Result<std::unique_ptr<Environment>> {
    auto impl = std::make_unique<Impl>();
    impl->runtime = std::move(loaded);
    return std::unique_ptr<Environment>(new Environment(std::move(impl)));
  });
}

Result<std::unique_ptr<BackendSession>> Environment::open(const SessionRequest& request, const Path& trace_folder) {
  const std::string doing = fmt::format("opening a session on {}", request.target.spec.text);
  return guarded(request.model.string(), doing, [&]() -> Result<std::unique_ptr<BackendSession>> {
    std::error_code code;
    if (!std::filesystem::is_regular_file(request.model, code))
      return input_error(request.model.string(), "no such file", "check the path");
    Ort::SessionOptions options;
    apply_target(options, request);
    if (!request.profile_folder.empty()) options.EnableProfiling((request.profile_folder / "profile").c_str());
    if (!request.external_data_folder.empty())
      options.AddConfigEntry("session.model_external_initializers_file_folder_path",
                             request.external_data_folder.c_str());
    auto impl = std::make_unique<Session::Impl>();
    impl->subject = request.model.string();
    impl->target = request.target.spec.text;
    std::string provider = request.target.provider;
    const auto seconds_since = [](std::chrono::steady_clock::time_point start) {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    const size_t plugins = impl_->plugins.size();
    const auto before_provider = std::chrono::steady_clock::now();
    PARITAS_TRY(impl_->append_provider(options, request, trace_folder, provider));
    if (impl_->plugins.size() > plugins) impl->info.provider_seconds = seconds_since(before_provider);
    const auto start = std::chrono::steady_clock::now();
    impl->session = open_session(impl_->env, request, options, impl->info.unoptimised_because);
    impl->info.seconds = seconds_since(start);
    describe_ports(impl->session, impl->info);
    describe_assignment(impl->session, provider, impl->info);
    if (!trace_folder.empty()) impl->info.op_traces = files_below(trace_folder);
    PARITAS_ASSIGN(impl->fetch, impl->checked_fetch(request.fetch));
    return std::unique_ptr<BackendSession>(new Session(std::move(impl)));
  });
}

}  // namespace paritas::ort
