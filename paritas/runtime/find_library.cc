#include "paritas/runtime/find_library.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include <fmt/format.h>

namespace paritas {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOrtName = "libonnxruntime.so";
constexpr const char* kQnnName = "libonnxruntime_providers_qnn.so";
// The C library of a build of one's own, and the one that Maven Central has (org.bytedeco:tensorflow-lite).
constexpr const char* kTfliteNames[] = {"libtensorflowlite_c.so", "libjnitensorflowlite.so"};
constexpr const char* kInstallTflite =
    "take libjnitensorflowlite.so out of Maven's org.bytedeco:tensorflow-lite:2.21.0-1.5.14, or build "
    "libtensorflowlite_c.so, and set PARITAS_TFLITE to it";
constexpr const char* kLitertName = "libLiteRt.so";
constexpr const char* kInstallLitert = "install it: pip install ai-edge-litert==2.3.0, or give library=PATH";
constexpr const char* kInstallOrt = "install it: pip install onnxruntime==1.32.0, or pass --ort PATH";
constexpr const char* kInstallQnn = "install it: pip install onnxruntime-qnn==2.7.0, or give library=PATH";

// "libonnxruntime.so.1.32.0" -> {1, 32, 0}, so that 1.9 sorts before 1.32.
std::vector<int> version_of(const Path& path) {
  std::vector<int> numbers;
  const std::string file = path.filename().string();
  const char* at = file.data() + std::min(std::string(kOrtName).size(), file.size());
  const char* end = file.data() + file.size();
  while (at < end) {
    int number = 0;
    const auto [next, error] = std::from_chars(at + 1, end, number);
    if (error != std::errc()) break;
    numbers.push_back(number);
    at = next;
  }
  return numbers;
}

// The newest libonnxruntime.so[.X.Y.Z] in `folder`; empty when there is none.
Path newest_in(const Path& folder) {
  Path best;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    const std::string file = it->path().filename().string();
    if (file.rfind(kOrtName, 0) != 0 || !it->is_regular_file(code)) continue;
    if (file.size() > std::string(kOrtName).size() && file[std::string(kOrtName).size()] != '.') continue;
    if (best.empty() || version_of(best) < version_of(it->path())) best = it->path();
  }
  return best;
}

Result<OrtLibrary> given_library(const Path& given) {
  std::error_code code;
  if (fs::is_regular_file(given, code)) return OrtLibrary{fs::absolute(given), "--ort"};
  if (!fs::exists(given, code)) return runtime_error(given.string(), "no such file or folder", "check --ort");
  for (const char* below : {".", "lib", "capi", "onnxruntime/capi"}) {
    if (Path found = newest_in(given / below); !found.empty()) return OrtLibrary{fs::canonical(found, code), "--ort"};
  }
  return runtime_error(given.string(), fmt::format("holds no {}", kOrtName), "check --ort");
}

// Asks the dynamic loader, which knows its configuration and LD_LIBRARY_PATH, and lets go of the library at once.
Path loaded_path(const char* name) {
  void* handle = ::dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) return {};
  Path path;
  link_map* map = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr) path = map->l_name;
  ::dlclose(handle);
  return path;
}

}  // namespace

Result<OrtLibrary> find_onnxruntime(const RuntimeSearch& search) {
  if (!search.ort.empty()) return given_library(search.ort);
  for (const Path& site : search.python_site_folders) {
    if (Path found = newest_in(site / "onnxruntime" / "capi"); !found.empty())
      return OrtLibrary{found, "Python environment"};
  }
  if (Path found = loaded_path("libonnxruntime.so.1"); !found.empty()) return OrtLibrary{found, "loader path"};
  return runtime_error("ONNX Runtime", "was not found in the Python environment nor by the loader", kInstallOrt);
}

Result<Path> find_tflite(const RuntimeSearch& search, const std::optional<std::string>& given,
                         const std::string& subject) {
  std::error_code code;
  const bool on_demand = given.has_value();
  if (const Path wanted = given ? *given : search.tflite; !wanted.empty()) {
    if (fs::is_regular_file(wanted, code)) return fs::absolute(wanted);
    for (const char* name : kTfliteNames)
      if (fs::is_regular_file(wanted / name, code)) return fs::absolute(wanted / name);
    const std::string cause = fmt::format("{} is no library, nor a folder with one", wanted.string());
    return on_demand ? Result<Path>(usage_error(subject, cause, "check library=PATH"))
                     : Result<Path>(runtime_error(subject, cause, "check PARITAS_TFLITE"));
  }
  for (const char* name : kTfliteNames)
    if (Path found = loaded_path(name); !found.empty()) return found;
  return runtime_error(subject, "TensorFlow Lite's C library was not found", kInstallTflite);
}

Result<Path> find_litert(const RuntimeSearch& search, const std::optional<std::string>& given,
                         const std::string& subject) {
  std::error_code code;
  if (given) {
    Path path = *given;
    if (fs::is_directory(path, code)) path /= kLitertName;
    if (fs::is_regular_file(path, code)) return fs::absolute(path);
    return usage_error(subject, fmt::format("the library {} is absent", path.string()), kInstallLitert);
  }
  for (const Path& site : search.python_site_folders)
    if (const Path path = site / "ai_edge_litert" / kLitertName; fs::is_regular_file(path, code))
      return fs::absolute(path);
  return runtime_error(subject, "LiteRT was not found in the Python environment", kInstallLitert);
}

Result<Path> find_qnn(const RuntimeSearch& search, const std::optional<std::string>& given,
                      const std::string& subject) {
  std::error_code code;
  if (given) {
    Path path = *given;
    if (fs::is_directory(path, code)) path /= kQnnName;
    if (fs::is_regular_file(path, code)) return fs::absolute(path);
    return usage_error(subject, fmt::format("the provider library {} is absent", path.string()), kInstallQnn);
  }
  for (const Path& site : search.python_site_folders) {
    const Path path = site / "onnxruntime_qnn" / kQnnName;
    if (fs::is_regular_file(path, code)) return fs::absolute(path);
  }
  return runtime_error(subject, "the QNN provider was not found in the Python environment", kInstallQnn);
}

}  // namespace paritas
