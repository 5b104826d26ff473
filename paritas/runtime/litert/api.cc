#include "paritas/runtime/litert/api.h"

#include <dlfcn.h>
#include <link.h>

#include <fmt/format.h>

namespace paritas::litert {
namespace {

constexpr const char* kRemedy = "give libLiteRt.so of the Python package ai-edge-litert: library=PATH";

class Symbols {
 public:
  explicit Symbols(void* handle) : handle_(handle) {}
  template <class Function>
  void take(const char* name, Function& to) {
    to = reinterpret_cast<Function>(::dlsym(handle_, name));
    if (to == nullptr && missing_.empty()) missing_ = name;
  }
  const std::string& missing() const { return missing_; }

 private:
  void* handle_;
  std::string missing_;
};

void take_model(Symbols& symbols, Api& api) {
  symbols.take("LiteRtCreateEnvironment", api.create_environment);
  symbols.take("LiteRtDestroyEnvironment", api.destroy_environment);
  symbols.take("LiteRtCreateModelFromFile", api.create_model_from_file);
  symbols.take("LiteRtDestroyModel", api.destroy_model);
  symbols.take("LiteRtGetModelSubgraph", api.get_subgraph);
  symbols.take("LiteRtGetNumSubgraphInputs", api.input_count);
  symbols.take("LiteRtGetNumSubgraphOutputs", api.output_count);
  symbols.take("LiteRtGetSubgraphInput", api.get_input);
  symbols.take("LiteRtGetSubgraphOutput", api.get_output);
  symbols.take("LiteRtGetRankedTensorType", api.tensor_type);
  symbols.take("LiteRtCreateOptions", api.create_options);
  symbols.take("LiteRtDestroyOptions", api.destroy_options);
  symbols.take("LiteRtSetOptionsHardwareAccelerators", api.set_accelerators);
  symbols.take("LiteRtCreateOpaqueOptions", api.create_opaque_options);
  symbols.take("LiteRtAddOpaqueOptions", api.add_opaque_options);
  symbols.take("LiteRtDestroyOpaqueOptions", api.destroy_opaque_options);
}

void take_compiled(Symbols& symbols, Api& api) {
  symbols.take("LiteRtCreateCompiledModel", api.create_compiled);
  symbols.take("LiteRtDestroyCompiledModel", api.destroy_compiled);
  symbols.take("LiteRtCompiledModelResizeInputTensor", api.resize_input);
  symbols.take("LiteRtGetCompiledModelInputTensorLayout", api.input_layout);
  symbols.take("LiteRtGetCompiledModelOutputTensorLayouts", api.output_layouts);
  symbols.take("LiteRtGetCompiledModelInputBufferRequirements", api.input_requirements);
  symbols.take("LiteRtGetCompiledModelOutputBufferRequirements", api.output_requirements);
  symbols.take("LiteRtCreateManagedTensorBufferFromRequirements", api.create_buffer);
  symbols.take("LiteRtDestroyTensorBuffer", api.destroy_buffer);
  symbols.take("LiteRtGetTensorBufferPackedSize", api.buffer_size);
  symbols.take("LiteRtLockTensorBuffer", api.lock);
  symbols.take("LiteRtUnlockTensorBuffer", api.unlock);
  symbols.take("LiteRtRunCompiledModel", api.run);
  symbols.take("LiteRtCompiledModelIsFullyAccelerated", api.fully_accelerated);
  symbols.take("LiteRtCompiledModelGetProfiler", api.get_profiler);
  symbols.take("LiteRtStartProfiler", api.start_profiler);
  symbols.take("LiteRtStopProfiler", api.stop_profiler);
  symbols.take("LiteRtResetProfiler", api.reset_profiler);
  symbols.take("LiteRtGetNumProfilerEvents", api.event_count);
  symbols.take("LiteRtGetProfilerEvents", api.events);
}

// "ai_edge_litert-2.3.0.dist-info" beside the package's folder.
std::string version_beside(const Path& library) {
  const std::string begin = library.parent_path().filename().string() + "-", end = ".dist-info";
  std::error_code code;
  std::string found;
  for (std::filesystem::directory_iterator it(library.parent_path().parent_path(), code), last; !code && it != last;
       it.increment(code)) {
    const std::string name = it->path().filename().string();
    if (name.size() <= begin.size() + end.size() || name.rfind(begin, 0) != 0 ||
        name.compare(name.size() - end.size(), end.size(), end) != 0)
      continue;
    if (!found.empty()) return {};  // two versions: which of them is not known
    found = name.substr(begin.size(), name.size() - begin.size() - end.size());
  }
  return found;
}

}  // namespace

Result<Api> Api::load(const Path& library) {
  void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = ::dlerror();
    return runtime_error(library.string(),
                         fmt::format("cannot be loaded as LiteRT: {}", reason ? reason : "unknown reason"), kRemedy);
  }
  Api api{};
  Symbols symbols(handle);
  take_model(symbols, api);
  take_compiled(symbols, api);
  if (!symbols.missing().empty())
    return runtime_error(library.string(), fmt::format("is a library, but not LiteRT (no {})", symbols.missing()),
                         kRemedy);
  api.path = library;
  link_map* map = nullptr;
  std::error_code code;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr && map->l_name != nullptr)
    if (Path real = std::filesystem::canonical(map->l_name, code); !code) api.path = real;
  api.version = version_beside(api.path);
  return api;
}

std::string status_text(Code status) {
  const char* text = "a status of the library's own";
  switch (status) {
    case 1:
      text = "invalid argument";
      break;
    case 2:
      text = "out of memory";
      break;
    case 3:
      text = "failure at run time";
      break;
    case 4:
      text = "missing input tensor";
      break;
    case 5:
      text = "unsupported";
      break;
    case 6:
      text = "not found";
      break;
    case 7:
      text = "timeout";
      break;
    case 8:
      text = "wrong version";
      break;
    case 9:
      text = "unknown error";
      break;
    case 500:
      text = "file cannot be read or written";
      break;
    case 501:
      text = "invalid flatbuffer";
      break;
    case 502:
      text = "a library cannot be loaded";
      break;
    case 503:
      text = "serialization";
      break;
    case 504:
      text = "compilation";
      break;
    case 1000:
      text = "index out of bounds";
      break;
    case 1500:
      text = "invalid tool configuration";
      break;
    case 4000:
      text = "unsupported version of the runtime";
      break;
    case 4001:
      text = "unsupported version of the compiler";
      break;
    default:
      break;
  }
  return fmt::format("status {}: {}", status, text);
}

}  // namespace paritas::litert
