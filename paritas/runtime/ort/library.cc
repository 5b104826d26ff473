#include "paritas/runtime/ort/library.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "paritas/runtime/ort/api.h"

namespace paritas::ort {
namespace {

constexpr const char* kInstall = "install it: pip install onnxruntime==1.32.0, or pass --ort PATH";
constexpr size_t kSentenceLimit = 300;

uint32_t agreed_api = 0;

// "1.32.0" or "1.32.0-dev+..." -> 32; 0 when it does not look like that. API numbers are the minor version.
uint32_t minor_version(const std::string& version) {
  if (version.rfind("1.", 0) != 0) return 0;
  uint32_t minor = 0;
  std::from_chars(version.data() + 2, version.data() + version.size(), minor);
  return minor;
}

Path resolved_path(void* handle, const Path& fallback) {
  link_map* map = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr || map->l_name == nullptr) return fallback;
  std::error_code code;
  Path real = std::filesystem::canonical(map->l_name, code);
  return code ? fallback : real;
}

}  // namespace

uint32_t api_version() { return agreed_api; }

Unexpected ort_error(const std::string& subject, const std::string& doing, const std::string& message) {
  std::string first = message.substr(0, message.find('\n'));
  bool shortened = first.size() != message.size();
  if (first.size() > kSentenceLimit) {
    first = first.substr(0, kSentenceLimit) + "...";
    shortened = true;
  }
  return runtime_error(subject, fmt::format("ONNX Runtime failed while {}: {}", doing, first), {},
                       shortened ? message : std::string());
}

Result<LibraryInfo> load_library(const Path& path) {
  // Local: a provider plug-in gets ONNX Runtime's API handed over and must not find other symbols by accident.
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = ::dlerror();
    return runtime_error(path.string(),
                         fmt::format("cannot be loaded as ONNX Runtime: {}", reason ? reason : "unknown reason"),
                         kInstall);
  }
  auto get_base = reinterpret_cast<const OrtApiBase* (*)()>(::dlsym(handle, "OrtGetApiBase"));
  if (get_base == nullptr)
    return runtime_error(path.string(), "is a library, but not ONNX Runtime (no OrtGetApiBase)", kInstall);
  const OrtApiBase* base = get_base();
  std::string version = base->GetVersionString();
  uint32_t wanted = std::min(kNewestApi, minor_version(version));
  const OrtApi* api = wanted >= kMinimumApi ? base->GetApi(wanted) : nullptr;
  if (api == nullptr)
    return runtime_error(path.string(),
                         fmt::format("is ONNX Runtime {}, and 1.{} is the oldest that works", version, kMinimumApi),
                         kInstall);
  Ort::InitApi(api);
  agreed_api = wanted;
  return LibraryInfo{version, resolved_path(handle, path)};
}

}  // namespace paritas::ort
